package driver_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/google/go-cmp/cmp"

	"spillway/plugin/failover/driver"
	"spillway/sdk"
	"spillway/sdk/plugintest"
)

func TestChains(t *testing.T) {
	const config = `{"priority": ["deepseek/deepseek-flash"], "budget": {"maxSameTargetAttempts": 1}, "chains": [
		{"provider": "anthropic", "routes": ["kimi-coding"]},
		{"provider": "anthropic", "model": "claude-haiku-4-5", "routes": ["elsewhere/m", {"provider": "deepseek"}]}]}`
	synctest.Test(t, func(t *testing.T) {
		b := start(t, config, plugintest.Script{claude: {fails(sdk.CodeQuota)}, haiku: {fails(sdk.CodeQuota)}, "elsewhere/m": {fails(sdk.CodeQuota)}})
		// An exact entry comes before one for the provider; an entry without a
		// model means the first that its provider advertises.
		b.ask(claude, "ok from "+kimi, claude, kimi)
		b.ask(haiku, "ok from "+deepseek, haiku, "elsewhere/m", deepseek)
	})
}

func TestCodesAndPatterns(t *testing.T) {
	const config = `{"priority": ["kimi-coding/k3"], "fatalCodes": ["SERVER", "INVALID_REQUEST"], "transientCodes": ["MODEL_UNAVAILABLE"],
		"patterns": ["daily\\s+allowance", "("], "failureThreshold": 1, "budget": {"maxSameTargetAttempts": 1}}`
	synctest.Test(t, func(t *testing.T) {
		b := start(t, config, plugintest.Script{claude: {fails(sdk.CodeServer)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		time.Sleep(299 * time.Second) // as long as a deterministic trip
		b.ask(claude, "ok from "+kimi, kimi)
	})
	synctest.Test(t, func(t *testing.T) {
		// A caller's fault in fatalCodes is ignored: the wall is in the code.
		b := start(t, config, plugintest.Script{claude: {fails(sdk.CodeInvalidRequest)}})
		b.ask(claude, "INVALID_REQUEST", claude)
		b.ask(claude, "INVALID_REQUEST", claude)
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, config, plugintest.Script{claude: {says("your Daily  Allowance is gone")}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		if d := b.host.Decisions(); len(d) == 0 || d[0].Code != sdk.CodeQuota || !strings.HasPrefix(d[0].Rule, "pattern:") {
			t.Errorf("decision: %+v", d)
		}
	})
}

// TestMovedOnTooLate: an attempt that is ended because its target went out may have
// met something of its own at the same moment. What lies in the request goes to
// nobody else; whatever it is, the target that was to follow has not done it.
func TestMovedOnTooLate(t *testing.T) {
	refused := sdk.NewFailure(sdk.CodeTransport, "socket:refused", "connection refused")
	refused.Cause = sdk.CauseRefused
	for _, tt := range []struct {
		name  string
		last  *sdk.Failure
		want  string
		asked []string
	}{
		{"given up", nil, "ok from " + kimi, []string{kimi}},
		{"refused as well", refused, "ok from " + kimi, []string{kimi}},
		{"wrong by itself", sdk.NewFailure(sdk.CodeInvalidRequest, "test", "no such tool"), "INVALID_REQUEST", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startAs(t, threeVendors, plugintest.Script{claude: {{Failure: refused}}}, plugintest.Options{AskAlways: true})
				b.silent.Store(true)
				b.last = tt.last
				var text string
				var f *sdk.Failure
				var wg sync.WaitGroup
				wg.Go(func() {
					text, f = b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
				})
				synctest.Wait() // it waits for the silent vendor
				b.silent.Store(false)
				b.ask(claude, "ok from "+kimi, append([]string{claude, kimi}, tt.asked...)...)
				wg.Wait()
				if f != nil {
					text = string(f.Code)
				}
				if text != tt.want {
					t.Errorf("got %q (%v), want %q", text, f, tt.want)
				}
				for _, at := range b.host.Status().Targets {
					if at.Target != "anthropic" {
						t.Errorf("%s is charged: %+v", at.Target, at)
					}
				}
			})
		})
	}
}

// TestWhyNothingFollowed: a failure that nobody was asked about says why.
func TestWhyNothingFollowed(t *testing.T) {
	for committed, why := range map[bool]string{true: "the answer had begun", false: "nobody was there to decide"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, `{"priority": ["anthropic/claude-sonnet-5"]}`, plugintest.Script{})
			b.plugin.Outcome(sdk.Outcome{
				Call: "c", Attempt: 1, Route: sdk.Route{Provider: "anthropic", Model: "claude-sonnet-5"},
				Committed: committed, Failure: sdk.NewFailure(sdk.CodeServer, "test", "down"),
			})
			synctest.Wait()
			if d := b.host.Decisions(); len(d) != 1 || d[0].Action != sdk.ActionStop || d[0].Reason != why {
				t.Errorf("committed %v: %+v, want %q", committed, d, why)
			}
		})
	}
}

func TestRetryOnTheSameTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, `{"priority": ["anthropic/claude-sonnet-5", "kimi-coding/k3"]}`, plugintest.Script{claude: {fails(sdk.CodeServer), {Text: "second try"}}})
		b.ask(claude, "second try", claude, claude)
	})
}

