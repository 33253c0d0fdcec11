package faults

import (
	"context"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state/record"
	"spillway/sdk"
	"spillway/tests/internal/caller"
)

// tripped is a scene whose primary is out with its first trip.
func tripped(t *testing.T, changes settings) *scene {
	t.Helper()
	s := play(t, caller.Chat, scaled().but(settings{"failureThreshold": 1}).but(changes), primary("503"), fallback("ok"))
	r := s.ask(large)
	s.served(r, "fallback")
	s.stands("primary/large open OVERLOADED")
	return s
}

// TestOneProbe is B09: when a cooldown ends, one of 50 callers tests the route
// and the others go on to the next candidate. It has the machine to itself: a
// plugin that takes half a second to decide is passed by, and whoever passes it
// by knows of no circuit.
func TestOneProbe(t *testing.T) {
	s := tripped(t, settings{"budget": settings{"firstContentMs": 10_000}})
	s.script("primary", "ok after=3s")
	s.over(large)
	from, all := s.many(50, func() reply { return s.ask(large) })
	if d := cmp.Diff(map[string]int{"primary": 1, "fallback": 49}, from); d != "" {
		t.Errorf("who served (-want +got):\n%s", d)
	}
	s.asked("primary 2", "fallback 50")
	for _, r := range all {
		if r.from() == "primary" {
			s.record(r.ID, record.OK, "probe primary/large ok")
		}
	}
	s.stands()
}

// TestProbeEnds is B10: whatever ends a probe, its permit comes back and the next
// request may test at once.
func TestProbeEnds(t *testing.T) {
	begun := func(ctx context.Context, s *scene) <-chan reply {
		done := make(chan reply, 1)
		go func() { done <- s.askWith(ctx, s.question(large)) }()
		s.arrived(2)
		return done
	}
	for _, tt := range []struct {
		name, script string
		end          func(s *scene)
	}{
		{"cancelled", "hang", func(s *scene) {
			ctx, cancel := context.WithCancel(s.t.Context())
			done := begun(ctx, s)
			s.served(s.ask(large), "fallback") // the permit is out
			cancel()
			<-done
			s.gone(2)
		}},
		{"a fault of the caller", "invalid-request", func(s *scene) {
			s.refused(s.ask(large), http.StatusBadRequest, "")
		}},
		{"the plugin is killed", "ok after=1s", func(s *scene) {
			done := begun(s.t.Context(), s)
			s.kill()
			r := <-done
			if from := r.from(); from != "primary" && from != "fallback" {
				s.t.Errorf("the call that was under way: %s", from)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tripped(t, settings{"cooldownMs": 1_000, "budget": settings{"firstContentMs": 20_000}})
			s.script("primary", tt.script)
			s.over(large)
			tt.end(s)
			s.script("primary", "ok")
			s.until("the next request tests", func() bool { return s.ask(large).from() == "primary" })
			s.stands()
		})
	}
}

// TestLateSuccess is the rest of B10: an answer that began before the trip and
// ends well after it proves nothing.
func TestLateSuccess(t *testing.T) {
	t.Parallel()
	s := play(t, caller.Chat, scaled().but(settings{"failureThreshold": 1, "transientCooldownMs": 3_000}), primary("pause=10 for=1s; 503"), fallback("ok"))
	late := make(chan reply, 1)
	go func() { late <- s.ask(large) }()
	s.arrived(1)
	s.served(s.ask(large), "fallback")
	s.stands("primary/large open OVERLOADED")
	s.served(<-late, "primary")
	s.served(s.ask(large), "fallback")
	s.stands("primary/large open OVERLOADED")
	s.asked("primary 2", "fallback 2")
}

// TestParallelFailures is B11: failures of calls that were under way together
// advance a ladder by one step. As in TestOneProbe nothing else may run.
func TestParallelFailures(t *testing.T) {
	for _, tt := range []struct{ script, target string }{
		{"429", large}, {"503", large}, {"402", "primary"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			s := play(t, caller.Chat, scaled().but(settings{"failureThreshold": 1, "budget": settings{"firstContentMs": 10_000}}), primary(tt.script+" after=500ms"), fallback("ok"))
			from, _ := s.many(20, func() reply { return s.ask(large) })
			if d := cmp.Diff(map[string]int{"fallback": 20}, from); d != "" {
				t.Errorf("who served (-want +got):\n%s", d)
			}
			if n := len(s.upstream()); n < 2 {
				t.Fatalf("%d calls were under way together, want 20", n)
			}
			if v := s.out(tt.target); v.Trips != 1 {
				t.Errorf("after %d failures: got %+v, want the first trip", len(s.upstream()), v)
			}
		})
	}
}

// TestSilentVendor: a vendor says nothing, and 20 callers come to it one by one,
// all of them before the first limit on the first content runs out. Two limits are
// waited out, which is what it takes to know; who still waits then moves on at once.
func TestSilentVendor(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	s := play(t, caller.Chat, scaled().but(settings{"budget": settings{"firstContentMs": limit.Milliseconds()}}), primary("hang"), fallback("ok"))
	early := make(chan reply, 2)
	for i := range cap(early) {
		go func() { early <- s.ask(large) }()
		next := time.NewTimer(time.Until(s.arrived(i + 1)[i].Time.Add(limit / 4)))
		defer next.Stop()
		<-next.C
	}
	from, _ := s.many(18, func() reply { return s.ask(large) })
	if d := cmp.Diff(map[string]int{"fallback": 18}, from); d != "" {
		t.Errorf("who served (-want +got):\n%s", d)
	}
	for range cap(early) {
		s.served(<-early, "fallback")
	}
	s.gone(20)
	waited := 0
	for _, c := range s.upstream() {
		if c.End.Sub(c.Time) > limit*9/10 {
			waited++
		}
	}
	if waited != 2 {
		t.Errorf("%d callers waited for the whole limit, want 2", waited)
	}
	if v := s.out(large); v.Code != sdk.CodeTimeout || v.Trips != 1 {
		t.Errorf("got %+v, want the first trip by a TIMEOUT", v)
	}
	s.served(s.ask(large), "fallback")
	s.asked("primary 20", "fallback 21")
}

// kill kills the plugin's process and waits for the next one.
func (s *scene) kill() {
	s.t.Helper()
	pid := ""
	s.until("another process of the plugin runs", func() bool {
		v, err := s.client.Status(s.t.Context())
		if err != nil || len(v.Plugins) != 1 {
			s.t.Fatalf("status: %+v, %v", v, err)
		}
		p := v.Plugins[0]
		if pid == "" {
			n, err := strconv.Atoi(p.PID)
			if err != nil {
				return false
			}
			if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
				s.t.Fatal(err)
			}
			pid = p.PID
		}
		return p.Up && p.PID != pid
	})
}
