package brain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/sdk"
)

// ruled prepares the check that the rules which stand before in say the same as
// Start does, and gives the check of those that stand after it.
func (w *world) ruled(in input) func(r *run) error {
	var rule sdk.Rule
	var stands bool
	var spin uint64
	if in.kind == inCall {
		head := worldRoutes[in.which]
		spin = w.b.spins[head.Provider]
		rule, stands = w.b.Rule(w.now, sdk.RequestClass{Route: head, Stream: true}, false, worldCat)
	}
	return func(r *run) error {
		if stands {
			q := sdk.Request{Provider: r.head.Provider, Model: r.head.Model, Stream: true}
			if err := follows(&rule, &q, spin, r.step); err != nil {
				return err
			}
		}
		for _, head := range worldRoutes {
			_, ok := w.b.Rule(w.now, sdk.RequestClass{Route: head, Stream: true}, false, worldCat)
			var story []Target
			for _, t := range worldTargets {
				if c := w.b.get(t); c != nil && c.story(w.now) && (t.Scope != sdk.ScopeRoute && t.Provider == head.Provider && (t.Model == "" || t.Model == head.Model) || t == routeTarget(head)) {
					story = append(story, t)
				}
			}
			if quiet := len(story) == 0 && w.order == 0; ok != quiet {
				return fmt.Errorf("%s has a rule: %t, with %v against it and order %d", head, ok, story, w.order)
			}
		}
		return nil
	}
}

// follows compares what a rule orders for q with the step that Start decided.
func follows(u *sdk.Rule, q *sdk.Request, spin uint64, s Step) error {
	d, ok := u.Order(q, spin)
	if !ok {
		return nil
	}
	got := Step{Route: q.Route(), Key: d.Key, Kind: d.Kind, Reason: d.Reason, Limits: d.Limits, Tag: d.Tag}
	s.Left = 0
	if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("the rule does not order what Start does (-start +rule)\n%s", diff)
	}
	return nil
}

// TestRuleSaysWhatStartSays with requests of all sizes and policies: where a rule
// orders an attempt, Start decides the same one, with a limit that is not short.
func TestRuleSaysWhatStartSays(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	flip := func() bool { return rnd.IntN(2) == 0 }
	ordered := 0
	for range 20_000 {
		cat := sdk.Catalogue{Providers: []sdk.Provider{
			{Name: "a", Keys: []string{"k1", "k2", "k3"}[:rnd.IntN(4)], Models: []sdk.Model{{ID: "1", Context: rnd.IntN(3) * 100_000, Capabilities: []string{sdk.CapTools, sdk.CapReasoning}}}},
			{Name: "b", Passthrough: flip(), Keys: []string{"l1"}},
		}}
		if cat.Providers[1].Passthrough {
			cat.Providers[1].Keys = nil
		}
		p := Policy{Priority: []sdk.Route{worldRoutes[0], worldRoutes[2]}, Contracts: map[string]*Contract{"c": {Needs: []string{sdk.CapTools}, Egress: []string{"eu"}}}}
		if flip() {
			p.Budget = Budget{FirstContent: time.Duration(rnd.IntN(100)) * time.Second, Deadline: time.Duration(rnd.IntN(300)-100) * time.Second, Reserve: rnd.Float64()}
		}
		now := moment(time.Minute)
		b := New(now, p)
		head := worldRoutes[2*rnd.IntN(2)]
		for range rnd.IntN(3) {
			b.learn(head, time.Duration(rnd.IntN(60))*time.Second)
		}
		if flip() {
			b.remember(now, sdk.ConversationHash("other"), worldRoutes[rnd.IntN(4)])
		}
		r := sdk.Request{
			Provider: head.Provider, Model: head.Model, Stream: flip(), MaxTokens: rnd.IntN(3) * rnd.IntN(30_000),
			Conversation: []string{"", "one", "other"}[rnd.IntN(3)],
			Wants:        sdk.Wants{Budget: []string{"", "agent", "batch"}[rnd.IntN(3)], Contract: []string{"", "", "c"}[rnd.IntN(3)], Strict: flip()},
			Shape:        sdk.Shape{PromptTokens: rnd.IntN(3) * rnd.IntN(500_000), Tools: rnd.IntN(2), Images: rnd.IntN(5) / 4, Reasoning: flip(), ToolResult: flip()},
		}
		if flip() {
			r.Own = map[string]string{"b": "mine"}
		}
		buffer := flip()
		class, _ := sdk.RequestClassOf(&r)
		rule, ok := b.Rule(now, class, buffer, cat)
		if !ok {
			continue
		}
		seen := cat
		seen.Providers = slices.Clone(cat.Providers)
		if seen.Providers[1].Passthrough && r.Own != nil {
			seen.Providers[1].Keys = []string{"mine"}
		}
		q := Query{Head: head, Shape: r.Shape, Wants: r.Wants, Stream: r.Stream, Buffer: buffer, MaxTokens: r.MaxTokens, Conversation: r.Conversation, Began: now.Mono}
		var turn Turn
		step := b.Start(now, &turn, q, seen, nil)
		d, ok := rule.Order(&r, 0)
		if !ok {
			continue
		}
		ordered++
		if turn.lease.short {
			t.Fatalf("the rule orders what has a short limit: %+v for %+v", step, r)
		}
		if route, served := b.talks[sdk.ConversationHash(r.Conversation)]; served && route.route == head {
			step.Limits.FirstContent = d.Limits.FirstContent // the limit of one that is warm is less
		}
		if err := follows(&rule, &r, 0, step); err != nil {
			t.Fatalf("%v\nfor %+v", err, r)
		}
	}
	if ordered < 2000 {
		t.Errorf("only %d attempts were ordered by a rule", ordered)
	}
}

