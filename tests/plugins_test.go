package tests

import (
	"log/slog"
	"strings"
	"testing"

	"spillway/sdk"
)

const failoverRow = `- id: failover
  name: failover
  config: {priority: [anthropic/m, kimi-coding/m, deepseek/m]}
`

const shoutRow = "- {id: shout, name: shout}\n"

// TestTwoPlugins: a plugin that rewrites events and the failover plugin, in both
// orders, each a process of its own.
func TestTwoPlugins(t *testing.T) {
	for _, tt := range []struct{ name, rows string }{
		{"shout first", shoutRow + failoverRow},
		{"failover first", failoverRow + shoutRow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := vendors(t, 12, 0, map[string]string{"anthropic": "quota", "kimi-coding": "ban", "deepseek": "ok"})
			rt := open(t, rows(s)+tt.rows, slog.New(slog.DiscardHandler))
			text, f, id := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
			if want := strings.ToUpper(whole("deepseek", 12)); text != want || f != nil {
				t.Errorf("got %q, %v; want %q", text, f, want)
			}
			rec, err := rt.Records().Get(t.Context(), id)
			if err != nil || len(rec.Attempts) != 3 {
				t.Errorf("record: %+v, %v; want three attempts", rec, err)
			}
			// A listener that answers by itself asks nobody.
			before := len(s.Calls())
			if text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "deepseek", Model: "echo"}); f != nil || !strings.EqualFold(text, "shout was here") {
				t.Errorf("short circuit: got %q, %v", text, f)
			}
			if n := len(s.Calls()) - before; n != 0 {
				t.Errorf("short circuit: %d calls reached a vendor", n)
			}
		})
	}
}

// TestOnlyFailover: without the rewriting plugin the answer is the vendor's own.
func TestOnlyFailover(t *testing.T) {
	s := vendors(t, 12, 0, map[string]string{"anthropic": "quota", "kimi-coding": "ban", "deepseek": "ok"})
	rt := open(t, rows(s)+failoverRow, slog.New(slog.DiscardHandler))
	for range 3 {
		if text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"}); text != whole("deepseek", 12) {
			t.Errorf("got %q, %v", text, f)
		}
	}
	for name, want := range map[string]int{"anthropic": 1, "kimi-coding": 1, "deepseek": 3} {
		if n := len(s.Vendor(name).Calls()); n != want {
			t.Errorf("%s was asked %d times, want %d: a dead vendor is asked once", name, n, want)
		}
	}
}
