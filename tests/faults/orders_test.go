package faults

import (
	"strings"
	"testing"

	"spillway/host/story"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// order runs an operator's command. A store that is too slow to keep the order
// refuses it, so it is given again.
func (s *scene) order(args ...string) {
	s.t.Helper()
	s.until(strings.Join(args, " ")+" is taken", func() bool { return s.Command(args...).Run() == nil })
}

// all waits until requests for the large model are served by a vendor in both
// processes, and checks that the one that was told did so at once.
func (p pair) all(vendor string) {
	p.first.t.Helper()
	p.first.served(p.first.ask(large), vendor)
	p.second.until("the other process serves from "+vendor, func() bool { return p.second.ask(large).from() == vendor })
}

// TestOrders: what a person orders holds at once, in other processes of the
// profile too, and survives restarts.
func TestOrders(t *testing.T) {
	for _, tt := range []struct{ verb, target string }{
		{"disable", "primary"},
		{"disable", "primary#KEY"},
		{"drain", large},
		{"pin", small},
	} {
		t.Run(tt.verb+" "+strings.ReplaceAll(tt.target, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := onOneProfile(t, scaled(), "ok")
			p.all("primary")
			target := strings.ReplaceAll(tt.target, "KEY", p.first.upstream()[0].Key)
			p.first.order(tt.verb, target, "--for", "1h", "--note", "test")
			p.all("fallback")

			p.first.Stop()
			var v story.StatusView
			if p.second.json(&v, "status"); v.Listen != p.second.URL {
				t.Errorf("status is that of %q, want the process that is left, %q", v.Listen, p.second.URL)
			}
			calls := len(p.first.upstream())
			p.second.served(p.second.ask(large), "fallback")
			p.second.Stop()
			p = pair{p.first.beside(rig.ServeProfile(t, p.first.Dir)), p.first.beside(rig.ServeProfile(t, p.first.Dir))}
			p.all("fallback")
			if n := len(p.first.upstream()); n != calls {
				t.Errorf("after the restart %d calls reached the primary", n-calls)
			}
			p.first.order("enable", target)
			p.all("primary")
		})
	}
}

// TestClear: what stands against a target is forgotten, in both processes.
func TestClear(t *testing.T) {
	t.Parallel()
	p := onOneProfile(t, scaled().but(settings{"failureThreshold": 1, "cooldownMs": 60_000, "transientCooldownMs": 60_000}), "503")
	p.all("fallback")
	p.first.stands("primary/large open OVERLOADED")
	p.first.script("primary", "ok")
	p.first.served(p.first.ask(large), "fallback")
	p.first.order("clear", large)
	p.all("primary")
	p.first.stands()
}

// TestDrain: a tool loop that a draining route serves ends there; nothing else
// begins.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := play(t, caller.Chat, scaled(), primary("tool"), fallback("ok"))
	const tools = `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]`
	const asks = `{"model":"primary/large","stream":true,"stream_options":{"include_usage":true},"prompt_cache_key":"loop",` + tools + `,"messages":[{"role":"user","content":"go"}`
	const loop = asks + `,{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"seen"}]}`
	if r := s.askWith(t.Context(), asks+"]}"); r.Stop != "tool_calls" {
		t.Fatalf("got %+v, want a tool call", r)
	}
	s.script("primary", "ok tokens=60")
	s.order("drain", large)
	s.served(s.ask(large), "fallback")
	// A simulated vendor answers a tool's result by saying what it was.
	if r := s.askWith(t.Context(), loop); !strings.HasPrefix(r.Text, "The tool told primary: seen") || r.Stop != "stop" || !r.Whole() {
		t.Errorf("the loop went on as %+v, want it served by primary", r)
	}
}
