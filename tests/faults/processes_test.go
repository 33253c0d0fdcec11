package faults

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state/statetest"
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

// onOneProfile are two processes that serve one profile folder.
func onOneProfile(t *testing.T, with settings, script string) pair {
	t.Helper()
	first := play(t, with, primary(script), fallback("ok"))
	return pair{first, first.beside(rig.ServeProfile(t, first.Dir))}
}

// onOneRedis are two processes with profiles of their own, as on two machines.
func onOneRedis(t *testing.T, with settings, script string) (pair, *statetest.Redis) {
	t.Helper()
	server, row := rig.Redis(t)
	s, rows := stage(t, primary(script), fallback("ok"))
	rows += row + with.row(t)
	return pair{s.serve(rows), s.serve(rows)}, server
}

// TestTwoProcesses is the rest of B17: the second process knows of a trip within
// a second, and between them they make one probe.
func TestTwoProcesses(t *testing.T) {
	with := func() settings {
		return scaled().but(settings{
			"failureThreshold": 1, "cooldownMs": 60_000, "transientCooldownMs": 5_000, "budget": settings{"firstContentMs": 15_000},
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
			heard := time.NewTimer(time.Second)
			defer heard.Stop()
			<-heard.C
			p.second.served(p.second.ask(large), "fallback")
			p.first.asked("primary 1", "fallback 2")

			p.first.script("primary", "ok after=4s")
			p.first.over(large)
			got := map[string]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			for _, s := range []*scene{p.first, p.second} {
				wg.Go(func() {
					from, _ := s.many(20, func() reply { return s.ask(large) })
					mu.Lock()
					defer mu.Unlock()
					for vendor, n := range from {
						got[vendor] += n
					}
				})
			}
			wg.Wait()
			if d := cmp.Diff(map[string]int{"primary": 1, "fallback": 39}, got); d != "" {
				t.Errorf("who served (-want +got):\n%s", d)
			}
			p.first.asked("primary 2", "fallback 41")

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
	stop := make(chan struct{})
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
	var wg sync.WaitGroup
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
	close(stop)
	wg.Wait()
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
