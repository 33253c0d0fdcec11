package brain

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"spillway/sdk"
)

var (
	modelPriority = []sdk.Route{{Provider: "a", Model: "1"}, {Provider: "b", Model: "1"}, {Provider: "a", Model: "2"}, {Provider: "c", Model: "2"}, {Provider: "b", Model: "3"}}
	modelHeads    = append([]sdk.Route{{Provider: "c", Model: "1"}, {Provider: "d", Model: "4"}}, modelPriority...)
	modelCat      = sdk.Catalogue{Providers: []sdk.Provider{
		{Name: "a", Keys: []string{"k1", "k2"}}, {Name: "b"}, {Name: "c", Keys: []string{"m1"}}, {Name: "d", Keys: []string{"n1", "n2", "n3"}},
	}}
	modelSteps = []time.Duration{time.Millisecond, time.Second, 5 * time.Second, 21 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 31 * time.Minute, 2 * time.Hour}
)

// pair is a request as the brain and the model see it.
type pair struct {
	turn      *Turn
	step      Step
	a         *attempt
	committed bool
}

// FuzzModel drives the brain and the model with the same events and compares whom
// they try and how they say that each target stands. A byte chooses what happens,
// the next one to which request.
func FuzzModel(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		walk := make([]byte, 160)
		for i := range walk {
			walk[i] = byte(rnd.UintN(256))
		}
		f.Add(walk)
	}
	f.Fuzz(func(t *testing.T, walk []byte) {
		d := newDuel()
		for i := 0; i+1 < min(len(walk), 400); i += 2 {
			if err := d.step(int(walk[i]), int(walk[i+1])); err != nil {
				t.Fatalf("%v\nafter %q", err, d.path)
			}
		}
	})
}

type duel struct {
	b     *Brain
	m     *oracle
	now   Instant
	pairs []*pair
	path  []string
}

func newDuel() *duel {
	now := moment(0)
	p := Policy{Priority: modelPriority, Budget: Budget{MaxSameTarget: 1, Deadline: -1}}
	b := New(now, p)
	b.SetOrders(now, []sdk.Order{{Verb: sdk.VerbDisable, Target: policyPrefix + PolicyWait}})
	return &duel{b: b, m: &oracle{priority: modelPriority, cat: modelCat}, now: now}
}

// say notes what happens.
func (d *duel) say(format string, args ...any) { d.path = append(d.path, fmt.Sprintf(format, args...)) }

func (d *duel) step(what, which int) error {
	switch {
	case what < 40:
		d.now = moment(d.now.Mono + modelSteps[which%len(modelSteps)])
		d.say("%v", d.now.Mono)
	case len(d.pairs) == 0 || what < 90 && len(d.pairs) < 4:
		head := modelHeads[which%len(modelHeads)]
		d.say("call %s", head)
		p := &pair{turn: &Turn{}}
		d.pairs = append(d.pairs, p)
		p.step = d.b.Start(d.now, p.turn, Query{Head: head, Stream: true, Began: d.now.Mono}, modelCat, nil)
		if err := d.same(p, d.m.next(&request{head: head}, d.now.Mono)); err != nil {
			return err
		}
	default:
		n := which % len(d.pairs)
		if err := d.happens(d.pairs[n], what, which); err != nil {
			return err
		}
	}
	return d.standings()
}

// happens lets the attempt of p go on or end.
func (d *duel) happens(p *pair, what, which int) error {
	f := ends[what%len(ends)]
	if f.Cause == sdk.CauseDNS || p.committed && silent(f) {
		f = nil
	}
	switch {
	case f == nil && !p.committed:
		d.say("%s commits", p.step.Route)
		p.committed = true
		d.b.Committed(d.now, p.turn)
		d.m.history = append(d.m.history, happening{d.now.Mono, hCommit, p.a, nil})
		return nil
	case p.committed && which%3 > 0:
		d.say("%s#%s ends well", p.step.Route, p.step.Key)
		d.drop(p)
		d.b.Settled(d.now, sdk.Outcome{Tag: p.step.Tag, Route: p.step.Route, Key: p.step.Key}, modelCat)
		d.m.history = append(d.m.history, happening{d.now.Mono, hOK, p.a, nil})
		return nil
	case f == nil:
		return nil
	}
	d.say("%s#%s: %s", p.step.Route, p.step.Key, nameOf(f))
	if p.committed {
		d.drop(p)
		d.b.Settled(d.now, sdk.Outcome{Tag: p.step.Tag, Route: p.step.Route, Key: p.step.Key, Failure: f}, modelCat)
		d.m.history = append(d.m.history, happening{d.now.Mono, hFail, p.a, f})
		return nil
	}
	p.step = d.b.Failed(d.now, p.turn, *f, 0.5)
	return d.same(p, d.m.failed(p.a, f, d.now.Mono))
}

func (d *duel) drop(p *pair) {
	for i := range d.pairs {
		if d.pairs[i] == p {
			d.pairs = append(d.pairs[:i:i], d.pairs[i+1:]...)
			return
		}
	}
}

// same checks that the brain's step is the model's attempt, and begins it.
func (d *duel) same(p *pair, a *attempt) error {
	if p.step.Stopped() || a == nil {
		d.drop(p)
		if !p.step.Stopped() || a != nil {
			return fmt.Errorf("the brain says %s#%s %s (%s), the model %+v", p.step.Route, p.step.Key, p.step.Action, p.step.Reason, a)
		}
		return nil
	}
	if probe := p.step.Kind == sdk.KindProbe; p.step.Route != a.route || p.step.Key != a.key || probe != (len(a.tests) > 0) {
		return fmt.Errorf("the brain says %s of %s#%s, the model %s#%s with the permits of %v", p.step.Kind, p.step.Route, p.step.Key, a.route, a.key, a.tests)
	}
	p.a = a
	a.request.attempts = append(a.request.attempts, a)
	d.m.history = append(d.m.history, happening{d.now.Mono, hBegin, a, nil})
	return nil
}

// standings compares how each target stands.
func (d *duel) standings() error {
	all := d.m.account()
	for _, c := range d.b.order {
		if all[c.target] == nil {
			all[c.target] = &standing{}
		}
	}
	for t, s := range all {
		got, want := view{state: sdk.CircuitClosed}, view{state: s.state(d.now.Mono)}
		if c := d.b.get(t); c != nil {
			got = c.view(d.now)
		}
		if want.state == sdk.CircuitOpen {
			want.until = epochStart.Add(s.gate())
		}
		if got.state != want.state || !got.until.Equal(want.until) {
			return fmt.Errorf("the brain says %s is %s until %v, the model %s until %v", t, got.state, got.until, want.state, want.until)
		}
	}
	return nil
}