// TestPlannedAttempt: an attempt that a rule has ordered ends, moves on and commits
// as one that Start has decided, in whatever state the brain was.
func TestPlannedAttempt(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	compared := 0
	for range 600 {
		var path []input
		w := newWorld()
		for range rnd.IntN(12) {
			inputs := w.inputs()
			in := inputs[rnd.IntN(len(inputs))]
			path = append(path, in)
			w.do(in)
		}
		head := worldRoutes[rnd.IntN(4)]
		if _, ok := w.b.Rule(w.now, sdk.RequestClass{Route: head, Stream: true}, false, worldCat); !ok {
			continue
		}
		for _, f := range append(ends, fault(sdk.CodePlugin, nil), nil) {
			for _, late := range []bool{false, true} { // the attempt is joined before its end
				compared++
				asked, planned := replay(path), replay(path)
				q := Query{Head: head, Stream: true, Began: w.now.Mono, Conversation: "c", Draw: 0.5}
				rule, _ := planned.b.Rule(w.now, sdk.RequestClass{Route: head, Stream: true}, false, worldCat)
				d, _ := rule.Order(&sdk.Request{Provider: head.Provider, Model: head.Model, Stream: true, Conversation: "c"}, 0)
				attempted := sdk.Attempted{Route: head, Key: d.Key, Kind: d.Kind, Tag: d.Tag, Failure: f, Planned: true}

				var at, pt Turn
				first := asked.b.Start(w.now, &at, q, worldCat, nil)
				var got, want Step
				switch {
				case f == nil && late:
					planned.b.Join(w.now, &pt, q, worldCat, &attempted)
					asked.b.Committed(w.now, &at)
					planned.b.Committed(w.now, &pt)
				case f == nil:
					asked.b.Committed(w.now, &at)
					end := sdk.Outcome{Tag: first.Tag, Route: head, Key: first.Key, Stream: true, Committed: true}
					asked.b.Settled(w.now, end, worldCat)
					end.Tag, end.Key, end.Planned, end.Conversation = d.Tag, d.Key, true, "c"
					planned.b.Settled(w.now, end, worldCat)
					at, pt = Turn{}, Turn{}
				case late:
					want = asked.b.Failed(w.now, &at, *f, 0.5)
					planned.b.Join(w.now, &pt, q, worldCat, &attempted)
					got = planned.b.Failed(w.now, &pt, *f, 0.5)
				default:
					want = asked.b.Failed(w.now, &at, *f, 0.5)
					got = planned.b.Start(w.now, &pt, q, worldCat, []sdk.Attempted{attempted})
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("after %v, %s, joined %t (-asked +planned)\n%s", path, nameOf(f), late, diff)
				}
				asked.runs, planned.runs = []*run{{turn: at, step: want, head: head}}, []*run{{turn: pt, step: got, head: head}}
				if asked.key() != planned.key() {
					t.Fatalf("after %v, %s, joined %t: the brains differ", path, nameOf(f), late)
				}
				if diff := cmp.Diff(asked.b.Snapshot(w.now), planned.b.Snapshot(w.now)); diff != "" {
					t.Fatalf("after %v, %s, joined %t (-asked +planned)\n%s", path, nameOf(f), late, diff)
				}
				if ra, oka := asked.b.last(w.now, &at); f == nil {
					if rp, okp := planned.b.last(w.now, &pt); ra != rp || oka != okp {
						t.Fatalf("conversation of %s, planned: %s", ra, rp)
					}
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d ends compared", compared)
	}
}

// replay is the world after path.
func replay(path []input) *world {
	w := newWorld()
	for _, in := range path {
		w.do(in)
	}
	return w
}

// TestRuleOfToolLoops: a loop goes on where it is, so its class has a rule only
// while no conversation in mind is with another candidate.
func TestRuleOfToolLoops(t *testing.T) {
	now := moment(time.Minute)
	b := New(now, Policy{Priority: []sdk.Route{worldRoutes[0], worldRoutes[2]}})
	rule := func(c sdk.RequestClass) bool {
		c.Route = worldRoutes[0]
		_, ok := b.Rule(now, c, false, worldCat)
		return ok
	}
	loop := sdk.RequestClass{ToolResult: true}
	check := func(what string, want bool) {
		t.Helper()
		if got := rule(loop); got != want {
			t.Errorf("%s: the loop's class has a rule: %t", what, got)
		}
		if !rule(sdk.RequestClass{}) {
			t.Errorf("%s: the plain class has none", what)
		}
	}
	check("nothing in mind", true)
	b.remember(now, 1, worldRoutes[0])
	check("one with the head", true)
	b.remember(now, 2, worldRoutes[3])
	check("one where no loop of the head can be", true)
	b.remember(now, 1, worldRoutes[2])
	check("one with another candidate", false)
	if loop.Wants.Strict = true; !rule(loop) {
		t.Error("a strict loop has no rule, and goes nowhere else")
	}
	loop.Wants.Strict = false
	b.remember(now, 1, worldRoutes[0])
	check("back with the head", true)
	b.remember(now, 1, worldRoutes[2])
	now = moment(time.Minute + talkLife - time.Second)
	check("not yet over", false)
	now = moment(2*time.Minute + talkLife)
	check("over", true)
	for i := range uint64(2 * maxTalks) {
		b.remember(now, 10+i, worldRoutes[0])
	}
	if n := b.served[worldRoutes[0]]; n != maxTalks || len(b.served) != 1 {
		t.Errorf("%d conversations counted, %v", n, b.served)
	}
}

// TestRuleNeedsQuiet: what else takes a class its rule.
func TestRuleNeedsQuiet(t *testing.T) {
	now := moment(time.Minute)
	r := worldRoutes[0]
	own := sdk.Catalogue{Providers: []sdk.Provider{{Name: "a", Passthrough: true}}}
	tests := []struct {
		name  string
		cat   sdk.Catalogue
		class sdk.RequestClass
		set   func(b *Brain)
		want  bool
	}{
		{name: "healthy", cat: worldCat, want: true},
		{name: "unknown provider", want: false},
		{name: "canary", cat: worldCat, set: func(b *Brain) { b.policy.Canary.Share = 0.1 }},
		{name: "an order about something else", cat: worldCat, set: func(b *Brain) {
			b.SetOrders(now, []sdk.Order{{Verb: sdk.VerbDisable, Target: "b"}})
		}},
		{name: "an order that is over", cat: worldCat, want: true, set: func(b *Brain) {
			b.SetOrders(now, []sdk.Order{{Verb: sdk.VerbDisable, Target: "a", Until: now.Wall.Add(-time.Second)}})
		}},
		{name: "contract not kept", cat: worldCat, class: sdk.RequestClass{Wants: sdk.Wants{Contract: "eu"}}, set: func(b *Brain) {
			b.policy.Contracts = map[string]*Contract{"eu": {Egress: []string{"eu"}}}
		}},
		{name: "capability", class: sdk.RequestClass{Images: true}, cat: sdk.Catalogue{Providers: []sdk.Provider{{Name: "a", Models: []sdk.Model{{ID: "1", Capabilities: []string{}}}}}}},
		{name: "another's key", cat: own, set: func(b *Brain) {
			b.apply(now, b.policy, b.circuit(now, keyTarget("a", "theirs")), fault(sdk.CodeAuth, nil), charge{scope: sdk.ScopeKey, rung: rungFatal}, false)
		}},
		{name: "another's limit of another model", cat: own, want: true, set: func(b *Brain) {
			b.apply(now, b.policy, b.circuit(now, limitTarget(worldRoutes[1], "theirs")), fault(sdk.CodeRateLimit, nil), charge{scope: sdk.ScopeKey, limit: true}, false)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := New(now, Policy{})
			if tt.set != nil {
				tt.set(b)
			}
			tt.class.Route = r
			if _, ok := b.Rule(now, tt.class, false, tt.cat); ok != tt.want {
				t.Errorf("it has a rule: %t", ok)
			}
		})
	}
}

// What a rule of a class and a joined turn may allocate: nothing, as long as
// nothing has happened.
const allocsRule = 0

// TestRuleAllocates: the rules of all classes are made again whenever anything
// changes, while every call waits for the brain.
func TestRuleAllocates(t *testing.T) {
	w := newWorld()
	c := sdk.RequestClass{Route: worldRoutes[0], Stream: true, Tools: true}
	rule, ok := w.b.Rule(w.now, c, false, worldCat)
	if !ok {
		t.Fatal("no rule")
	}
	if n := testing.AllocsPerRun(100, func() { w.b.Rule(w.now, c, false, worldCat) }); n > allocsRule {
		t.Errorf("a rule allocates %v times, at most %d", n, allocsRule)
	}
	var turn Turn
	q, a := query(w.now, 0), sdk.Attempted{Route: worldRoutes[0], Key: "k1", Kind: sdk.KindPrimary, Tag: rule.Dispatch.Tag, Planned: true}
	if n := testing.AllocsPerRun(100, func() { w.b.Join(w.now, &turn, q, worldCat, &a) }); n > allocsRule {
		t.Errorf("a joined turn allocates %v times, at most %d", n, allocsRule)
	}
}

// BenchmarkRule is what a class costs whenever a plan is made.
func BenchmarkRule(b *testing.B) {
	w := newWorld()
	c := sdk.RequestClass{Route: worldRoutes[0], Stream: true, Tools: true}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := w.b.Rule(w.now, c, false, worldCat); !ok {
			b.Fatal("no rule")
		}
	}
}

// BenchmarkJoin is what a waiting call costs when its class leaves the plan.
func BenchmarkJoin(b *testing.B) {
	w := newWorld()
	rule, _ := w.b.Rule(w.now, sdk.RequestClass{Route: worldRoutes[0], Stream: true}, false, worldCat)
	var turn Turn
	q, a := query(w.now, 0), sdk.Attempted{Route: worldRoutes[0], Key: "k1", Kind: sdk.KindPrimary, Tag: rule.Dispatch.Tag, Planned: true}
	b.ReportAllocs()
	for b.Loop() {
		w.b.Join(w.now, &turn, q, worldCat, &a)
	}
}
