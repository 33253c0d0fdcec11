package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/tests/internal/caller"
)

// TestHalts is B06 and B07: a vendor that wants money or cannot be reached is
// asked once a halt, and each halt is twice as long as the one before, up to a
// bound. A success clears it.
func TestHalts(t *testing.T) {
	// A 150th of 60 s to 300 s.
	const first, most = time.Second, 3 * time.Second
	for _, tt := range []struct {
		name, script, code string
		logged             bool // the vendor sees the calls
	}{
		{"B06 payment required", "402", "QUOTA", true},
		{"B07 connection refused", "refuse", "TRANSPORT", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, caller.Chat, scaled().but(settings{"halts": settings{"cooldownMs": first.Milliseconds(), "maxCooldownMs": most.Milliseconds()}}),
				pool(tt.script, "large", "medium"), fallback("ok"))
			failed := fmt.Sprintf("%s > fallback", tt.code)
			halt := first
			for trip := 1; trip <= 5; trip++ {
				began := time.Now()
				first := s.ask(large)
				// The whole vendor is meant.
				for _, r := range []reply{first, s.ask(large), s.ask("primary/medium")} {
					s.served(r, "fallback")
				}
				v := s.out("primary")
				if v.Trips != trip {
					t.Errorf("halt %d: status says %d trips", trip, v.Trips)
				}
				if d := v.Until.Sub(began); d < halt || d > halt+halt*9/10 {
					t.Errorf("halt %d lasts %s, want %s", trip, d, halt)
				}
				if n := len(s.upstream()); tt.logged && n != trip {
					t.Errorf("%d calls reached the vendor in %d halts", n, trip)
				}
				kind := "primary"
				if trip > 1 {
					kind = "probe"
				}
				s.record(first.ID, record.OKAfterFallback, kind+" primary/large "+failed, "fallback fallback/small ok")
				s.over("primary")
				halt = min(2*halt, most)
			}
			s.script("primary", "ok")
			s.served(s.ask(large), "primary")
			s.stands()
			s.script("primary", tt.script)
			s.served(s.ask("primary/medium"), "fallback")
			if v := s.out("primary"); v.Trips != 1 {
				t.Errorf("after a success: got trip %d, want the first", v.Trips)
			}
		})
	}
}

// far is a vendor's URL that the host does not know to be on this machine,
// although it is.
func far(url string) string { return strings.Replace(url, "127.0.0.1", "0.0.0.0", 1) }

// TestNames is the rest of B07, and B24: a vendor whose name does not resolve is
// to blame if another one answers that is not on this machine; if none does, our
// own network is down, nobody is charged, and what is on this machine serves.
func TestNames(t *testing.T) {
	lost := func(vendors ...string) (rows string) {
		for _, v := range vendors {
			rows += fmt.Sprintf("- {id: %s, name: provider-openai, config: {base_url: \"http://%s.invalid/v1\", models: [large], keys: [k]}}\n", v, v)
		}
		return rows
	}
	t.Run("another vendor answers", func(t *testing.T) {
		t.Parallel()
		s, rows := stage(t, caller.Chat, fallback("ok"))
		s = s.serve(lost("primary") + strings.ReplaceAll(rows, s.vendors.Vendor("fallback").URL(), far(s.vendors.Vendor("fallback").URL())) + scaled().row(t))
		r := s.ask(large)
		s.served(r, "fallback")
		s.record(r.ID, record.OKAfterFallback, "primary primary/large TRANSPORT > fallback", "fallback fallback/small ok")
		s.stands("primary open TRANSPORT")
		r = s.ask(large)
		s.served(r, "fallback")
		s.record(r.ID, record.OKAfterFallback, "fallback fallback/small ok")
	})
	t.Run("only this machine answers", func(t *testing.T) {
		t.Parallel()
		s, rows := stage(t, caller.Chat, fallback("ok"))
		s = s.serve(lost("primary", "other") + rows + scaled().but(settings{"priority": []string{large, "other/large", small}}).row(t))
		for range 3 {
			r := s.ask(large)
			s.served(r, "fallback")
			s.record(r.ID, record.OKAfterFallback,
				"primary primary/large TRANSPORT > failover", "failover other/large TRANSPORT > fallback", "fallback fallback/small ok")
		}
		s.stands()
	})
	t.Run("nothing answers", func(t *testing.T) {
		t.Parallel()
		s, _ := stage(t, caller.Chat, sim.Vendor{Name: "unused"})
		s = s.serve(lost("primary", "other") + scaled().but(settings{"priority": []string{large, "other/large"}}).row(t))
		for range 3 {
			r := s.ask(large)
			s.refused(r, http.StatusServiceUnavailable, "")
			rec := s.record(r.ID, record.FailedClean, "primary primary/large TRANSPORT > failover", "failover other/large TRANSPORT > stop")
			if rec.Failure == nil || rec.Failure.Code != "LOCAL_NETWORK" {
				t.Errorf("failure: got %+v, want LOCAL_NETWORK", rec.Failure)
			}
		}
		s.stands()
	})
}