// TestMeasurements: a contract's gates open with what is stored for them, while the
// plugin runs and when it starts; what is no measurement is left out.
func TestMeasurements(t *testing.T) {
	const config = `{"priority": ["anthropic/claude-sonnet-5", "kimi-coding/k3"],
		"contracts": {"code": {"version": 1, "gates": {"eval": "tasks.jsonl", "taskSuccess": 0.9}}}}`
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(regexp2.StopTimeoutClock)
		state := plugintest.NewMemory()
		ask := func(h *plugintest.Host) string {
			text, _ := h.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true, Wants: sdk.Wants{Contract: "code"}})
			return text
		}
		run := func() *plugintest.Host {
			script := plugintest.Script{claude: {fails(sdk.CodeModelUnavailable)}, kimi: {{Text: "kimi"}}}
			return plugintest.Start(t, driver.New(), plugintest.Options{Config: config, Catalogue: catalogue, State: state, Upstream: script.Upstream()})
		}
		store := func(key string, m sdk.Measurement) {
			data, err := json.Marshal(m)
			if err == nil {
				_, err = state.Put(t.Context(), key, data, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		m := sdk.Measurement{Eval: "tasks.jsonl", Route: sdk.Route{Provider: "kimi-coding", Model: "k3"}, Tasks: 10, TaskSuccess: 0.95}
		h := run()
		store(sdk.MeasurementPrefix+"else", m)
		if got := ask(h); got != "" {
			t.Errorf("before it was measured: %q", got)
		}
		store(m.Key(), m)
		if got := ask(h); got != "kimi" {
			t.Errorf("measured: %q", got)
		}
		if got := ask(run()); got != "kimi" {
			t.Errorf("measured earlier: %q", got)
		}
	})
}

// TestMemory: what one process learned, the next one knows.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(regexp2.StopTimeoutClock)
		state := plugintest.NewMemory()
		run := func(script plugintest.Script) string {
			h := plugintest.Start(t, driver.New(), plugintest.Options{Config: threeVendors, Catalogue: catalogue, State: state, Upstream: script.Upstream()})
			text, _ := h.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
			synctest.Wait()
			return text
		}
		ok := []plugintest.Answer{{Text: "kimi"}}
		if got := run(plugintest.Script{claude: {fails(sdk.CodeQuota)}, kimi: ok}); got != "kimi" {
			t.Fatalf("first process: %q", got)
		}
		if got := run(plugintest.Script{claude: {{Text: "claude"}}, kimi: ok}); got != "kimi" {
			t.Errorf("second process asked %q: it does not know of the open circuit", got)
		}
		time.Sleep(301 * time.Second)
		if got := run(plugintest.Script{claude: {{Text: "claude"}}, kimi: ok}); got != "claude" {
			t.Errorf("after the cooldown: %q", got)
		}
	})
}

// TestOneProbe: when a cooldown ends, one caller tests the route and all others
// go on to the next candidate.
func TestOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		release := make(chan struct{})
		b.set(claude, plugintest.Answer{Text: "recovered", After: release})
		time.Sleep(301 * time.Second)
		results := make(chan string, 50)
		for range 50 {
			go func() {
				text, _ := b.host.Ask(t.Context(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Stream: true})
				results <- text
			}()
		}
		synctest.Wait()
		close(release)
		got := map[string]int{}
		for range 50 {
			got[<-results]++
		}
		if d := cmp.Diff(map[string]int{"recovered": 1, "ok from " + kimi: 49}, got); d != "" {
			t.Error(d)
		}
	})
}

// lateLeases is a store that is slower than a probe waits.
type lateLeases struct{ *plugintest.Memory }

func (s lateLeases) Acquire(ctx context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	time.Sleep(200 * time.Millisecond)
	return s.Memory.Acquire(ctx, name, ttl)
}

// TestLateLease: a probe that did not wait for its lease gives it back all the
// same, so that the next one is not kept waiting for the lease to expire.
func TestLateLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}}, lateLeases{plugintest.NewMemory()})
		b.ask(claude, "ok from "+kimi, claude, kimi)
		time.Sleep(301 * time.Second)
		b.set(claude, fails(sdk.CodeAborted)) // a neutral end: the next one may test at once
		b.ask(claude, "ABORTED", claude)
		time.Sleep(time.Second)
		b.set(claude)
		b.ask(claude, "ok from "+claude, claude)
	})
}

func TestSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, threeVendors, plugintest.Script{claude: {fails(sdk.CodeQuota)}})
		s := b.host.Session()
		if err := s.Settings(t.Context(), sdk.Config{JSON: []byte(`{"priority": ["deepseek"], "budget": {"maxSameTargetAttempts": 1}}`)}, []string{"priority"}); err != nil {
			t.Fatal(err)
		}
		b.ask(claude, "ok from "+deepseek, claude, deepseek)
		err := s.Settings(t.Context(), sdk.Config{JSON: []byte(`{"priority": [""], "maxCooldownMs": 5, "cooldownMs": 10}`)}, nil)
		want := "priority[0]: no provider named (allowed: provider/model or {provider, model})\n" +
			"maxCooldownMs: smaller than the first cooldown, got 5 (allowed: 10 or more)"
		if err == nil || err.Error() != want {
			t.Errorf("faults: got %v, want %s", err, want)
		}
		b.ask(claude, "ok from "+deepseek, deepseek) // the running settings stay
	})
}

func TestProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, `{"probe": {"enabled": true, "intervalMs": 60000}}`, plugintest.Script{})
		time.Sleep(61 * time.Second)
		synctest.Wait()
		want := []string{"anthropic", "kimi-coding", "deepseek", "elsewhere"}
		if d := cmp.Diff(want, b.host.Probes()); d != "" {
			t.Errorf("probes (-want +got):\n%s", d)
		}
	})
}
