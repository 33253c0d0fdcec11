package driver_test

import (
	"cmp"
	"context"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2"
	gocmp "github.com/google/go-cmp/cmp"

	"spillway/plugin/failover/driver"
	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// The behaviours of the original plugin's test suite, by name, over the real
// wire, with its real durations: the bubble's clock jumps.

const threeVendors = `{"priority": ["anthropic/claude-sonnet-5", {"provider": "kimi-coding", "model": "k3"}, "deepseek/deepseek-flash"],
	"budget": {"maxSameTargetAttempts": 1}}`

var catalogue = sdk.Catalogue{Revision: 1, Providers: []sdk.Provider{
	{Name: "anthropic", Models: []sdk.Model{{ID: "claude-sonnet-5"}, {ID: "claude-haiku-4-5"}}, Keys: []string{"k_1"}},
	{Name: "kimi-coding", Models: []sdk.Model{{ID: "k3"}}, Keys: []string{"k_2"}},
	{Name: "deepseek", Models: []sdk.Model{{ID: "deepseek-flash"}}, Keys: []string{"k_3"}},
	{Name: "elsewhere", Models: []sdk.Model{{ID: "m"}}, Keys: []string{"k_4"}},
}}

const (
	claude   = "anthropic/claude-sonnet-5"
	haiku    = "anthropic/claude-haiku-4-5"
	kimi     = "kimi-coding/k3"
	deepseek = "deepseek/deepseek-flash"
)

// bench is a plugin with scripted vendors that notes who was asked.
type bench struct {
	t      *testing.T
	plugin *driver.Plugin
	host   *plugintest.Host

	see    func(sdk.Request) // every attempt, if set
	silent atomic.Bool       // the head's vendor says nothing until the limit ends it
	last   *sdk.Failure      // what it says when it is given up, if set

	mu     sync.Mutex
	script plugintest.Script
	asked  []string
}

func start(t *testing.T, config string, script plugintest.Script, state ...sdk.State) *bench {
	o := plugintest.Options{}
	if len(state) > 0 {
		o.State = state[0]
	}
	return startAs(t, config, script, o)
}

// startAs is start under a host with options.
func startAs(t *testing.T, config string, script plugintest.Script, o plugintest.Options) *bench {
	t.Cleanup(regexp2.StopTimeoutClock) // its goroutine must not outlive the bubble
	b := &bench{t: t, plugin: driver.New(), script: script}
	o.Config, o.Catalogue, o.Upstream = config, catalogue, b.upstream
	b.host = plugintest.Start(t, b.plugin, o)
	return b
}

// diff compares two stories.
func diff(want, got any) string {
	return gocmp.Diff(want, got, gocmp.Exporter(func(reflect.Type) bool { return true }))
}

func (b *bench) upstream(ctx context.Context, r sdk.Request, n int) sdk.Stream {
	if b.see != nil {
		b.see(r)
	}
	route := r.Route().String()
	if b.silent.Load() && route == claude {
		return sdk.Hold(&silence{ctx, r.Dispatch.Limits.FirstContent, b.last}, 0)
	}
	b.mu.Lock()
	b.asked = append(b.asked, route)
	answers := b.script[route]
	if len(answers) > 1 {
		b.script[route] = answers[1:]
	}
	b.mu.Unlock()
	if len(answers) == 0 {
		return sdk.AnswerText(r.Model, "ok from "+route)
	}
	return plugintest.Script{route: answers[:1]}.Upstream()(ctx, r, n)
}

// silence is the answer of a vendor that says nothing, ended by the host.
type silence struct {
	ctx   context.Context
	limit time.Duration
	last  *sdk.Failure
}

func (*silence) Close() error { return nil }

func (s *silence) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		f := sdk.NewFailure(sdk.CodeAborted, "test", "given up")
		select {
		case <-s.ctx.Done():
			f = cmp.Or(s.last, f)
		case <-time.After(s.limit):
			f = sdk.NewFailure(sdk.CodeTimeout, sdk.RuleFirstContent, "")
		}
		yield(sdk.FailEvent(f), nil)
	}
}

// set replaces what a route answers from now on.
func (b *bench) set(route string, answers ...plugintest.Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script[route] = answers
}

// ask makes a call to head and checks who was asked and what came of it: text,
// or the code of the failure.
func (b *bench) ask(head, want string, asked ...string) *sdk.Failure {
	b.t.Helper()
	b.mu.Lock()
	b.asked = nil
	b.mu.Unlock()
	r := sdk.Request{Stream: true}
	for i := range head {
		if head[i] == '/' {
			r.Provider, r.Model = head[:i], head[i+1:]
			break
		}
	}
	text, f := b.host.Ask(b.t.Context(), r)
	got := text
	if f != nil {
		got = string(f.Code)
	}
	if got != want {
		b.t.Errorf("call to %s: got %q (%v), want %q", head, got, f, want)
	}
	synctest.Wait() // outcomes have arrived
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := gocmp.Diff(asked, b.asked); d != "" {
		b.t.Errorf("call to %s: asked (-want +got):\n%s", head, d)
	}
	return f
}

