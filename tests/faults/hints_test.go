package faults

import (
	"fmt"
	"testing"
	"time"

	"spillway/host/sim"
	"spillway/tests/internal/caller"
)

// TestHints is B23: every form in which a vendor says when to come back. No
// duration is scaled here. The vendor's word stands until status says so; one
// that is nonsense is none, and a long one is believed for half an hour at most.
func TestHints(t *testing.T) {
	const none = 30 * time.Second // a limit that states nothing
	forms := []struct {
		name, header string
		want         time.Duration
	}{
		{"seconds", "retry-after=90", 90 * time.Second},
		{"a fraction", "retry-after=90.5", 90*time.Second + 500*time.Millisecond},
		{"a date", "retry-after=date+90s", 90 * time.Second},
		{"a date without the server's clock", "header.x-ratelimit-reset=date+90s", 90 * time.Second},
		{"a moment since 1970", "retry-after=epoch+90s", 90 * time.Second},
		{"milliseconds", "retry-after=1 header.retry-after-ms=90250", 90*time.Second + 250*time.Millisecond},
		{"a duration", "header.x-ratelimit-reset-requests=1m30s", 90 * time.Second},
		{"zero", "retry-after=0", none},
		{"negative", "retry-after=-5", none},
		{"long gone", "retry-after=date-90s", none},
		{"words", "retry-after=soon", none},
		{"absurd", "retry-after=99999999999", none},
		{"five minutes, to the end", "retry-after=300", 5 * time.Minute},
		{"156 hours", "retry-after=561600", 30 * time.Minute},
		{"beyond eight days", "retry-after=1000000", 30 * time.Minute},
	}
	t.Parallel()
	vendors := []sim.Vendor{fallback("ok")}
	for i, f := range forms {
		vendors = append(vendors, sim.Vendor{Name: fmt.Sprintf("form-%d", i), Models: []string{"large"}, Script: "429 " + f.header})
	}
	s := play(t, caller.Chat, settings{"priority": []string{small}}, vendors...)
	for i, f := range forms {
		v := s.vendors.Vendor(fmt.Sprintf("form-%d", i))
		began := time.Now()
		s.served(s.ask(v.Name()+"/large"), "fallback")
		ended := time.Now()
		target := fmt.Sprintf("%s#key-of-%s/large", v.Name(), v.Name())
		if f.want > 5*time.Minute { // no rate, but the plan's quota
			target = v.Name() + "/large"
		}
		until := s.out(target).Until
		// Dates and moments are in whole seconds.
		if least, most := began.Add(f.want-time.Second), ended.Add(f.want+time.Second); until.Before(least) || until.After(most) {
			t.Errorf("%s: out for %s, want %s", f.name, until.Sub(began), f.want)
		}
		s.served(s.ask(v.Name()+"/large"), "fallback")
		if n := len(v.Calls()); n != 1 {
			t.Errorf("%s: asked %d times", f.name, n)
		}
	}
}
