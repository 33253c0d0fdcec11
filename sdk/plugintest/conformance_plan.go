package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"spillway/sdk"
	"spillway/sdk/serve"
)

// planning starts p and makes healthy calls until one is planned.
func (o ConformanceOptions) planning(tb testing.TB, p sdk.Plugin, opts Options) *Host {
	tb.Helper()
	h := Start(tb, p, opts)
	ctx, cancel := o.patience(tb)
	defer cancel()
	if !until(ctx, func() bool { o.ask(tb, h, "a healthy call", 0); return h.Planned() > 0 }) {
		tb.Fatalf("Manifest.Plan is true, but no healthy call was planned within %v: is ConformanceOptions.Request of a class that has a rule?", o.Patience)
	}
	return h
}

// plans reports whether the plugin says that it has plans.
func (o ConformanceOptions) plans() bool { return o.New().Manifest().Plan }

// checkPlan: what a plan says must be what a host can do, and follow from what the
// plugin was told last.
func checkPlan(tb testing.TB, o ConformanceOptions) {
	if !o.plans() {
		return
	}
	p := o.New()
	opts := o.host(healthy)
	h := o.planning(tb, p, opts)
	ctx, cancel := o.patience(tb)
	defer cancel()
	class, _ := sdk.RequestClassOf(&o.Request)
	if _, ok := p.(sdk.SettingsObserver); ok && o.OtherConfig != "" {
		life := &scope{TB: tb}
		defer life.end()
		opts.Config = o.OtherConfig
		want := ruleOf(o.planning(life, o.New(), opts), class)
		if err := h.session.Settings(ctx, sdk.Config{JSON: json.RawMessage(o.OtherConfig)}, nil); err != nil {
			tb.Errorf("configuration %s as a change: %v", o.OtherConfig, err)
		} else if !until(ctx, func() bool { return reflect.DeepEqual(ruleOf(h, class), want) }) {
			tb.Errorf("the plan does not follow changed settings: got %+v, want as from the start %+v", ruleOf(h, class), want)
		}
	}
	for _, plan := range h.Plans() {
		if err := planFault(plan, o.Catalogue); err != nil {
			tb.Errorf("plan: %v", err)
			break
		}
	}

	fewer := o.Catalogue
	fewer.Revision++
	fewer.Providers = slices.DeleteFunc(slices.Clone(fewer.Providers), func(p sdk.Provider) bool { return p.Name == o.Request.Provider })
	if err := h.session.SetCatalogue(ctx, fewer); err != nil {
		tb.Fatalf("catalogue: %v", err)
	}
	var err error
	if !until(ctx, func() bool {
		plans := h.Plans()
		err = planFault(plans[len(plans)-1], fewer)
		return err == nil
	}) {
		tb.Errorf("the plan does not follow the catalogue: %v", err)
	}
}

// ruleOf is the rule of a class in the last plan, but for the plugin's own note in
// it.
func ruleOf(h *Host, c sdk.RequestClass) sdk.Rule {
	plans := h.Plans()
	rules := plans[len(plans)-1].Rules
	i := slices.IndexFunc(rules, func(r sdk.Rule) bool { return r.Class == c })
	if i < 0 {
		return sdk.Rule{}
	}
	r := rules[i]
	r.Dispatch.Tag = ""
	return r
}

// planFault is what is wrong with a plan under a catalogue.
func planFault(p sdk.Plan, known sdk.Catalogue) error {
	if len(p.Rules) == 0 {
		return nil // withdrawn
	}
	if p.TTL <= 0 || p.TTL > sdk.MaxPlanTTL {
		return fmt.Errorf("TTL: got %v, want more than 0 and at most %v", p.TTL, sdk.MaxPlanTTL)
	}
	seen := map[sdk.RequestClass]bool{}
	for _, r := range p.Rules {
		route := r.Class.Route
		provider, ok := known.Provider(route.Provider)
		switch {
		case !ok:
			return fmt.Errorf("a rule for %s: the catalogue has no such provider", route)
		case seen[r.Class]:
			return fmt.Errorf("two rules for one class of %s", route)
		case !r.Sound():
			return fmt.Errorf("the rule for %s is not sound, so no host carries it out: %+v", route, r)
		case r.Own != provider.Passthrough:
			return fmt.Errorf("the rule for %s: Own is %t, Passthrough of its provider %t", route, r.Own, provider.Passthrough)
		case len(r.Keys) == 0 && len(provider.Keys) > 0:
			return fmt.Errorf("the rule for %s has no key, its provider needs one", route)
		}
		for _, key := range r.Keys {
			if !slices.Contains(provider.Keys, key) {
				return fmt.Errorf("the rule for %s has key %q, which its provider does not", route, key)
			}
		}
		seen[r.Class] = true
	}
	return nil
}