func fails(c sdk.Code) plugintest.Answer {
	return plugintest.Answer{Failure: sdk.NewFailure(c, "test", "")}
}

func says(message string) plugintest.Answer {
	f := sdk.NewFailure(sdk.CodeRateLimit, "status:429", message)
	f.Generic, f.Status = true, 429
	return plugintest.Answer{Failure: f}
}

func TestDeterministicFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
	})
}

func TestSkippingAfterATrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(claude, "ok from "+kimi, kimi)
		// QUOTA speaks for one model: another of the same vendor is asked.
		b.ask(haiku, "ok from "+haiku, haiku)
	})
}

func TestHalfOpenRecoveryAfterTheCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		time.Sleep(299 * time.Second)
		b.ask(claude, "ok from "+kimi, kimi)
		time.Sleep(2 * time.Second)
		b.ask(claude, "ok from "+kimi, claude, kimi) // still out: 600 s now
		time.Sleep(599 * time.Second)
		b.ask(claude, "ok from "+kimi, kimi)
		b.set(claude)
		time.Sleep(2 * time.Second)
		b.ask(claude, "ok from "+claude, claude)
		// Success has reset the ladder: the next trip lasts 300 s again.
		b.set(claude, fails(sdk.CodeQuota))
		b.ask(claude, "ok from "+kimi, claude, kimi)
		time.Sleep(301 * time.Second)
		b.set(claude)
		b.ask(claude, "ok from "+claude, claude)
	})
}

func TestThresholdForTransientFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeServer)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(claude, "ok from "+kimi, claude, kimi) // the second in a row trips
		b.ask(claude, "ok from "+kimi, kimi)
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeServer)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.set(claude)
		b.ask(claude, "ok from "+claude, claude) // a success in between: not in a row
		b.set(claude, fails(sdk.CodeServer))
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(claude, "ok from "+kimi, kimi)
	})
}

func TestCallersFaultsUntouched(t *testing.T) {
	for _, c := range []sdk.Code{sdk.CodeInvalidRequest, sdk.CodeContextWindow, sdk.CodePolicy, sdk.CodeUnknownModel, sdk.CodeNoAdapter} {
		t.Run(string(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, threeVendors, plugintest.Script{claude: {fails(c)}})
				for range 5 {
					b.ask(claude, string(c), claude)
				}
				if s := b.host.Status(); len(s.Targets) != 0 {
					t.Errorf("health changed: %+v", s.Targets)
				}
			})
		})
	}
}

func TestNoSwitchAfterContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {{Text: "half of", Failure: sdk.NewFailure(sdk.CodeServer, "test", "")}}})
		text, f := b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
		if text != "half of" || f == nil || f.Code != sdk.CodeServer {
			t.Errorf("got %q, %v; want the part and SERVER", text, f)
		}
		if d := gocmp.Diff([]string{claude}, b.asked); d != "" {
			t.Errorf("asked (-want +got):\n%s", d)
		}
	})
}

func TestAllCandidatesExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{
			claude: {fails(sdk.CodeQuota)}, kimi: {fails(sdk.CodeQuota)}, deepseek: {fails(sdk.CodeServer)},
		})
		// The first cause is told, not the last fallback's.
		b.ask(claude, "QUOTA", claude, kimi, deepseek)
	})
}

func TestAccountLevelFaultCoversAllModelsOfTheVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeAuth)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(haiku, "ok from "+kimi, kimi)
	})
}

func TestBanWordingRecognised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {says("Your account has been suspended.")}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(haiku, "ok from "+kimi, kimi) // the whole vendor is out
		d := b.host.Decisions()
		if len(d) == 0 || d[0].Code != sdk.CodeAuth || d[0].Scope != sdk.ScopeVendor {
			t.Errorf("decision: got %+v, want AUTH of the vendor", d)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {says("You have reached your usage limit for Claude.")}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		if d := b.host.Decisions(); len(d) == 0 || d[0].Code != sdk.CodeQuota {
			t.Errorf("decision: got %+v, want QUOTA", d)
		}
	})
}

func TestRequesterNotInThePriorityList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{"elsewhere/m": {fails(sdk.CodeQuota)}, claude: {fails(sdk.CodeQuota)}})
		b.ask("elsewhere/m", "ok from "+kimi, "elsewhere/m", claude, kimi) // the whole list, from its beginning
	})
}
