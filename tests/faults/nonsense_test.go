package faults

import (
	"fmt"
	"testing"
	"time"

	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// TestNonsense is B19: what is no answer, or none that ends, costs a bounded time
// and a bounded memory, is told by its name, and another vendor answers.
func TestNonsense(t *testing.T) {
	const mostMemory = 400 << 20 // of a process with the race detector; one line alone has 100 MB
	cases := []struct {
		name, script, code string
		begins             bool // perhaps, so that the answer is cut
	}{
		{"drip", "drip=1s", "TIMEOUT", false},
		{"keep-alives", "keepalive=100ms", "TIMEOUT", false},
		{"long-line", "longline=100MB", "TRANSPORT", false},
		{"half-gzip", "gzip-cut", "TRANSPORT", true},
		{"wrong-type", "wrong-content-type=text/plain", "EMPTY_RESPONSE", false},
		{"html", "html502", "SERVER", false},
		{"empty", "empty200", "EMPTY_RESPONSE", false},
	}
	for _, d := range caller.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			vendors := []sim.Vendor{fallback("ok")}
			for _, c := range cases {
				vendors = append(vendors, sim.Vendor{Name: c.name, Models: []string{"large"}, Script: c.script})
			}
			s := play(t, d, scaled().but(settings{"priority": []string{small}, "budget": settings{"maxSameTargetAttempts": 1}}), vendors...)
			for _, c := range cases {
				route := c.name + "/large"
				r := s.ask(route)
				outcome, attempts := record.OKAfterFallback, []string{fmt.Sprintf("primary %s %s > fallback", route, c.code), served}
				if c.begins && r.Cut() {
					outcome, attempts = record.FailedMidstream, []string{fmt.Sprintf("primary %s %s", route, c.code)}
				} else {
					s.served(r, "fallback")
				}
				if r.Took() > 3*time.Second+slack {
					t.Errorf("%s: the call took %s", c.name, r.Took())
				}
				if _, d := s.recorded(r.ID, outcome, attempts...); d != "" {
					t.Errorf("%s: record (-want +got):\n%s", c.name, d)
				}
			}
			if most := s.MaxMemory(); most > mostMemory {
				t.Errorf("serve took %d MB", most>>20)
			}
		})
	}
}
