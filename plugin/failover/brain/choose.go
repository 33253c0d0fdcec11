package brain

import (
	"time"

	"spillway/sdk"
)

// nothingLeft is why most requests that fail have failed.
const nothingLeft = "nothing left"

// advance chooses the next candidate. reason is why the request looks for one.
func (b *Brain) advance(now Instant, t *Turn, reason string) Step {
	switch {
	case t.attempts >= t.budget.MaxAttempts:
		return b.giveUp(now, t, "attempt budget", nil)
	case t.routes() >= t.budget.MaxRoutes:
		return b.giveUp(now, t, "route budget", nil)
	case t.late(now, 0):
		return b.giveUp(now, t, "deadline", nil)
	}
	head := t.query.Head
	if t.attempts == 0 {
		// A tool loop stays where it is while that works.
		if r, ok := b.loop(now, t); ok {
			if w, skip := b.look(now, t, r, true); skip == "" && w.at >= testable && b.above(now, provider(t.cat, r.Provider), r) == open {
				if r != head {
					reason = "tool loop"
				}
				return b.send(now, t, r, w, reason)
			}
		}
		// The healthy path needs no list.
		if w, skip := b.look(now, t, head, false); skip == "" && w.at == open {
			return b.send(now, t, head, w, reason)
		}
	}
	var skipped []sdk.Skip
	early, soonest, earlyWay := -1, time.Duration(0), way{}
	list := b.candidates(now, t)
	for i, c := range list {
		if t.visited(c.route) {
			continue
		}
		w, skip := way{}, c.reason
		if skip == "" {
			w, skip = b.look(now, t, c.route, false)
		}
		if skip == "" {
			if w.at >= testable {
				s := b.send(now, t, c.route, w, reason)
				s.Skipped = skipped
				return s
			}
			skip = w.at.String()
			if left, key, ok := b.transientOnly(now, t, c.route); ok && (early < 0 || left < soonest) {
				early, soonest, earlyWay = i, left, way{at: testable, key: key}
				if w.at == busy {
					earlyWay.at = busy
				}
			}
		}
		skipped = append(skipped, sdk.Skip{Route: c.route, Reason: skip})
	}
	// Everything is out. Blips alone must not make an outage: the route whose
	// blip ends first is tried early, by whoever gets its permit.
	if early >= 0 && earlyWay.at != busy {
		s := b.send(now, t, list[early].route, earlyWay, "everything is out")
		s.Skipped = without(skipped, s.Route)
		return s
	}
	return b.giveUp(now, t, nothingLeft, skipped)
}

// look tells how t may use r, or why it may not whatever the circuits say. goesOn
// says that r serves the loop that the request is part of.
func (b *Brain) look(now Instant, t *Turn, r sdk.Route, goesOn bool) (way, string) {
	p := provider(t.cat, r.Provider)
	if skip := t.unfit(p, r); skip != "" {
		return way{}, skip
	}
	if skip := t.narrowed(p); skip != "" {
		return way{}, skip
	}
	if len(b.orders) > 0 {
		if skip := b.forbidden(now, r, "", goesOn); skip != "" {
			return way{}, skip
		}
	}
	return b.way(now, t, p, r, nil, goesOn), ""
}

// loop is the route that serves the tool loop which the request continues.
func (b *Brain) loop(now Instant, t *Turn) (sdk.Route, bool) {
	if !t.query.Shape.ToolResult {
		return sdk.Route{}, false
	}
	r, ok := b.last(now, t)
	switch {
	case !ok:
		return r, false
	case r == t.query.Head: // it needs no list
		return r, true
	case t.query.Wants.Strict:
		return r, false
	}
	return r, contains(b.candidates(now, t), r)
}

// transientOnly reports whether r is out for a transient trip alone, for how
// long, and with which key it may be tried all the same.
func (b *Brain) transientOnly(now Instant, t *Turn, r sdk.Route) (time.Duration, string, bool) {
	p := provider(t.cat, r.Provider)
	if b.above(now, p, r) == shutAbove {
		return 0, "", false
	}
	left, ok := b.get(routeTarget(r)).onlyTransient(now)
	if !ok || len(p.Keys) == 0 {
		return left, keyless, ok
	}
	w := b.pick(now, t, p, r, nil, false)
	return left, w.key, w.at >= testable
}

// send makes the attempt on r, with permits for what it tests.
func (b *Brain) send(now Instant, t *Turn, r sdk.Route, w way, reason string) Step {
	head := t.query.Head
	s := Step{Reason: reason, Kind: sdk.KindPrimary}
	switch {
	case r == head:
	case r.Model == head.Model:
		s.Kind, s.Action = sdk.KindFailover, sdk.ActionFailover
	default:
		s.Kind, s.Action = sdk.KindFallback, sdk.ActionFallback
	}
	if reason == "head" && r != head {
		s.Reason = "head is out"
	}
	if t.canary && r != head {
		s.Reason += " (canary)"
	}
	t.enter(r, w.key)
	if t.conversation == 0 && w.key != keyless {
		b.spins[r.Provider]++
	}
	return b.dispatch(now, t, s, 0, w.at != open)
}

// dispatch completes the step of an attempt on the turn's present target.
func (b *Brain) dispatch(now Instant, t *Turn, s Step, delay time.Duration, probe bool) Step {
	r, key := t.now.route, t.now.key
	s.Route, s.Key, s.Delay, s.Left = r, key, delay, t.told(now)
	var short bool
	s.Limits, short = b.limits(now, t, r, delay)
	l, tag := b.lease(now)
	if !probe && !short && !t.now.counted {
		t.lease, s.Tag = l, tag
		return s
	}
	l.short, l.counted = short, t.now.counted
	if probe {
		s.Kind = sdk.KindProbe
		b.permits++
		l.permit, l.route, l.key = b.permits, r, key
		ends := now.after(delay + s.Limits.FirstContent + permitGrace)
		for i, target := range l.targets() {
			if target.Provider != "" && b.take(now, target, l.id(), ends) {
				l.on[i] = true
				if s.Tested == (Target{}) || target.covers(s.Tested) {
					s.Tested = target
				}
			}
		}
	}
	t.lease, s.Tag = l, l.tag()
	return s
}

// permitGrace is how much longer a permit lasts than its attempt may take to
// show content. It ends the permit of a holder that vanished with everything
// that knew of it.
const permitGrace = 10 * time.Second

// take hands out the permit of t if it is not closed.
func (b *Brain) take(now Instant, t Target, id permitID, ends deadline) bool {
	c := b.get(t)
	if c.state(now) == sdk.CircuitClosed {
		return false
	}
	b.touch(now, c)
	c.permit, c.trial = permit{id: id, ends: ends}, permitID{}
	return true
}

func without(skips []sdk.Skip, r sdk.Route) []sdk.Skip {
	kept := skips[:0]
	for _, s := range skips {
		if s.Route != r {
			kept = append(kept, s)
		}
	}
	return kept
}
