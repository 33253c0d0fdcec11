package brain

import "spillway/sdk"

// Settled takes the end of an attempt whose stream the plugin has returned, as
// the host reports it: at least once, late, or to a later process. The catalogue
// tells how many keys the provider has.
func (b *Brain) Settled(now Instant, o sdk.Outcome, cat sdk.Catalogue) []sdk.Change {
	l, ok := parseTag(o.Tag)
	if !ok {
		return nil
	}
	p, _ := cat.Provider(o.Route.Provider)
	b.end(now, b.policy, l, o.Route, o.Failure, p)
	return b.flush(now)
}

// ended is what became of an attempt's charge.
type ended struct {
	counted bool // it was counted towards the threshold
	pending bool // it waits until another vendor has answered
}

// end judges the end of one attempt on route at: nil is the clean end of an
// answer. A permit comes back whatever the end.
func (b *Brain) end(now Instant, p *Policy, l lease, at sdk.Route, f *sdk.Failure, provider sdk.Provider) ended {
	route, vendor := b.circuits[routeTarget(at)], b.circuits[vendorTarget(at.Provider)]
	speaks := b.giveBack(now, l, false)
	// An attempt that another listener sent elsewhere speaks for that place
	// without a permit.
	routeLate := l.onRoute && l.route == at && !speaks.route
	vendorLate := l.onVendor && l.route.Provider == at.Provider && !speaks.vendor
	if answered(f) {
		b.hear(now, provider)
	}
	if b.slept(now, l) {
		return ended{}
	}
	if f == nil {
		for _, x := range []struct {
			c    *circuit
			late bool
		}{{route, routeLate}, {vendor, vendorLate}} {
			if x.c != nil && !x.late && l.epoch >= x.c.tripped {
				b.heal(now, x.c)
			}
		}
		return ended{}
	}
	ch := p.charge(f, len(provider.Keys))
	var target Target
	switch {
	case ch.scope == sdk.ScopeRoute && !routeLate:
		target = routeTarget(at)
	case ch.scope == sdk.ScopeVendor && !vendorLate:
		target = vendorTarget(at.Provider)
	default:
		return ended{}
	}
	if ch.proof && !provider.Loopback && !b.othersAnswer(now, at.Provider) {
		return ended{pending: true}
	}
	return ended{counted: b.blame(now, p, target, l, f, ch)}
}

// blame applies a charge unless the attempt began before the target's last one.
func (b *Brain) blame(now Instant, p *Policy, t Target, l lease, f *sdk.Failure, ch charge) (counted bool) {
	c := b.circuit(now, t)
	if l.epoch < c.counted {
		return false
	}
	return b.apply(now, p, c, f, ch, l.counted)
}

// spoken tells for which circuits a permit still stands.
type spoken struct{ route, vendor bool }

// giveBack returns the permits of l.
func (b *Brain) giveBack(now Instant, l lease, committed bool) (s spoken) {
	give := func(held bool, t Target) bool {
		c := b.circuits[t]
		if !held || c == nil {
			return false
		}
		if c.permit.id == l.id() {
			b.touch(now, c)
			if committed {
				b.epoch++
				c.version = b.epoch
			}
		}
		return c.giveBack(l.id(), committed)
	}
	s.route = give(l.onRoute, routeTarget(l.route))
	s.vendor = give(l.onVendor, vendorTarget(l.route.Provider))
	return s
}
