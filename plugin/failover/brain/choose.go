package brain

import (
	"time"

	"spillway/sdk"
)

// advance chooses the next candidate. reason is why the request looks for one.
func (b *Brain) advance(now Instant, t *Turn, reason string) Step {
	switch {
	case t.attempts >= t.policy.MaxAttempts:
		return b.giveUp(now, t, "attempt budget", nil)
	case t.routes() >= t.policy.MaxRoutes:
		return b.giveUp(now, t, "route budget", nil)
	case t.late(now, 0):
		return b.giveUp(now, t, "deadline", nil)
	}
	// The healthy path needs no list.
	if head := t.query.Head; t.attempts == 0 && b.reach(now, head) == open {
		return b.send(now, t, head, reason, false)
	}
	var skipped []sdk.Skip
	early, soonest, free := -1, time.Duration(0), false
	list := t.candidates()
	for i, c := range list {
		if t.visited(c.route) {
			continue
		}
		skip := t.unfit(c)
		if skip == "" && t.vendorSpent(c.route.Provider) {
			skip = "vendor budget"
		}
		if skip == "" {
			at := b.reach(now, c.route)
			if at == open || at == testable {
				s := b.send(now, t, c.route, reason, at == testable)
				s.Skipped = skipped
				return s
			}
			skip = at.String()
			if left, ok := b.transientOnly(now, c.route); ok && (early < 0 || left < soonest) {
				early, soonest, free = i, left, at != busy
			}
		}
		skipped = append(skipped, sdk.Skip{Route: c.route, Reason: skip})
	}
	// Everything is out. Blips alone must not make an outage: the route whose
	// blip ends first is tried early, by whoever gets its permit.
	if free {
		s := b.send(now, t, list[early].route, "everything is out", true)
		s.Skipped = without(skipped, s.Route)
		return s
	}
	return b.giveUp(now, t, "nothing left", skipped)
}

// reachability of a route through its own circuit and its vendor's.
type reachability uint8

const (
	shut      reachability = iota // the route's circuit is open
	shutAbove                     // the vendor's is
	busy                          // a probe is under way
	testable                      // a probe may go
	open                          // anybody may
)

func (r reachability) String() string {
	switch r {
	case shut:
		return "circuit open"
	case shutAbove:
		return "vendor out"
	case busy:
		return "probe under way"
	case testable:
		return "half-open"
	case open:
		return "open"
	}
	return "unknown"
}

func (b *Brain) reach(now Instant, r sdk.Route) reachability {
	route, vendor := b.circuits[routeTarget(r)], b.circuits[vendorTarget(r.Provider)]
	rs, vs := route.state(now), vendor.state(now)
	switch {
	case vs == sdk.CircuitOpen:
		return shutAbove
	case route.held(now) || vendor.held(now):
		return busy
	case rs == sdk.CircuitOpen:
		return shut
	case rs == sdk.CircuitHalfOpen || vs == sdk.CircuitHalfOpen:
		return testable
	}
	return open
}

// transientOnly reports whether r is out for a transient trip alone, and for
// how long.
func (b *Brain) transientOnly(now Instant, r sdk.Route) (time.Duration, bool) {
	if b.circuits[vendorTarget(r.Provider)].state(now) == sdk.CircuitOpen {
		return 0, false
	}
	return b.circuits[routeTarget(r)].onlyTransient(now)
}

// send makes the attempt on r, with permits for what it tests.
func (b *Brain) send(now Instant, t *Turn, r sdk.Route, reason string, probe bool) Step {
	s := Step{Reason: reason, Route: r, Kind: sdk.KindPrimary}
	switch {
	case r == t.query.Head:
	case r.Model == t.query.Head.Model:
		s.Kind, s.Action = sdk.KindFailover, sdk.ActionFailover
	default:
		s.Kind, s.Action = sdk.KindFallback, sdk.ActionFallback
	}
	if reason == "head" && r != t.query.Head {
		s.Reason = "head is out"
	}
	t.enter(r)
	t.lease, s.Tag = b.lease(now)
	if probe {
		s.Kind = sdk.KindProbe
		b.permits++
		l := &t.lease
		l.permit, l.route = b.permits, r
		l.onRoute = b.take(now, routeTarget(r), l.id())
		l.onVendor = b.take(now, vendorTarget(r.Provider), l.id())
		s.Tag = l.tag()
	}
	return s
}

// take hands out the permit of t if it is not closed.
func (b *Brain) take(now Instant, t Target, id permitID) bool {
	c := b.circuits[t]
	if c.state(now) == sdk.CircuitClosed {
		return false
	}
	b.touch(now, c)
	c.permit, c.trial = permit{id: id, ends: now.after(permitLife)}, permitID{}
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
