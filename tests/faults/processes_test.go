package faults

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state/record"
	"spillway/host/state/statetest"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// TestRestart is B17: what stands against a vendor is known to the next process,
// also if the one before was killed.
func TestRestart(t *testing.T) {
	for name, end := range map[string]func(*rig.Server){"ended": (*rig.Server).Stop, "killed": (*rig.Server).Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tripped(t, settings{"cooldownMs": 60_000, "transientCooldownMs": 60_000})
			s.until("the circuit is stored", func() bool { return len(s.circuits()) > 0 })
			end(s.Server)
			s.script("primary", "ok")
			s = s.beside(rig.ServeProfile(t, s.Dir))
			s.served(s.ask(large), "fallback")
			s.asked("primary 1", "fallback 2")
			s.stands("primary/large open OVERLOADED")
		})
	}
}

// pair is two processes with the same vendors and the same state.
type pair struct{ first, second *scene }

// heard lets the second pass in which one process hears of what another has
// learned.
func (p pair) heard() {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	<-t.C
}

// onOneProfile are two processes that serve one profile folder.
func onOneProfile(t *testing.T, with settings, script string) pair {
	t.Helper()
	first := play(t, caller.Chat, with, primary(script), fallback("ok"))
	return pair{first, first.beside(rig.ServeProfile(t, first.Dir))}
}

// onOneRedis are two processes with profiles of their own, as on two machines.
func onOneRedis(t *testing.T, with settings, script string) (pair, *statetest.Redis) {
	t.Helper()
	server, row := rig.Redis(t)
	s, rows := stage(t, caller.Chat, primary(script), fallback("ok"))
	rows += row + with.row(t)
	return pair{s.serve(rows), s.serve(rows)}, server
}

// TestTwoProcesses is the rest of B17: the second process knows of a trip within
// a second, and between them they make one probe.
func TestTwoProcesses(t *testing.T) {
	const callers = 20 // in each
	with := func() settings {
		return scaled().but(settings{
			"failureThreshold": 1, "cooldownMs": 60_000, "transientCooldownMs": 3_000, "budget": settings{"firstContentMs": 15_000},
		})
	}
	for name, open := range map[string]func(t *testing.T) pair{
		"one profile": func(t *testing.T) pair { return onOneProfile(t, with(), "503") },
		"one Redis": func(t *testing.T) pair {
			p, _ := onOneRedis(t, with(), "503")
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t)
			p.first.served(p.first.ask(large), "fallback")
			p.heard()
			r := p.second.ask(large)
			p.second.served(r, "fallback")
			p.second.record(r.ID, record.OKAfterFallback, "fallback fallback/small ok")
			p.first.asked("primary 1", "fallback 2")

			// The second process's callers come when its probe has had a second to
			// be known. Which of two that ask at once gets the lease is the store's
			// business, and tested there.
			p.first.script("primary", "ok after=3s")
			p.first.over(large)
			probe := make(chan map[string]int, 1)
			go func() {
				from, _ := p.first.many(callers, func() reply { return p.first.ask(large) })
				probe <- from
			}()
			p.first.arrived(2)
			p.heard()
			from, _ := p.second.many(callers, func() reply { return p.second.ask(large) })
			if d := cmp.Diff(map[string]int{"fallback": callers}, from); d != "" {
				t.Errorf("who served in the second process (-want +got):\n%s", d)
			}
			if d := cmp.Diff(map[string]int{"primary": 1, "fallback": callers - 1}, <-probe); d != "" {
				t.Errorf("who served in the first process (-want +got):\n%s", d)
			}
			p.first.asked("primary 2", fmt.Sprintf("fallback %d", 2*callers+1))

			p.first.script("primary", "ok")
			for _, s := range []*scene{p.first, p.second} {
				s.until("the primary serves again", func() bool { return s.ask(large).from() == "primary" })
			}
		})
	}
}

// TestRedisIsKilled: the shared store goes away and comes back under load, and no
// answer shows it.
func TestRedisIsKilled(t *testing.T) {
	t.Parallel()
	p, server := onOneRedis(t, scaled(), "503; ok*3; repeat")
	var mu sync.Mutex
	from := map[string]int{}
	served := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, k := range from {
			n += k
		}
		return n
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(stop)
		wg.Wait()
	})
	defer end()
	for _, s := range []*scene{p.first, p.second} {
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					r := s.ask(large)
					mu.Lock()
					from[r.from()]++
					mu.Unlock()
				}
			})
		}
	}
	more := func(n int) {
		t.Helper()
		goal := served() + n
		p.first.until("further calls are served", func() bool { return served() >= goal })
	}
	more(50)
	server.Kill()
	more(100)
	server.Start()
	more(50)
	end()
	for vendor := range maps.Keys(from) {
		if vendor != "primary" && vendor != "fallback" {
			t.Errorf("%d calls: %s", from[vendor], vendor)
		}
	}
	p.first.Stop()
	if log := p.first.Log(); !strings.Contains(log, "state store unavailable") {
		t.Error("nothing was said of the store")
	}
}
