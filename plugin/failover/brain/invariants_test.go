package brain

import (
	"fmt"
	"maps"
	"time"

	"spillway/sdk"
)

// apply lets in happen and checks the rules that hold in every state.
func (w *world) apply(in input) error {
	w.path = append(w.path, in)
	before, held, acted := w.health(), w.held(), permitID{}
	if int(in.run) < len(w.runs) {
		acted = w.runs[in.run].turn.lease.id()
	}
	changes := w.mayChange(in)
	heard, ruled := w.mustCount(in), w.ruled(in)
	r := w.do(in)
	if err := ruled(r); err != nil {
		return err
	}
	if err := heard(); err != nil {
		return err
	}
	if changes != nil {
		after := w.health()
		for i, t := range worldTargets {
			if before[i] != after[i] && !changes(t) {
				return fmt.Errorf("%s changed the health of %s", in, t)
			}
		}
	}
	if r != nil {
		if err := w.sound(r, in); err != nil {
			return err
		}
	}
	return w.permits(held, acted)
}

// mayChange is whose health in may change, nil for everybody's.
func (w *world) mayChange(in input) func(Target) bool {
	pending := map[string]bool{}
	f := in.failure
	var at sdk.Route
	var key string
	switch in.kind {
	case inFail, inSettle, inCommit, inLost, inMovedOn:
		for _, p := range w.runs[in.run].turn.pending { // their charge may come now
			pending[p.route.Provider] = true
		}
		if in.kind == inSettle && f == nil {
			return nil
		}
		at, key = w.runs[in.run].step.Route, w.runs[in.run].step.Key
	case inRefused, inCall, inOrder:
	case inWait, inClear, inSettings:
		return nil
	}
	return func(t Target) bool {
		switch {
		case t.Scope == sdk.ScopeVendor && pending[t.Provider]:
			return true
		case f == nil || f.Scope == sdk.ScopeNone || t.Provider != at.Provider:
			return false
		case f.Cause.Unreachable():
			return t.Scope == sdk.ScopeVendor
		}
		vendor, own, route, limit := t.Scope == sdk.ScopeVendor, t == keyTarget(at.Provider, key), t == routeTarget(at), t == limitTarget(at, key)
		switch f.Code {
		case sdk.CodeQuota:
			return t.Scope == f.Scope && (vendor || own || route)
		case sdk.CodeAuth, sdk.CodeInvalidCredential:
			return vendor || own && f.Scope == sdk.ScopeKey
		case sdk.CodeRateLimit:
			if f.Scope == sdk.ScopeVendor {
				return vendor || own
			}
			return limit || route
		default:
			return route
		}
	}
}

// mustCount prepares the check of a failure on a route: each limit on the first
// content that runs out brings it nearer to its trip, whoever else was waiting, and
// no failure that is older than the last trip makes another one.
func (w *world) mustCount(in input) func() error {
	if in.kind != inFail {
		return func() error { return nil }
	}
	r := w.runs[in.run]
	l, target := r.turn.lease, routeTarget(r.step.Route)
	var before circuit
	if c := w.b.get(target); c != nil {
		before = *c
	}
	return func() error {
		var after circuit
		if c := w.b.get(target); c != nil {
			after = *c
		}
		old := l.epoch < before.tripped
		switch trips := after.ladders[rungTransient].trips - before.ladders[rungTransient].trips; {
		case trips > 1 || trips > 0 && old:
			return fmt.Errorf("%s made %d steps of the ladder of %s", in, trips, target)
		case !silent(in.failure) || old || l.short || l.counted || l.permit != 0:
			return nil
		case after.fails <= before.fails || after.fails >= worldPolicy.FailureThreshold && after.state(w.now) == sdk.CircuitClosed:
			return fmt.Errorf("%s left %s %s with %d failures after %d", in, target, after.state(w.now), after.fails, before.fails)
		}
		return nil
	}
}

// sound checks the step of r that followed in.
func (w *world) sound(r *run, in input) error {
	s, t := &r.step, &r.turn
	perVendor := map[string]int{}
	for _, v := range append([]visit{t.now}, t.gone...) {
		perVendor[v.route.Provider] += v.attempts
	}
	switch b := &t.budget; {
	case t.attempts > b.MaxAttempts, t.routes() > b.MaxRoutes, perVendor["a"] > b.MaxPerVendor, perVendor["b"] > b.MaxPerVendor,
		t.now.onKey-t.now.waits > b.MaxSameTarget, t.now.waits > b.MaxWaits:
		return fmt.Errorf("budget exceeded: %d attempts, %v by vendor, %d routes, %+v", t.attempts, perVendor, t.routes(), t.now)
	}
	if f := in.failure; in.kind == inFail && !s.Stopped() &&
		(f.Code == sdk.CodeInvalidRequest || f.Code == sdk.CodePolicy || f.Code == sdk.CodeAborted) {
		return fmt.Errorf("%s was followed by %s on %s", f.Code, s.Kind, s.Route)
	}
	if s.Stopped() {
		return w.stopped(r)
	}
	if l, ok := parseTag(s.Tag); !ok || l != t.lease {
		return fmt.Errorf("tag %q gives %+v, want %+v", s.Tag, l, t.lease)
	}
	left := t.left(w.now) - s.Delay
	if l := s.Limits; l.FirstContent <= 0 || l.FirstContent > left || l.Connect <= 0 || l.Idle <= 0 || l.Total <= 0 || s.Delay < 0 {
		return fmt.Errorf("limits %+v after %v with %v left", l, s.Delay, left)
	}
	if why := w.b.forbidden(w.now, s.Route, s.Key, true); why != "" {
		return fmt.Errorf("%s#%s was asked although %s", s.Route, s.Key, why)
	}
	for i, target := range targets(s.Route, s.Key) {
		c := w.b.get(target)
		if c == nil {
			continue
		}
		switch state := c.state(w.now); {
		case s.Action == sdk.ActionWait && !c.climbed(): // only a limit, which is waited out
		case s.Kind == sdk.KindRetry && !c.climbed() && c.gate(w.now).left(w.now) <= s.Delay:
		case s.Kind == sdk.KindProbe && t.lease.on[i] && c.permit.id == t.lease.id():
		case state != sdk.CircuitClosed:
			return fmt.Errorf("%s of %s#%s while %s is %s", s.Kind, s.Route, s.Key, target, state)
		}
	}
	return nil
}

