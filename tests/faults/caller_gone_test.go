package faults

import (
	"context"
	"net/http"
	"testing"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
	"spillway/tests/internal/caller"
)

// TestCallerLeaves is B12: the vendor is told at once, before the first content
// and after it, and nobody is charged.
func TestCallerLeaves(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"before the first content", "hang"},
		{"after it", "pause=10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, caller.Chat, scaled().but(settings{"failureThreshold": 1, "budget": settings{"firstContentMs": 20_000, "idleMs": 20_000}}), primary(tt.script), fallback("ok"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				if resp, err := caller.Post(ctx, http.DefaultClient, s.URL, s.speaks, s.question(large)); err == nil {
					close(begun)
					<-ctx.Done()
					resp.Body.Close()
				}
			}()
			s.arrived(1)
			if tt.script != "hang" {
				select {
				case <-begun:
				case <-ended:
					t.Fatal("the answer did not begin")
				}
			}
			cancel()
			left := time.Now()
			<-ended
			s.gone(1)
			// 100 ms on an idle machine.
			if c := s.upstream()[0]; !c.Gone || c.End.Sub(left) > 2*time.Second {
				t.Errorf("the vendor heard of it after %s: %+v", c.End.Sub(left), c)
			}
			s.record("", record.Cancelled, "primary primary/large ABORTED")
			s.asked("primary 1")
			s.stands()
		})
	}
}

// TestDeadlines is B13: a limit that was shortened by the request's own deadline,
// or the deadline itself, charges nobody.
func TestDeadlines(t *testing.T) {
	for _, tt := range []struct {
		name, fallback string
		outcome        record.Outcome
		attempts       []string
	}{
		{"the reserve is the next one's", "ok", record.OKAfterFallback, []string{
			"primary primary/large TIMEOUT > fallback", "fallback fallback/small ok"}},
		{"all of it runs out", "hang", record.FailedClean, []string{
			"primary primary/large TIMEOUT > fallback", "fallback fallback/small TIMEOUT > stop"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const deadline = 4 * time.Second
			s := play(t, caller.Chat, scaled().but(settings{"failureThreshold": 1, "budget": settings{
				"deadlineMs": deadline.Milliseconds(), "firstContentMs": 60_000,
			}}), primary("hang"), fallback(tt.fallback))
			r := s.ask(large)
			if tt.outcome == record.FailedClean {
				s.refused(r, http.StatusServiceUnavailable, "")
			} else {
				s.served(r, "fallback")
			}
			if r.Took() > deadline+2*time.Second {
				t.Errorf("the call took %s, want %s", r.Took(), deadline)
			}
			rec := s.record(r.ID, tt.outcome, tt.attempts...)
			if f := rec.Failure; f != nil && f.Code != sdk.CodeTimeout {
				t.Errorf("failure: %+v", f)
			}
			s.asked("primary 1", "fallback 1")
			s.stands()
		})
	}
}
