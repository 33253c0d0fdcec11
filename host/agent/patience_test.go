package agent_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

// bare is a desk without files and tools, for a bubble.
func bare(t *testing.T, maxWait time.Duration, answers ...answer) *desk {
	d := &desk{models: &models{t: t, answers: answers}, session: session.NewMemory("s-test", "/work")}
	d.options = agent.Options{
		Models: d.models, Session: d.session, MaxWait: maxWait,
		Tell: func(e agent.Event) { d.events = append(d.events, e) },
	}
	return d
}

func repeat(n int, a answer) (all []answer) {
	for range n {
		all = append(all, a)
	}
	return all
}

// The agent waits as long as it is told, else longer each time, and not longer
// than its budget.
func TestWaits(t *testing.T) {
	overloaded := sdk.Failure{Code: sdk.CodeOverloaded}
	for _, tt := range []struct {
		name        string
		maxWait     time.Duration
		answers     []answer
		served      bool
		waits       int // -1: as many as fit
		least, most time.Duration
	}{
		{"a named wait", time.Minute, []answer{fails(sdk.Failure{Code: sdk.CodeRateLimit, RetryAfter: 7 * time.Second}), says("ok")},
			true, 1, 7 * time.Second, 7 * time.Second},
		{"no wait is named", time.Minute, []answer{fails(overloaded), fails(overloaded), fails(overloaded), fails(overloaded), says("ok")},
			true, 4, 4 * time.Millisecond, 15*time.Second + 4*time.Millisecond},
		{"the budget ends", 20 * time.Second, repeat(10000, fails(overloaded)), false, -1, 0, 20 * time.Second},
		{"a named wait that does not fit", 5 * time.Second, []answer{fails(sdk.Failure{Code: sdk.CodeRateLimit, RetryAfter: 7 * time.Second})},
			false, 0, 0, 0},
		{"longer than a minute", time.Hour, []answer{fails(sdk.Failure{Code: sdk.CodeQuota, RetryAfter: 61 * time.Second})}, false, 0, 0, 0},
		{"nothing would change", time.Hour, []answer{fails(sdk.Failure{Code: sdk.CodeAuth})}, false, 0, 0, 0},
		{"the caller's own fault", time.Hour, []answer{fails(sdk.Failure{Code: sdk.CodeInvalidRequest, RetryAfter: time.Second})}, false, 0, 0, 0},
		{"no waiting at all", 0, []answer{fails(overloaded)}, false, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := bare(t, tt.maxWait, tt.answers...)
				began := time.Now()
				err := d.send(t, "go")
				took := time.Since(began)
				if _, failed := errors.AsType[*agent.FailedError](err); failed == tt.served || err != nil == tt.served {
					t.Errorf("got %v", err)
				}
				if took < tt.least || took > tt.most {
					t.Errorf("waited %s, want %s to %s", took, tt.least, tt.most)
				}
				waits := d.told(agent.EventWait)
				if tt.waits >= 0 && len(waits) != tt.waits {
					t.Errorf("%d waits, want %d", len(waits), tt.waits)
				}
				var told time.Duration
				for _, e := range waits {
					told += e.Wait
				}
				if told != took {
					t.Errorf("told %s, waited %s", told, took)
				}
			})
		})
	}
}

// One message has one budget, however many agents work on it, and a nested agent
// that nobody serves is a tool that failed.
func TestNestedAgentsShareTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := fails(sdk.Failure{Code: sdk.CodeRateLimit, RetryAfter: 4 * time.Second})
		d := bare(t, 10*time.Second,
			limited, calls(`task {"prompt":"a part"}`), // 4 s are gone,
			limited, // 8 s,
			limited, // and 12 s are too many
			says("too bad"))
		d.options.Tools = []tool.Tool{&note{effect: tool.ReadOnly}}
		began := time.Now()
		if err := d.send(t, "go"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("took %s, want 8s", took)
		}
		messages := d.models.prompts[len(d.models.prompts)-1].Messages
		r := messages[len(messages)-1].Parts[0]
		if !r.Error || !strings.Contains(r.Result[0].Text, "did not come to its end: nobody could answer: RATE_LIMIT") {
			t.Errorf("result: got %+v", r)
		}
	})
}
