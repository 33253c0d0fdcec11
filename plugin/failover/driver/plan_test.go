package driver_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// healthy makes calls to the head until they are planned.
func (b *bench) healthy() {
	b.t.Helper()
	b.ask(claude, "ok from "+claude, claude) // the first is asked about
	before := b.host.Planned()
	b.ask(claude, "ok from "+claude, claude)
	if got := b.host.Planned(); got != before+1 {
		b.t.Errorf("%d calls planned, want %d", got, before+1)
	}
}

// planned checks whether the next call, which is to be answered by its head, asks.
func (b *bench) planned(what string, want bool) {
	b.t.Helper()
	synctest.Wait()
	before := b.host.Planned()
	b.ask(claude, "ok from "+claude, claude)
	if got := b.host.Planned() > before; got != want {
		b.t.Errorf("%s: planned %t", what, got)
	}
}

// TestFailureUnderPlan: what follows a failed attempt does not depend on who
// ordered it, and the record says the same.
func TestFailureUnderPlan(t *testing.T) {
	failures := map[string]plugintest.Answer{
		"429": fails(sdk.CodeRateLimit), "500": fails(sdk.CodeServer), "quota": fails(sdk.CodeQuota), "bad request": fails(sdk.CodeInvalidRequest),
		"refused": {Failure: &sdk.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseRefused}}, "by its wording": says("you exceeded your current quota"),
		"empty": fails(sdk.CodeEmptyResponse), "a plugin's": fails(sdk.CodePlugin),
	}
	type told struct {
		asked     []string
		answers   []string
		decisions []sdk.Decision
		targets   []sdk.TargetStatus
	}
	for name, answer := range failures {
		t.Run(name, func(t *testing.T) {
			story := func(always bool) (s told) {
				synctest.Test(t, func(t *testing.T) {
					b := startAs(t, threeVendors, plugintest.Script{}, plugintest.Options{AskAlways: always})
					if !always {
						b.healthy()
					} else {
						b.ask(claude, "ok from "+claude, claude)
						b.ask(claude, "ok from "+claude, claude)
					}
					b.set(claude, answer)
					for range 3 {
						b.mu.Lock()
						b.asked = nil
						b.mu.Unlock()
						text, f := b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
						if f != nil {
							text = f.Error()
						}
						synctest.Wait()
						s.answers, s.asked = append(s.answers, text), append(s.asked, b.asked...)
					}
					s.decisions, s.targets = b.host.Decisions(), b.host.Status().Targets
				})
				return s
			}
			asked, planned := story(true), story(false)
			if d := diff(asked, planned); d != "" {
				t.Errorf("the story differs (-asked +planned):\n%s", d)
			}
		})
	}
}

// TestHangingVendorUnderPlan: callers that wait under a plan when their vendor is
// found to be dead all move on then.
func TestHangingVendorUnderPlan(t *testing.T) {
	const callers = 50
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{})
		b.healthy()
		b.silent.Store(true)
		before := b.host.Planned()
		began := time.Now()
		var mu sync.Mutex
		var took []time.Duration
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond) // the last come long before the first limit
				at := time.Now()
				text, f := b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
				if f != nil || text != "ok from "+kimi {
					t.Errorf("%q, %v", text, f)
				}
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(at))
			})
		}
		wg.Wait()
		if n := b.host.Planned() - before; n != callers {
			t.Errorf("%d of %d calls were planned", n, callers)
		}
		slices.Sort(took)
		const limit = 10 * time.Second
		full := 0
		for _, d := range took {
			if d >= limit {
				full++
			}
		}
		if all := time.Since(began); full > 2 || all > limit+200*time.Millisecond {
			t.Errorf("%d callers waited for the whole limit, at most failureThreshold should; all was over after %v", full, all)
		}
		b.ask(claude, "ok from "+kimi, kimi)
	})
}

