package faults

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
	"spillway/tests/internal/caller"
)

// TestCallerLeaves is B12: the vendor is told at once, before the first content
// and after it, and nobody is charged. What was produced is booked.
func TestCallerLeaves(t *testing.T) {
	const tokens, tries = 10, 5
	for _, tt := range []struct {
		name, script string
		begins       bool
	}{
		{"before the first content", "hang", false},
		{"after it", fmt.Sprintf("pause=%d", tokens), true},
	} {
		for _, d := range caller.Dialects() {
			t.Run(tt.name+" "+string(d), func(t *testing.T) {
				t.Parallel()
				s := play(t, d, scaled().but(settings{"failureThreshold": 1, "budget": settings{"firstContentMs": 20_000, "idleMs": 20_000}}), primary(tt.script), fallback("ok"))
				soonest := patience
				for n := range tries {
					told := s.leaves(n+1, tt.begins, tokens)
					soonest = min(soonest, told)
					if told > 2*time.Second {
						t.Errorf("the vendor heard of it after %s", told)
					}
					rec := s.record("", record.Cancelled, "primary primary/large ABORTED")
					if used := rec.Attempts[0].Usage.Output; tt.begins && used < tokens {
						t.Errorf("%d tokens are booked, want %d", used, tokens)
					}
				}
				// A busy machine delays some of them.
				if soonest > 100*time.Millisecond {
					t.Errorf("the vendor heard of it after %s at the soonest", soonest)
				}
				s.asked(fmt.Sprintf("primary %d", tries))
				s.stands()
			})
		}
	}
}

// leaves makes the n-th call that reaches the primary and leaves it, once that many
// tokens have come if it begins. It returns how long after that the vendor heard of
// it.
func (s *scene) leaves(n int, begins bool, tokens int) time.Duration {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		resp, err := caller.Post(ctx, http.DefaultClient, s.URL, s.speaks, s.question(large))
		if err != nil {
			return
		}
		defer resp.Body.Close()
		last := fmt.Sprintf("w%d@primary", tokens-1)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), last) {
				close(begun)
				<-ctx.Done()
				return
			}
		}
	}()
	s.arrived(n)
	if begins {
		select {
		case <-begun:
		case <-ended:
			s.t.Fatal("the answer did not begin")
		}
	}
	cancel()
	left := time.Now()
	<-ended
	s.gone(n)
	c := s.upstream()[n-1]
	if !c.Gone {
		s.t.Errorf("the vendor did not hear of it: %+v", c)
	}
	return c.End.Sub(left)
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
