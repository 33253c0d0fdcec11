package faults

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"spillway/host/state/record"
)

// TestFailoverBench plays the scenarios of the public Failover Bench in which an
// answer has not begun.
func TestFailoverBench(t *testing.T) {
	for _, tt := range []struct {
		name     string
		primary  string // its script
		settings settings
		from     string
		calls    []string // that reached the vendors
		outcome  record.Outcome
		attempts []string
		against  []string        // what stands against whom afterwards
		within   time.Duration   // of the whole call, 0: no bound
		after    []time.Duration // at the earliest after the call's begin, of the primary's calls
	}{
		{
			name: "S01 limit that states a short time", primary: "429 retry-after=0.4; ok",
			from: "primary", calls: []string{"primary 2"},
			outcome:  record.OKAfterRetry,
			attempts: []string{"primary primary/large RATE_LIMIT > wait", "retry primary/large ok"},
			after:    []time.Duration{0, 360 * time.Millisecond},
		},
		{
			name: "S02 limit for ever that states nothing", primary: "429",
			from: "fallback", calls: []string{"primary 1", "fallback 1"},
			outcome:  record.OKAfterFallback,
			attempts: []string{"primary primary/large RATE_LIMIT > fallback", "fallback fallback/small ok"},
			against:  []string{"primary#key-of-primary/large open RATE_LIMIT", "primary/large open RATE_LIMIT"},
		},
		{
			name: "S03 one 500", primary: "500; ok",
			from: "primary", calls: []string{"primary 2"},
			outcome:  record.OKAfterRetry,
			attempts: []string{"primary primary/large SERVER > retry", "retry primary/large ok"},
		},
		{
			name: "S04 503 for ever", primary: "503",
			from: "fallback", calls: []string{"primary 2", "fallback 1"},
			outcome:  record.OKAfterFallback,
			attempts: []string{"primary primary/large OVERLOADED > retry", "retry primary/large OVERLOADED > fallback", "fallback fallback/small ok"},
			against:  []string{"primary/large closed OVERLOADED"}, // one request counts once
		},
		{
			name: "S05 reset before any byte", primary: "reset; ok",
			from: "primary", calls: []string{"primary 2"},
			outcome:  record.OKAfterRetry,
			attempts: []string{"primary primary/large TRANSPORT > retry", "retry primary/large ok"},
		},
		{
			name: "S06 silence", primary: "hang",
			from: "fallback", calls: []string{"primary 1", "fallback 1"}, within: 5 * time.Second,
			outcome:  record.OKAfterFallback,
			attempts: []string{"primary primary/large TIMEOUT > fallback", "fallback fallback/small ok"},
			against:  []string{"primary/large closed TIMEOUT"},
		},
		{
			name: "S07 headers, then silence", primary: "slow=4s",
			from: "fallback", calls: []string{"primary 1", "fallback 1"}, within: 3 * time.Second,
			outcome:  record.OKAfterFallback,
			attempts: []string{"primary primary/large TIMEOUT > fallback", "fallback fallback/small ok"},
			against:  []string{"primary/large closed TIMEOUT"},
		},
		{
			// The two seconds that usage may take to follow the end are the host's,
			// and not scaled.
			name: "S11 no terminator", primary: "nodone",
			from: "primary", calls: []string{"primary 1"}, within: 8 * time.Second,
			outcome:  record.OK,
			attempts: []string{"primary primary/large ok"},
		},
		{
			name: "S16 503 for ever, and the model's name", primary: "503",
			settings: settings{"failureThreshold": 1},
			from:     "fallback", calls: []string{"primary 1", "fallback 1"},
			outcome:  record.OKAfterFallback,
			attempts: []string{"primary primary/large OVERLOADED > fallback", "fallback fallback/small ok"},
			against:  []string{"primary/large open OVERLOADED"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, scaled().but(tt.settings), primary(tt.primary), fallback("ok"))
			began := time.Now()
			r := s.ask(large)
			s.served(r, tt.from)
			if model := map[string]string{"primary": "large", "fallback": "small"}[tt.from]; r.model != model {
				t.Errorf("model: the answer names %q, want %q", r.model, model)
			}
			if tt.within > 0 && r.took > tt.within {
				t.Errorf("the call took %s, want at most %s", r.took, tt.within)
			}
			s.asked(tt.calls...)
			for i, c := range s.vendors.Vendor("primary").Calls() {
				if i < len(tt.after) && c.Time.Sub(began) < tt.after[i] {
					t.Errorf("call %d came after %s, want %s at the earliest", i+1, c.Time.Sub(began), tt.after[i])
				}
			}
			s.record(r.id, tt.outcome, tt.attempts...)
			s.stands(tt.against...)
		})
	}
}

