package faults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// TestErrorsInAnswers is B01 and B02: a vendor answers with status 200 and then
// with an error, before any content or behind some. What the caller has not seen is
// switched without a trace; what it has seen stays, and the error is told.
func TestErrorsInAnswers(t *testing.T) {
	const arguments = `args='{"where":"behind"}'`
	cases := []struct {
		name, script string
		shows        string // what comes before the error: text, reasoning, or the arguments of a call
		got          string
	}{
		{"start", "error-event=0", "", ""},
		{"reasoning", "error-event=2 reasoning=10", "reasoning", "r0@reasoning r1@reasoning"},
		{"text", "error-event=2", "text", "w0@text w1@text"},
		{"half-call", "error-event=1 tool=look " + arguments, "toolCall", `{"where"`},
		{"call", "error-event=end tool=look " + arguments, "toolCall", `{"where":"behind"}`},
	}
	for _, policy := range []struct {
		name    string
		with    settings
		visible string // what the caller sees at once
	}{
		{"default", settings{}, "text reasoning toolCall"},
		{"text is visible", settings{"visible": []string{"text"}}, "text"},
		{"buffer", settings{"stream": "buffer"}, ""},
	} {
		for _, d := range caller.Dialects() {
			t.Run(policy.name+" "+string(d), func(t *testing.T) {
				t.Parallel()
				vendors := []sim.Vendor{fallback("ok")}
				for _, c := range cases {
					vendors = append(vendors, sim.Vendor{Name: c.name, Models: []string{"large"}, Script: c.script})
				}
				s := play(t, d, defaults().but(policy.with).but(settings{"priority": []string{small}, "budget": settings{"maxSameTargetAttempts": 1}}), vendors...)
				for _, c := range cases {
					route := c.name + "/large"
					r := s.askWith(t.Context(), d.Body(caller.Question{Model: route, Tool: "look"}))
					if c.shows == "" || !strings.Contains(policy.visible, c.shows) {
						s.served(r, "fallback")
						s.record(r.ID, record.OKAfterFallback, fmt.Sprintf("primary %s OVERLOADED > fallback", route), served)
						continue
					}
					got := r.Text + r.Reasoning
					if len(r.Calls) > 0 {
						got += r.Calls[0].Arguments
					}
					if !r.Cut() || got != c.got {
						t.Errorf("%s: got %+v, want %q and an error", c.name, r.Answer, c.got)
					}
					s.record(r.ID, record.FailedMidstream, fmt.Sprintf("primary %s OVERLOADED", route))
				}
			})
		}
	}
}

// TestThirdCandidate is B03: two vendors fail behind their starts, and the caller
// sees the third one's start alone.
func TestThirdCandidate(t *testing.T) {
	for _, d := range caller.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := play(t, d, defaults().but(settings{"priority": []string{large, small, "third/tiny"}, "budget": settings{"maxSameTargetAttempts": 1}}),
				primary("error-event=0"), fallback("cut=0"), sim.Vendor{Name: "third", Models: []string{"tiny"}})
			r := s.ask(large)
			s.served(r, "third")
			s.asked("primary 1", "fallback 1", "third 1")
			s.record(r.ID, record.OKAfterFallback,
				"primary primary/large OVERLOADED > fallback", "fallback fallback/small TRANSPORT > fallback", "fallback third/tiny ok")
		})
	}
}

// TestNeeds is B22: a request with an image, a tool that must be used and 190 000
// tokens passes by whoever lacks one of them. If everybody does, it is refused with
// the name of what is missing.
func TestNeeds(t *testing.T) {
	lacking := []struct{ vendor, model, lacks string }{
		{"blind", "{id: m, context: 1000000, capabilities: [tools]}", "vision"},
		{"handless", "{id: m, context: 1000000, capabilities: [vision]}", "tools"},
		{"short", "{id: m, context: 100000, capabilities: [tools, vision]}", "context"},
	}
	for _, d := range caller.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			vendors := []sim.Vendor{{Name: "able", Script: "ok"}}
			for _, l := range lacking {
				vendors = append(vendors, sim.Vendor{Name: l.vendor})
			}
			question := caller.Question{Model: "blind/m", Text: strings.Repeat("word ", 190_000*4/5), Image: true, Tool: "look"}
			for _, able := range []bool{true, false} {
				s, _ := stage(t, d, vendors...)
				var rows strings.Builder
				priority := []string{}
				for _, l := range lacking {
					rows.WriteString(s.row(d, l.vendor, l.model, "key-of-"+l.vendor))
					priority = append(priority, l.vendor+"/m")
				}
				if able {
					rows.WriteString(s.row(d, "able", "{id: m, context: 1000000, capabilities: [tools, vision]}", "key-of-able"))
					priority = append(priority, "able/m")
				}
				s = s.serve(rows.String() + defaults().but(settings{"priority": priority}).row(t))
				r := s.askWith(t.Context(), d.Body(question))
				if able {
					s.served(r, "able")
					s.asked("able 1")
					rec := s.record(r.ID, record.OKAfterFailover, "failover able/m ok")
					got := map[string]string{}
					for _, skip := range rec.Attempts[0].Skipped {
						got[skip.Route.Provider] = skip.Reason
					}
					for _, l := range lacking {
						if !strings.Contains(got[l.vendor], l.lacks) {
							t.Errorf("%s was passed by for %q, want %s", l.vendor, got[l.vendor], l.lacks)
						}
					}
					continue
				}
				if !r.Refused() || r.Status != 400 || r.Header.Get("X-Should-Retry") != "false" {
					t.Errorf("answer: got %+v, want a refusal for good", r.Answer)
				}
				for _, l := range lacking {
					if !strings.Contains(r.Problem, l.lacks) {
						t.Errorf("the refusal %q does not name %s", r.Problem, l.lacks)
					}
				}
				if d := cmp.Diff([]string(nil), s.calls()); d != "" {
					t.Errorf("calls that reached vendors:\n%s", d)
				}
			}
		})
	}
}