// TestPlanFollowsEvents: what takes a plan away at once, and what gives it back.
func TestPlanFollowsEvents(t *testing.T) {
	operate := func(b *bench, verb sdk.Verb, target string) {
		if err := b.host.Session().Operate(b.t.Context(), sdk.Order{Verb: verb, Target: target, At: time.Now()}); err != nil {
			b.t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{})
		b.healthy()
		operate(b, sdk.VerbDisable, "deepseek")
		b.planned("an order", false)
		operate(b, sdk.VerbEnable, "deepseek")
		b.planned("the order taken back", true)

		b.set(claude, fails(sdk.CodeServer))
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.set(claude)
		b.planned("a failure that counts", false)
		b.planned("a success since", true)

		c := catalogue
		c.Revision = 2
		c.Providers = slices.Clone(c.Providers)
		c.Providers[0].Keys = []string{"k_1", "k_9"}
		if err := b.host.Session().SetCatalogue(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		b.planned("another key", true)
		c.Providers = c.Providers[1:]
		c.Revision = 3
		if err := b.host.Session().SetCatalogue(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := b.host.Planned()
		b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
		if b.host.Planned() != before {
			t.Error("planned for a provider that is gone")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{})
		b.healthy()
		time.Sleep(5 * time.Minute)
		b.planned("after five minutes of nothing", true)
	})
}

// TestToolLoopUnderPlan: a loop that was moved stays where it is, whatever else is
// planned; one at the head is planned.
func TestToolLoopUnderPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{})
		ask := func(conversation string, loop bool) string {
			t.Helper()
			text, f := b.host.Ask(t.Context(), sdk.Request{
				Provider: "anthropic", Model: "claude-sonnet-5", Stream: true, Conversation: conversation, Shape: sdk.Shape{ToolResult: loop},
			})
			if f != nil {
				t.Fatal(f)
			}
			time.Sleep(time.Second) // the outcome arrives
			synctest.Wait()
			return text
		}
		for range 2 {
			ask("c", false)
			ask("c", true)
		}
		if n := b.host.Planned(); n != 2 {
			t.Errorf("%d calls planned, want 2: the second of each class", n)
		}
		b.set(claude, fails(sdk.CodeOverloaded))
		if got := ask("c", true); got != "ok from "+kimi {
			t.Errorf("the loop got %q", got)
		}
		b.set(claude)
		if got := ask("other", false); got != "ok from "+claude { // the head is well again
			t.Errorf("another conversation got %q", got)
		}
		for range 3 {
			if got := ask("c", true); got != "ok from "+kimi {
				t.Errorf("the loop got %q, it was moved to %s", got, kimi)
			}
		}
		before := b.host.Planned()
		if got := ask("c", false); got != "ok from "+claude || b.host.Planned() != before+1 {
			t.Errorf("the next message got %q, planned: %t", got, b.host.Planned() > before)
		}
		if got := ask("c", true); got != "ok from "+claude {
			t.Errorf("its loop got %q: it began at the head", got)
		}
	})
}

// TestPaceUnderPlan: a route that has become slow has the time it needs from the
// next call on, not from when the plan is renewed.
func TestPaceUnderPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last sdk.Dispatch
		b := startAs(t, threeVendors, plugintest.Script{}, plugintest.Options{})
		b.see = func(r sdk.Request) { last = r.Dispatch }
		b.healthy()
		if last.Limits.FirstContent != 10*time.Second {
			t.Fatalf("limit: %v", last.Limits.FirstContent)
		}
		time.Sleep(time.Second) // the renewal is far
		synctest.Wait()
		slow := make(chan struct{})
		time.AfterFunc(8*time.Second, func() { close(slow) })
		b.set(claude, plugintest.Answer{Text: "ok from " + claude, After: slow})
		b.planned("slow", true)
		b.set(claude)
		time.Sleep(200 * time.Millisecond) // the outcome has come
		b.planned("after a slow one", true)
		if last.Limits.FirstContent != 12*time.Second {
			t.Errorf("limit after a first content of 8 s: %v, want half as much again", last.Limits.FirstContent)
		}
	})
}

// TestSettingsUnderPlan: the next call follows the new settings.
func TestSettingsUnderPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last sdk.Dispatch
		b := startAs(t, threeVendors, plugintest.Script{}, plugintest.Options{})
		b.see = func(r sdk.Request) { last = r.Dispatch }
		b.healthy()
		if last.Buffer || last.Limits.Idle != 20*time.Second {
			t.Errorf("order: %+v", last)
		}
		config := `{"priority": ["anthropic/claude-sonnet-5", "kimi-coding/k3"], "stream": "buffer", "budget": {"idleMs": 7000}}`
		if err := b.host.Session().Settings(context.Background(), sdk.Config{JSON: []byte(config)}, []string{"stream"}); err != nil {
			t.Fatal(err)
		}
		b.planned("after new settings", true)
		if !last.Buffer || last.Limits.Idle != 7*time.Second {
			t.Errorf("order: %+v", last)
		}
	})
}

// TestManyClassesUnderPlan: more classes than a plan takes do no harm, and those
// that come often are planned.
func TestManyClassesUnderPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{})
		for i := range 300 {
			r := sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true, Shape: sdk.Shape{
				Tools: i & 1, Images: i >> 1 & 1, Documents: i >> 2 & 1, Structured: i>>3&1 == 1, Reasoning: i>>4&1 == 1, ParallelTools: i>>5&1 == 1,
			}, Wants: sdk.Wants{Strict: i>>6&1 == 1, SameModel: i>>7&1 == 1}}
			if _, f := b.host.Ask(t.Context(), r); f != nil {
				t.Fatal(f)
			}
		}
		time.Sleep(time.Minute)
		b.healthy()
	})
}
