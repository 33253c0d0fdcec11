package sim

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestBodies(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range records() {
		if seen[r.ID] {
			t.Errorf("%s: twice", r.ID)
		}
		seen[r.ID] = true
		if u, err := url.Parse(r.Source); err != nil || u.Scheme != "https" {
			t.Errorf("%s: source %q: want where it was seen", r.ID, r.Source)
		}
		if !slices.Contains([]string{"anthropic", "openai", "other"}, r.Dialect) || r.Vendor == "" || r.Body == "" || r.Status < 200 {
			t.Errorf("%s: a field is missing", r.ID)
		}
		for _, step := range r.Plays {
			if _, ok := define(step); !ok {
				t.Errorf("%s: plays %q, which is no step", r.ID, step)
			}
		}
		if len(r.Plays) > 0 && r.Dialect != "other" && !json.Valid([]byte(r.payload())) {
			t.Errorf("%s: not JSON", r.ID)
		}
		if strings.Contains(r.Body, "sk-") {
			t.Errorf("%s: may hold a key", r.ID)
		}
	}
}

// Every refusal has real words in all dialects, for a vendor without any of
// its own too.
func TestPick(t *testing.T) {
	for _, tt := range []struct {
		step, vendor, dialect, want string
	}{
		{"quota", "anthropic", "anthropic", "anthropic-035"},
		{"quota", "kimi-coding", "anthropic", "kimi-coding-001"},
		{"quota", "deepseek", "openai", "deepseek-001"},
		{"quota", "nobody", "openai", "openai-insufficient-quota"},
		{"ban", "kimi-coding", "openai", "kimi-coding-terminated"},
		{"ban", "kimi-coding", "anthropic", "kimi-coding-terminated-messages"},
		{"overloaded", "kimi-coding", "openai", "moonshot-001"},
		{"429", "nobody", "openai", "mistral-001"},
		{"html502", "anthropic", "anthropic", "cloudflare-003"},
	} {
		if got := pick(tt.step, tt.vendor, tt.dialect); got == nil || got.ID != tt.want {
			t.Errorf("%s of %s in %s: got %v, want %s", tt.step, tt.vendor, tt.dialect, got, tt.want)
		}
	}
	for _, step := range []string{"quota", "ban", "auth", "invalid-key", "model-gone", "overloaded", "policy", "overflow", "invalid-request", "html502", "error-event", "429", "500"} {
		for _, dialect := range []string{"anthropic", "openai", "responses"} {
			if pick(step, "nobody", dialect) == nil {
				t.Errorf("%s in %s: no record", step, dialect)
			}
		}
	}
}
