package plugintest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// planner is a plugin with a plan for the default request, which fails over once.
// Its fields are how it can be wrong.
type planner struct {
	plugin
	frozen  bool              // the plan follows nothing
	change  func(p *sdk.Plan) // the plan that it publishes
	running func(c *sdk.Call) // before it looks at a running attempt
	past    func(c *sdk.Call) // before it looks at a past one
	host    sdk.Host

	mu    sync.Mutex
	limit int
}

var (
	_ sdk.SettingsObserver  = (*planner)(nil)
	_ sdk.CatalogueObserver = (*planner)(nil)
)

func newPlanner() *planner {
	p := &planner{}
	p.HookFunc = p.call
	p.manifest = manifestOf(func(m *sdk.Manifest) { m.Plan = true })
	return p
}

func (p *planner) Configure(_ context.Context, h sdk.Host, c sdk.Config) error {
	p.host = h
	return p.read(c)
}

func (p *planner) Settings(c sdk.Config, _ []string) error {
	if p.frozen {
		return nil
	}
	return p.read(c)
}

func (p *planner) Catalogue(sdk.Catalogue) {
	if p.host != nil && !p.frozen {
		p.publish()
	}
}

func (p *planner) read(c sdk.Config) error {
	var s struct{ Limit int }
	if err := c.Decode(&s); err != nil {
		return err
	}
	p.mu.Lock()
	p.limit = s.Limit
	p.mu.Unlock()
	p.publish()
	return nil
}

func (p *planner) publish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := sdk.Request{Provider: "vendor", Model: "model", Stream: true}
	if _, ok := p.host.Catalogue().Provider(r.Provider); !ok {
		p.host.Plan(sdk.Plan{})
		return
	}
	class, _ := sdk.RequestClassOf(&r)
	plan := sdk.Plan{TTL: 30 * time.Second, Rules: []sdk.Rule{{
		Class: class, Dispatch: sdk.Dispatch{Kind: sdk.KindPrimary, Reason: "first"}, Content: sdk.ContentLimit{Base: 10*time.Second + time.Duration(p.limit)},
	}}}
	if p.change != nil {
		p.change(&plan)
	}
	p.host.Plan(plan)
}

func (p *planner) call(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	switch {
	case c.Running != nil:
		if p.running != nil {
			p.running(c)
		}
		if f := sdk.AwaitVisible(ctx, c.Running.Stream); f != nil && f.Code != sdk.CodeAborted {
			return c.Reenter(ctx, c.Request)
		}
		return c.Running.Stream, nil
	case len(c.Past) > 0:
		if p.past != nil {
			p.past(c)
		}
		return c.Reenter(ctx, c.Request)
	}
	return failOver(ctx, c, next)
}

// TestPlanFault: what is no plan under the catalogue.
func TestPlanFault(t *testing.T) {
	rule := func(change func(r *sdk.Rule)) sdk.Plan {
		r := sdk.Rule{Class: sdk.RequestClass{Route: sdk.Route{Provider: "keyed", Model: "m"}}, Keys: []string{"k1"}}
		if change != nil {
			change(&r)
		}
		return sdk.Plan{TTL: time.Second, Rules: []sdk.Rule{r}}
	}
	double := rule(nil)
	double.Rules = append(double.Rules, double.Rules...)
	known := sdk.Catalogue{Providers: []sdk.Provider{{Name: "keyed", Keys: []string{"k1", "k2"}}, {Name: "keyless"}, {Name: "own", Passthrough: true}}}
	tests := []struct {
		name string
		plan sdk.Plan
		want string
	}{
		{"withdrawn", sdk.Plan{}, ""},
		{"with a key", rule(nil), ""},
		{"without one", rule(func(r *sdk.Rule) { r.Class.Route.Provider, r.Keys = "keyless", nil }), ""},
		{"the caller's", rule(func(r *sdk.Rule) { r.Class.Route.Provider, r.Keys, r.Own = "own", nil, true }), ""},
		{"no end", sdk.Plan{Rules: rule(nil).Rules}, "TTL: got 0s"},
		{"never ends", sdk.Plan{Rules: rule(nil).Rules, TTL: sdk.MaxPlanTTL + 1}, "at most 1m0s"},
		{"unknown provider", rule(func(r *sdk.Rule) { r.Class.Route.Provider = "gone" }), "no such provider"},
		{"twice", double, "two rules for one class"},
		{"waits", rule(func(r *sdk.Rule) { r.Dispatch.Delay = 1 }), "not sound"},
		{"nobody's own", rule(func(r *sdk.Rule) { r.Own = true }), "Own is true"},
		{"somebody's own", rule(func(r *sdk.Rule) { r.Class.Route.Provider = "own" }), "Own is false"},
		{"key forgotten", rule(func(r *sdk.Rule) { r.Keys = nil }), "has no key"},
		{"another's key", rule(func(r *sdk.Rule) { r.Keys = []string{"k3"} }), `has key "k3"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := planFault(tt.plan, known); err != nil {
				got = err.Error()
			}
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to contain %q", got, tt.want)
			}
		})
	}
}

// TestAcknowledged: which acknowledgements are none.
func TestAcknowledged(t *testing.T) {
	tests := []struct {
		name string
		acks []uint64
		want string
	}{
		{"none", nil, ""},
		{"in order", []uint64{2, 5}, ""},
		{"back", []uint64{3, 2}, "outcome 2 was acknowledged after 3"},
		{"again", []uint64{3, 3}, "outcome 3 was acknowledged after 3"},
		{"ahead", []uint64{6}, "outcome 6 was acknowledged, 5 is the last that was told"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := (&wire{told: 5, acks: tt.acks}).acknowledged(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNoPlanWithoutTheFeature: neither side sends a frame of plans to one that does
// not know them, or is not to have one, and the host keeps none that comes.
func TestNoPlanWithoutTheFeature(t *testing.T) {
	type told struct {
		features                []string
		plans, batches, running int
	}
	tests := []struct {
		name   string
		says   bool
		always bool
		want   told
	}{
		{name: "knows plans", says: true, want: told{features: []string{"plan"}, plans: 1, batches: 1}},
		{name: "does not say so"},
		{name: "is always asked", says: true, always: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, w := newPlanner(), new(wire)
			p.manifest = manifestOf(func(m *sdk.Manifest) { m.Plan = tt.says })
			h := Start(t, p, Options{Catalogue: ConformanceOptions{}.withDefaults().Catalogue, AskAlways: tt.always, wire: w})
			known := tt.want.plans > 0
			if !until(t.Context(), func() bool { return !known || len(h.Plans()) > 0 }) {
				t.Fatal("no plan")
			}
			for range 3 {
				if text, f := h.Ask(t.Context(), sdk.Request{Provider: "vendor", Model: "model", Stream: true}); f != nil || text != "ok" {
					t.Errorf("%q, %v", text, f)
				}
			}
			if !until(t.Context(), h.Acknowledged) {
				t.Error("not acknowledged")
			}
			if got := h.Planned() > 0; got != known {
				t.Errorf("planned: %t", got)
			}
			kept := len(h.Plans())
			w.end(t.Context(), h)
			if heard := len(h.Plans()) > kept; heard != known {
				t.Errorf("a plan that came was kept: %t", heard)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			got := told{w.features, w.plans, w.batches, w.running}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(told{})); d != "" {
				t.Errorf("frames (-want +got):\n%s", d)
			}
		})
	}
}