// TestRefusalsOfCallers: what is wrong with the request is told as the vendor
// told it, after one call, and stands against nobody.
func TestRefusalsOfCallers(t *testing.T) {
	for _, tt := range []struct {
		name     string
		script   string
		message  string // of the vendor
		attempts []string
	}{
		{
			name: "S12 too long, and nobody has a larger window", script: "overflow",
			message:  "Your input exceeds the context window of this model. Please adjust your input and try again.",
			attempts: []string{"primary primary/large CONTEXT_WINDOW_EXCEEDED > stop"},
		},
		{
			name: "S13 refused for its content", script: "policy",
			message:  "Your request was rejected as a result of our safety system.",
			attempts: []string{"primary primary/large POLICY > stop"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, scaled(), primary(tt.script), fallback("ok"))
			r := s.ask(large)
			s.refused(r, 400, tt.message)
			s.asked("primary 1")
			s.record(r.id, record.FailedClean, tt.attempts...)
			s.stands()
		})
	}
}

// TestLargerWindow is S12 with a fallback that declares a larger window.
func TestLargerWindow(t *testing.T) {
	t.Parallel()
	s, _ := stage(t, primary("overflow"), fallback("ok"))
	s = s.serve(s.row("primary", "{id: large, context: 8000}", "key-of-primary") + s.row("fallback", "{id: small, context: 200000}", "key-of-fallback") + scaled().row(t))
	r := s.ask(large)
	s.served(r, "fallback")
	s.asked("primary 1", "fallback 1")
	s.record(r.id, record.OKAfterFallback, "primary primary/large CONTEXT_WINDOW_EXCEEDED > fallback", "fallback fallback/small ok")
	s.stands()
}

// TestRecovery is S15: the primary is down for 60 s, one request comes every 4 s,
// twenty in all. Each is served, one at a time looks whether the primary is back,
// and within 30 s of its recovery it serves again. All of it at a tenth; it has the
// machine to itself, since a probe's lease has a margin that does not scale.
func TestRecovery(t *testing.T) {
	const down, every, requests, back = 6 * time.Second, 400 * time.Millisecond, 20, 3 * time.Second
	s := play(t, scaled().but(settings{"cooldownMs": 1_500, "transientCooldownMs": 500}), primary("ok"), fallback("ok"))
	began := time.Now()
	s.script("primary", fmt.Sprintf("503*%s; ok", down))
	tick := time.NewTicker(every)
	defer tick.Stop()
	var first time.Time // when the primary served again
	for range requests {
		switch from := s.ask(large).from(); {
		case from == "primary" && first.IsZero():
			first = time.Now()
		case from == "primary":
		case from != "fallback":
			t.Errorf("not served: %s", from)
		case !first.IsZero():
			t.Error("served by the fallback again")
		}
		<-tick.C
	}
	if took := first.Sub(began.Add(down)); first.IsZero() || took > back {
		t.Errorf("the primary served again %s after its recovery, want %s at most", took, back)
	}
	calls, refused := s.upstream(), 0
	for i, c := range calls {
		if i > 0 && c.Time.Before(calls[i-1].End) {
			t.Errorf("call %d began before call %d had ended", i+1, i)
		}
		if c.Status == http.StatusServiceUnavailable {
			refused++
		}
	}
	// The first request asks twice and the second trips the route. Somebody looks
	// after 0.5 s, 1 s, and then each 1.5 s.
	if refused > 8 {
		t.Errorf("the primary was asked %d times while it was down", refused)
	}
	s.stands()
}
