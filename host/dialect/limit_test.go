package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/sdk"
)

// A limit that the model does not take is lowered for a model that the caller
// did not name, and for no other.
func TestRedirectLowersLimits(t *testing.T) {
	tests := []struct {
		name, body string
		limit      int
		want       string
		dropped    []string
	}{
		{"above", `{"max_tokens": 32000, "model":"x","a":1}`, 8192, `{"max_tokens": 8192, "model":"y","a":1}`, []string{"max_tokens lowered to 8192"}},
		{"behind the model", `{"model":"x","max_completion_tokens":32000 }`, 8192, `{"model":"y","max_completion_tokens":8192 }`, []string{"max_tokens lowered to 8192"}},
		{"of Responses", `{"model":"x","max_output_tokens":1e9}`, 8192, `{"model":"y","max_output_tokens":8192}`, []string{"max_tokens lowered to 8192"}},
		{"as much", `{"model":"x","max_tokens":8192}`, 8192, `{"model":"y","max_tokens":8192}`, nil},
		{"not known", `{"model":"x","max_tokens":32000}`, 0, `{"model":"y","max_tokens":32000}`, nil},
		{"the caller's own model", `{"model":"y","max_tokens":32000}`, 8192, `{"model":"y","max_tokens":32000}`, nil},
		{"no number", `{"model":"x","max_tokens":null}`, 8192, `{"model":"y","max_tokens":null}`, nil},
		{"further inside", `{"model":"x","a":{"max_tokens":32000}}`, 8192, `{"model":"y","a":{"max_tokens":32000}}`, nil},
		{"with the budget within it", `{"model":"x","max_tokens":32000,"thinking":{"type":"enabled", "budget_tokens": 31999}}`, 8192,
			`{"model":"y","max_tokens":8192,"thinking":{"type":"enabled", "budget_tokens": 8191}}`, []string{"max_tokens lowered to 8192", "thinking.budget_tokens lowered to 8191"}},
	}
	for _, d := range dialects() {
		for _, tt := range tests {
			got, dropped, err := d.Redirect([]byte(tt.body), dialect.Outbound{Model: "y", MaxOutput: tt.limit})
			if err != nil || string(got) != tt.want || !cmp.Equal(tt.dropped, dropped) {
				t.Errorf("%s, %s: got %s, %q, %v, want %s, %q", d.Name(), tt.name, got, dropped, err, tt.want, tt.dropped)
			}
		}
	}
}

func TestBuildLowersLimits(t *testing.T) {
	for _, d := range dialects() {
		for asked, want := range map[int]string{32000: "max_tokens lowered to 8192", 8192: "", 100: ""} {
			body, dropped, err := d.BuildRequest(&sdk.Prompt{MaxTokens: asked}, dialect.Outbound{Model: "y", MaxOutput: 8192})
			if got := strings.Join(dropped, ","); err != nil || got != want {
				t.Errorf("%s, %d: got %q, %v, want %q", d.Name(), asked, got, err, want)
			}
			if in, err := d.Inspect(body); err != nil || in.MaxTokens != min(asked, 8192) {
				t.Errorf("%s, %d: got %s, %v", d.Name(), asked, body, err)
			}
		}
	}
}

// A request to count tokens is a request without a limit and a stream.
func TestTokenCount(t *testing.T) {
	body := `{"model":"m","system":"S","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{}}],"thinking":{"type":"adaptive"}}`
	in, err := dialect.Anthropic().Inspect([]byte(body))
	if err != nil || in.Stream || in.MaxTokens != 0 || in.Shape.PromptTokens == 0 {
		t.Fatalf("got %+v, %v", in, err)
	}
	if got, want := string(dialect.TokenCount(in.Shape.PromptTokens)), `{"input_tokens":35}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
