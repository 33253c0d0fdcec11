package brain

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"spillway/sdk"
)

// TestEnumerate walks breadth first over the states of two vendors with two
// models each and up to two requests at a time, and checks the rules that hold
// in every state. States that differ only in absolute time and in the size of
// counters are one.
func TestEnumerate(t *testing.T) {
	const limit = 1_500 // states; a few seconds with the race detector
	start := newWorld()
	seen := map[string]bool{start.key(): true}
	queue := []*world{start}
	for n := 0; len(queue) > 0 && n < limit; n++ {
		w := queue[0]
		queue = queue[1:]
		for _, in := range w.inputs() {
			next := w.clone()
			if err := next.apply(in); err != nil {
				t.Fatalf("%v\nafter %s", err, strings.Join(next.path, "; "))
			}
			if k := next.key(); !seen[k] {
				seen[k] = true
				queue = append(queue, next)
			}
		}
		if err := w.clone().recover(); err != nil {
			t.Fatalf("%v\nafter %s", err, strings.Join(w.path, "; "))
		}
	}
	if len(seen) < limit {
		t.Errorf("only %d states, want at least %d", len(seen), limit)
	}
}

// FuzzWalk goes deeper than TestEnumerate, one path at a time: each byte chooses
// one of the inputs that the state allows.
func FuzzWalk(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		walk := make([]byte, 80)
		for i := range walk {
			walk[i] = byte(rnd.UintN(256))
		}
		f.Add(walk)
	}
	f.Fuzz(func(t *testing.T, walk []byte) {
		w := newWorld()
		for _, choice := range walk[:min(len(walk), 200)] {
			inputs := w.inputs()
			if err := w.apply(inputs[int(choice)%len(inputs)]); err != nil {
				t.Fatalf("%v\nafter %s", err, strings.Join(w.path, "; "))
			}
		}
		if err := w.recover(); err != nil {
			t.Fatalf("%v\nafter %s", err, strings.Join(w.path, "; "))
		}
	})
}

// world is a brain with the requests under way.
type world struct {
	b    *Brain
	now  Instant
	runs []run
	path []string
}

type run struct {
	turn      Turn
	step      Step
	since     Instant
	committed bool
}

type input struct {
	name    string
	head    sdk.Route     // begins a request
	wait    time.Duration // moves time
	run     int           // acts on a request
	commit  bool
	failure *sdk.Failure
}

var (
	worldRoutes = []sdk.Route{{Provider: "a", Model: "1"}, {Provider: "a", Model: "2"}, {Provider: "b", Model: "1"}, {Provider: "b", Model: "2"}}
	worldCat    = sdk.Catalogue{Providers: []sdk.Provider{{Name: "a", Keys: []string{"k"}}, {Name: "b", Keys: []string{"l"}}}}
)

func newWorld() *world {
	p := Policy{Priority: worldRoutes, Cooldown: time.Minute, MaxCooldown: 2 * time.Minute, TransientCooldown: 10 * time.Second}
	now := moment(0)
	return &world{b: New(now, p), now: now}
}

func (w *world) clone() *world {
	c := *w
	b := *w.b
	b.circuits, b.order = map[Target]*circuit{}, nil
	for _, x := range w.b.order {
		y := *x
		y.listed, y.unsent = false, false
		b.circuits[y.target] = &y
		b.order = append(b.order, &y)
	}
	b.touched, b.unsent = nil, nil
	c.b = &b
	c.path = slices.Clip(c.path)
	c.runs = slices.Clone(w.runs)
	for i := range c.runs {
		t := &c.runs[i].turn
		t.list, t.gone, t.pending = slices.Clone(t.list), slices.Clone(t.gone), slices.Clone(t.pending)
	}
	return &c
}

func fault(code sdk.Code, set func(*sdk.Failure)) *sdk.Failure {
	f := sdk.NewFailure(code, "", "")
	f.Phase = sdk.PhaseResponse
	if set != nil {
		set(f)
	}
	return f
}