// checkPlannedFailure: the turn after a planned attempt that failed is one like
// any other, with one code of each class.
func checkPlannedFailure(tb testing.TB, o ConformanceOptions) {
	if !o.plans() {
		return
	}
	done := map[sdk.Class]bool{}
	for _, code := range sdk.Codes() {
		if done[code.Class()] || code == sdk.CodePlugin || code == sdk.CodeAborted {
			continue
		}
		done[code.Class()] = true
		var ill atomic.Bool
		h := o.planning(tb, o.New(), o.host(func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
			if ill.Load() && n == 1 {
				return sdk.Fail(sdk.NewFailure(code, "conformance", "made up by the test"))
			}
			return healthy(ctx, r, n)
		}))
		ill.Store(true)
		what := "a planned attempt that fails with " + string(code)
		a := o.ask(tb, h, what, 0)
		if want := "answer to " + what; !o.Changes && a.failure() == nil && a.text() != want {
			tb.Errorf("%s: got %q, want %q or a failure", what, a.text(), want)
		}
		decided(tb, h)
	}
}

// checkRunning: when its class leaves the plan an attempt is the plugin's own, and
// the call ends whatever becomes of it.
func checkRunning(tb testing.TB, o ConformanceOptions) {
	if !o.plans() {
		return
	}
	for _, what := range []string{"answers", "fails", "is left by its caller"} {
		what = "a running attempt that " + what
		var silent atomic.Bool
		reached, release := make(chan struct{}), make(chan struct{})
		opts := o.host(func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
			if !silent.CompareAndSwap(true, false) {
				return healthy(ctx, r, n)
			}
			close(reached)
			select {
			case <-release:
			case <-ctx.Done():
				return sdk.Fail(sdk.NewFailure(sdk.CodeAborted, "conformance", "the call ended"))
			}
			if what == "a running attempt that answers" {
				return healthy(ctx, r, n)
			}
			return sdk.Fail(sdk.NewFailure(sdk.CodeServer, "conformance", "made up by the test"))
		})
		opts.wire = new(wire)
		h := o.planning(tb, o.New(), opts)
		silent.Store(true)

		before := goroutines()
		limit, stop := o.patience(tb)
		ctx, leave := context.WithCancel(limit)
		ended := make(chan answer, 1)
		go func() { ended <- read(h.Call(ctx, o.called(what))) }()
		select {
		case <-reached:
		case <-limit.Done():
			tb.Errorf("%s: the vendor was not reached", what)
		}
		opts.wire.end(limit, h)
		if !until(limit, func() bool { return opts.wire.joined() > 0 }) {
			tb.Errorf("%s: the plugin was not told of it; was the call planned?", what)
		}
		if what == "a running attempt that is left by its caller" {
			leave()
		} else {
			close(release)
		}
		a := <-ended
		if ctx.Err() == nil {
			a.report(limit, tb, what)
			if want := "answer to " + what; !o.Changes && a.failure() == nil && a.text() != want {
				tb.Errorf("%s: got %q, want %q or a failure", what, a.text(), want)
			}
		}
		leave()
		h.read(limit) // the turn has begun if it ever does
		if left := lasting(limit, before); left != "" {
			tb.Errorf("%s: its turn goes on:\n%s", what, left)
		}
		stop()
		decided(tb, h)
	}
}

// checkPlannedOutcomes: those of planned attempts come in batches, come again, and
// those that a process did not acknowledge come to its successor.
func checkPlannedOutcomes(tb testing.TB, o ConformanceOptions) {
	if !o.plans() {
		return
	}
	log := &panics{Handler: slog.DiscardHandler}
	opts := o.host(mixed)
	opts.Log, opts.outbox, opts.wire = slog.New(log), new(serve.Outbox), &wire{deaf: true, twice: true}
	first := &scope{TB: tb}
	defer first.end()
	h := o.planning(first, o.New(), opts)
	for _, what := range []string{"healthy", "healthy", "broken", "healthy"} {
		o.ask(tb, h, what, 0)
	}
	ctx, cancel := o.patience(tb)
	defer cancel()
	// Whether it keeps up is the matter of whom it is told of again.
	_ = h.Drain(ctx)
	first.end()
	if err := opts.wire.acknowledged(); err != nil {
		tb.Error(err)
	}

	opts.wire = &wire{twice: true}
	h = Start(tb, o.New(), opts)
	if !until(ctx, h.Acknowledged) {
		tb.Errorf("outcomes of planned calls were not acknowledged within %v: does Outcome return?", o.Patience)
	}
	if err := opts.wire.acknowledged(); err != nil {
		tb.Error(err)
	}
	if n := log.n.Load(); n > 0 {
		tb.Errorf("the plugin broke %d times over outcomes of planned calls", n)
	}
}

// panics is a log that counts what the plugin's side says of an author's panics.
type panics struct {
	slog.Handler
	n atomic.Int32
}

func (*panics) Enabled(context.Context, slog.Level) bool { return true }

func (p *panics) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "plugin panic" {
		p.n.Add(1)
	}
	return nil
}
