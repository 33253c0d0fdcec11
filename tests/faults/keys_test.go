package faults

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// pool is a primary with several keys.
func pool(script string, models ...string) sim.Vendor {
	v := primary(script)
	v.Models, v.Keys = models, []string{"key-a", "key-b", "key-c"}
	return v
}

// TestRevokedKey is B04: another key serves, no other route is asked, and the key
// is out for the vendor's other models too.
func TestRevokedKey(t *testing.T) {
	t.Parallel()
	revoked := sim.Fingerprint("key-a")
	// Three keys by turns: the first request takes the first one.
	s := play(t, caller.Chat, scaled(), pool("key="+revoked+" => invalid-key\nok", "large", "medium"), fallback("ok"))
	r := s.ask(large)
	s.served(r, "primary")
	s.record(r.ID, record.OKAfterFailover, "primary primary/large INVALID_CREDENTIAL > failover", "failover primary/large ok")
	s.stands("primary#key-a open INVALID_CREDENTIAL")
	for range 6 {
		s.served(s.ask("primary/medium"), "primary")
		s.served(s.ask(large), "primary")
	}
	s.asked("primary 14")
	for i, c := range s.upstream()[1:] {
		if c.Key == revoked {
			t.Errorf("call %d came with the revoked key", i+2)
		}
	}
	s.stands("primary#key-a open INVALID_CREDENTIAL")
}

// TestRateLimitOfAllKeys is B05: the model is halted, and not one byte is sent to
// it meanwhile.
func TestRateLimitOfAllKeys(t *testing.T) {
	for _, tt := range []struct {
		name     string
		priority []string
		after    string // the attempt that follows the third key's
	}{
		{"another serves", []string{large, small}, "fallback fallback/small ok"},
		{"nobody else is there", []string{large}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, caller.Chat, scaled().but(settings{
				"priority": tt.priority, "halts": settings{"rateMs": 2_000}, "budget": settings{"maxWaits": -1},
			}), pool("429", "large", "medium"), fallback("ok"))
			attempts := []string{
				"primary primary/large RATE_LIMIT > failover", "failover primary/large RATE_LIMIT > failover", "failover primary/large RATE_LIMIT > ",
			}
			check := func(r reply) {
				t.Helper()
				if tt.after != "" {
					s.served(r, "fallback")
					return
				}
				s.refused(r, http.StatusServiceUnavailable, "")
				if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || wait < 1 || wait > 2 {
					t.Errorf("Retry-After: got %q, want 1 or 2", r.Header.Get("Retry-After"))
				}
			}
			outcome := record.FailedClean
			attempts[2] += "stop"
			if tt.after != "" {
				outcome = record.OKAfterFallback
				attempts[2] = "failover primary/large RATE_LIMIT > fallback"
				attempts = append(attempts, tt.after)
			}
			r := s.ask(large)
			check(r)
			s.record(r.ID, outcome, attempts...)
			s.stands("primary/large open RATE_LIMIT", "primary#key-a/large open RATE_LIMIT", "primary#key-b/large open RATE_LIMIT", "primary#key-c/large open RATE_LIMIT")
			for range 5 {
				check(s.ask(large))
			}
			if n := len(s.upstream()); n != 3 {
				t.Errorf("%d calls reached the vendor, want none but the first 3", n)
			}
			s.script("primary", "ok")
			s.served(s.ask("primary/medium"), "primary") // the halt is the model's
			s.over("primary/large")
			s.served(s.ask(large), "primary")
		})
	}
}

// TestMalformedRequest is B08: what is wrong everywhere costs one call a caller,
// and changes nothing of what is known of anybody.
func TestMalformedRequest(t *testing.T) {
	t.Parallel()
	s := play(t, caller.Chat, scaled().but(settings{"priority": []string{"primary/a", "primary/b", "primary/c", small}, "cooldownMs": 60_000}),
		pool("model=down => model-gone\nok", "a", "b", "c", "down"), fallback("ok"))
	s.served(s.ask("primary/down"), "primary")
	s.stands("primary/down open MODEL_UNAVAILABLE")
	for _, v := range s.vendors.Vendors() {
		s.script(v.Name(), "invalid-request")
	}
	var before map[string]string
	s.until("the circuit is stored", func() bool {
		before = s.circuits()
		return len(before) > 0
	})
	calls := len(s.upstream())
	for _, model := range []string{"a", "b", "c"} {
		_, all := s.many(4, func() reply { return s.ask("primary/" + model) })
		for _, r := range all {
			s.refused(r, http.StatusBadRequest, "")
			s.record(r.ID, record.FailedClean, "primary primary/"+model+" INVALID_REQUEST > stop")
		}
	}
	if got := len(s.upstream()) - calls; got != 12 {
		t.Errorf("%d calls reached vendors, want one for each of 12 callers", got)
	}
	if d := cmp.Diff(before, s.circuits()); d != "" {
		t.Errorf("stored circuits (-before +after):\n%s", d)
	}
	s.script("primary", "ok")
	s.served(s.ask("primary/a"), "primary")
}

// circuits are the stored circuits as they are.
func (s *scene) circuits() map[string]string {
	s.t.Helper()
	store, err := state.Open(filepath.Join(s.Dir, profile.StateDir), state.Options{Limit: patience})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	items, err := store.Namespace("failover", "reader").List(ctx, "circuit/")
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for _, i := range items {
		all[i.Key] = string(i.Data)
	}
	return all
}