func (w *world) inputs() []input {
	list := []input{{name: "10s", wait: 10 * time.Second}, {name: "2m", wait: 2 * time.Minute}}
	if len(w.runs) < 2 {
		list = append(list, input{name: "call a/1", head: worldRoutes[0]}, input{name: "call b/2", head: worldRoutes[3]})
	}
	for i, r := range w.runs {
		act := func(name string, f *sdk.Failure) {
			list = append(list, input{name: fmt.Sprintf("%s on %s", name, r.step.Route), run: i + 1, failure: f})
		}
		if r.committed {
			act("clean end", nil)
			act("cut", fault(sdk.CodeTransport, func(f *sdk.Failure) { f.Cause, f.Phase = sdk.CauseCut, sdk.PhaseStream }))
		} else {
			list = append(list, input{name: "commit " + r.step.Route.String(), run: i + 1, commit: true})
			act("server", fault(sdk.CodeServer, nil))
			act("timeout", fault(sdk.CodeTimeout, nil))
			act("limit", fault(sdk.CodeRateLimit, nil))
			act("short limit", fault(sdk.CodeRateLimit, func(f *sdk.Failure) { f.RetryAfter = 2 * time.Second }))
			act("quota", fault(sdk.CodeQuota, nil))
			act("ban", fault(sdk.CodeAuth, func(f *sdk.Failure) { f.Scope = sdk.ScopeVendor }))
			act("dns", fault(sdk.CodeTransport, func(f *sdk.Failure) { f.Cause, f.Phase = sdk.CauseDNS, sdk.PhaseTransport }))
			act("bad request", fault(sdk.CodeInvalidRequest, nil))
		}
		act("abort", fault(sdk.CodeAborted, nil))
	}
	return list
}

func (w *world) apply(in input) error {
	w.path = append(w.path, in.name)
	before := w.health()
	// An answer of any kind shows that the network works, for a charge that waits.
	proves := in.run > 0 && len(w.runs[in.run-1].turn.pending) > 0
	switch {
	case in.wait > 0:
		w.now = moment(w.now.Mono + in.wait)
	case in.head != sdk.Route{}:
		w.runs = append(w.runs, run{})
		r := &w.runs[len(w.runs)-1]
		if err := w.take(r, func() Step { return w.b.Start(w.now, &r.turn, Query{Head: in.head}, worldCat, nil) }); err != nil {
			return err
		}
	case in.commit:
		r := &w.runs[in.run-1]
		r.committed = true
		w.b.Committed(w.now, &r.turn)
	case w.runs[in.run-1].committed:
		r := w.runs[in.run-1]
		w.runs = slices.Delete(w.runs, in.run-1, in.run)
		w.b.Settled(w.now, sdk.Outcome{Tag: r.step.Tag, Route: r.step.Route, Failure: in.failure}, worldCat)
	default:
		r := &w.runs[in.run-1]
		at := r.step.Route
		if err := w.take(r, func() Step { return w.b.Failed(w.now, &r.turn, *in.failure, 0.5) }); err != nil {
			return err
		}
		if err := w.contained(at, in.failure, before); err != nil && !proves {
			return err
		}
	}
	if in.failure != nil && in.failure.Class() == sdk.ClassCaller && !proves && !maps.Equal(before, w.health()) {
		return fmt.Errorf("a caller's fault changed %v to %v", before, w.health())
	}
	w.runs = slices.DeleteFunc(w.runs, func(r run) bool { return r.step.Stopped() })
	return w.permits()
}

// take takes a step and checks it.
func (w *world) take(r *run, decide func() Step) error {
	r.step, r.since = decide(), w.now
	s, t := r.step, &r.turn
	if t.attempts > 12 || t.routes() > 4 || t.now.attempts > 2 {
		return fmt.Errorf("budget exceeded: %d attempts, %d routes, %d on %s", t.attempts, t.routes(), t.now.attempts, t.now.route)
	}
	if s.Stopped() {
		if s.Failure == nil {
			return fmt.Errorf("stop without a failure")
		}
		if s.Reason != "nothing left" {
			return nil
		}
		for _, c := range t.candidates() {
			if at := w.b.reach(w.now, c.route); !t.visited(c.route) && t.unfit(c) == "" && at >= testable {
				return fmt.Errorf("gave up although %s is %s", c.route, at)
			}
		}
		return nil
	}
	l, ok := parseTag(s.Tag)
	if !ok || l != t.lease {
		return fmt.Errorf("tag %q gives %+v, want %+v", s.Tag, l, t.lease)
	}
	switch at := w.b.reach(w.now, s.Route); {
	case s.Kind == sdk.KindRetry:
	case s.Kind == sdk.KindProbe && at != busy:
		return fmt.Errorf("a probe of %s left it %s", s.Route, at)
	case s.Kind != sdk.KindProbe && at != open:
		return fmt.Errorf("%s was asked while %s", s.Route, at)
	}
	return nil
}