func (w *world) stopped(r *run) error {
	s, t := &r.step, &r.turn
	switch {
	case s.Failure == nil:
		return fmt.Errorf("a stop without a failure")
	case !s.RetryAt.IsZero() && s.RetryAt.Before(w.now.Wall):
		return fmt.Errorf("a stop says to come back at %v, it is %v", s.RetryAt, w.now.Wall)
	case s.Reason != nothingLeft:
		return nil
	}
	for _, c := range w.b.candidates(w.now, t) {
		if at, skip := w.b.look(w.now, t, c.route, false); !t.visited(c.route) && skip == "" && at.at >= testable {
			return fmt.Errorf("gave up although %s is %s", c.route, at.at)
		}
	}
	return nil
}

// held is the permits that are out.
func (w *world) held() (ids [len(worldTargets)]permitID) {
	for i, t := range worldTargets {
		if c := w.b.get(t); c.held(w.now) {
			ids[i] = c.permit.id
		}
	}
	return ids
}

// permits checks that a permit is not given out a second time while somebody else
// has it, and that whoever has one is still there. before are those of before the
// last input.
func (w *world) permits(before [len(worldTargets)]permitID, acted permitID) error {
	for i, id := range w.held() {
		if old := before[i]; id.n != 0 && old.n != 0 && id != old && old != acted {
			return fmt.Errorf("the permit of %s was given out twice", worldTargets[i])
		}
		holder := id.n == 0 || id == permitID{n: 1} // nobody, or another process
		for _, r := range w.runs {
			holder = holder || !r.committed && r.turn.lease.id() == id
		}
		if !holder {
			return fmt.Errorf("the permit of %s is lost", worldTargets[i])
		}
	}
	return nil
}

// recover checks that a finite input closes every circuit: all requests go away,
// the order is taken back, time passes, each key of each route answers once.
func (w *world) recover() error {
	for len(w.runs) > 0 {
		in := input{kind: inFail, run: uint8(len(w.runs) - 1), failure: fault(sdk.CodeAborted, nil)}
		if w.runs[in.run].committed {
			in.kind = inSettle
		}
		if err := w.apply(in); err != nil {
			return err
		}
	}
	w.do(input{kind: inOrder})
	w.now = moment(w.now.Mono + 9*24*time.Hour)
	for range 2 {
		for _, head := range worldRoutes {
			for range 2 { // keys
				var t Turn
				s := w.b.Start(w.now, &t, Query{Head: head, Stream: true, Began: w.now.Mono}, worldCat, nil)
				if s.Route != head {
					return fmt.Errorf("%s does not come back: %+v", head, s)
				}
				w.b.Committed(w.now, &t)
				w.b.Settled(w.now, sdk.Outcome{Tag: s.Tag, Route: head, Key: s.Key}, worldCat)
			}
		}
	}
	if left := w.b.Snapshot(w.now); len(left) > 0 {
		return fmt.Errorf("still out: %+v", left)
	}
	return nil
}

// survives checks that a new process which loads what this one has stored decides
// alike.
func (w *world) survives() error {
	now := Instant{Mono: w.now.Mono + time.Hour, Wall: w.now.Wall}
	b := New(now, Policy{})
	b.policy, b.answers = w.b.policy, w.b.answers
	for i := range b.answers {
		b.answers[i].until.mono += time.Hour
	}
	b.spins = maps.Clone(w.b.spins)
	b.SetOrders(now, worldOrders[w.order:w.order+1])
	for _, c := range w.b.order {
		if _, err := b.Load(now, c.target, w.b.Export(c.target)); err != nil {
			return err
		}
	}
	for _, head := range worldRoutes {
		for _, ahead := range [...]time.Duration{0, 30 * time.Second} {
			p := w.b.peek(Instant{Mono: w.now.Mono + ahead, Wall: w.now.Wall.Add(ahead)}, head)
			q := b.peek(Instant{Mono: now.Mono + ahead, Wall: now.Wall.Add(ahead)}, head)
			if p != q {
				return fmt.Errorf("a call of %s after %v: %s, after a restart %s", head, ahead, p, q)
			}
		}
	}
	return nil
}

// peek is what a request would begin with. It changes nothing: the attempt is
// taken back.
func (b *Brain) peek(now Instant, head sdk.Route) string {
	var t Turn
	spins := maps.Clone(b.spins)
	s := b.Start(now, &t, Query{Head: head, Stream: true, Began: now.Mono}, worldCat, nil)
	if s.Stopped() {
		return fmt.Sprintf("stop %s %v %v", s.Failure.Code, s.Skipped, s.RetryAt)
	}
	b.giveBack(now, t.lease, false)
	b.spins = spins
	b.flush(now)
	b.TakeChanged()
	return fmt.Sprintf("%s %s#%s %v", s.Kind, s.Route, s.Key, s.Skipped)
}