// contained checks that a route's failure leaves the vendor and its other model
// alone.
func (w *world) contained(at sdk.Route, f *sdk.Failure, before map[Target]circuit) error {
	if f.Scope != sdk.ScopeRoute || f.Cause.Unreachable() {
		return nil
	}
	for target, h := range w.health() {
		if target != routeTarget(at) && target.Provider == at.Provider && h != before[target] && h.code != "" {
			return fmt.Errorf("%s on %s changed %s from %+v to %+v", f.Code, at, target, before[target], h)
		}
	}
	return nil
}

// health is what is known against each target, permits left aside.
func (w *world) health() map[Target]circuit {
	h := make(map[Target]circuit, len(w.b.order))
	for _, c := range w.b.order {
		bare := *c
		bare.permit, bare.before, bare.listed, bare.unsent = permit{}, view{}, false, false
		h[c.target] = bare
	}
	return h
}

// permits checks that each target has at most one permit out, and that whoever
// has it is still there.
func (w *world) permits() error {
	holders := map[Target]int{}
	for _, r := range w.runs {
		l := r.turn.lease
		if r.committed || w.now.Mono-r.since.Mono >= permitLife {
			continue
		}
		if l.onRoute {
			holders[routeTarget(l.route)]++
		}
		if l.onVendor {
			holders[vendorTarget(l.route.Provider)]++
		}
	}
	for _, c := range w.b.order {
		n := holders[c.target]
		if n > 1 || c.held(w.now) != (n == 1) {
			return fmt.Errorf("%s: %d holders of its permit, held %v", c.target, n, c.held(w.now))
		}
	}
	return nil
}

// recover checks that a finite input closes every circuit: all requests go away,
// time passes, each route answers once.
func (w *world) recover() error {
	for len(w.runs) > 0 {
		n := len(w.runs)
		if err := w.apply(input{name: "abort", run: n, failure: fault(sdk.CodeAborted, nil)}); err != nil {
			return err
		}
	}
	w.now = moment(w.now.Mono + 9*24*time.Hour)
	for _, r := range worldRoutes {
		var t Turn
		s := w.b.Start(w.now, &t, Query{Head: r}, worldCat, nil)
		if s.Route != r {
			return fmt.Errorf("%s does not come back: %+v", r, s)
		}
		w.b.Committed(w.now, &t)
		w.b.Settled(w.now, sdk.Outcome{Tag: s.Tag, Route: r}, worldCat)
	}
	if left := w.b.Snapshot(w.now); len(left) > 0 {
		return fmt.Errorf("still out: %+v", left)
	}
	return nil
}

// key is the state without absolute time and with epochs by rank.
func (w *world) key() string {
	epochs := []uint64{w.b.epoch}
	for _, c := range w.b.order {
		epochs = append(epochs, c.counted, c.tripped)
	}
	for _, r := range w.runs {
		epochs = append(epochs, r.turn.lease.epoch)
	}
	slices.Sort(epochs)
	epochs = slices.Compact(epochs)
	rank := func(e uint64) int { n, _ := slices.BinarySearch(epochs, e); return n }
	holder := func(id permitID) int {
		return slices.IndexFunc(w.runs, func(r run) bool { return id.n != 0 && r.turn.lease.id() == id })
	}
	var k bytes.Buffer
	order := slices.Clone(w.b.order)
	slices.SortFunc(order, func(x, y *circuit) int { return strings.Compare(x.target.String(), y.target.String()) })
	for _, c := range order {
		fmt.Fprintf(&k, "%s %d %d %d", c.target, rank(c.counted), rank(c.tripped), c.fails)
		for _, l := range c.ladders {
			fmt.Fprintf(&k, " %d:%v", l.trips, l.until.left(w.now))
		}
		fmt.Fprintf(&k, " %v %v %v %d %v %d\n", c.belief.until.left(w.now), c.belief.retry.left(w.now),
			c.permit.ends.left(w.now), holder(c.permit.id), c.trial.n != 0, holder(c.trial))
	}
	for _, a := range w.b.answers {
		fmt.Fprintf(&k, "%s %v ", a.provider, a.until.left(w.now))
	}
	for _, r := range w.runs {
		t := &r.turn
		fmt.Fprintf(&k, "\n%s %v %v %d %v %v %d", t.query.Head, r.committed, t.now, rank(t.lease.epoch), t.lease.counted, t.gone, len(t.pending))
	}
	return k.String()
}
