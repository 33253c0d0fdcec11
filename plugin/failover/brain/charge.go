package brain

import (
	"spillway/sdk"
)

// charge is what a failure does to whom.
type charge struct {
	scope  sdk.Scope // ScopeNone: nobody is charged
	rung   rung      // the ladder that it climbs
	counts bool      // only from the threshold on
	limit  bool      // no ladder: a key is out for the stated time, else Policy.RateHalt
	whole  bool      // of a limit: of the key, not only of its use of the model
	proof  bool      // held back until another vendor shows that our own network works
}

// charge judges f. A failure whose scope says none is nobody's, whatever its
// code: a limit that the deadline had shortened says nothing about the vendor.
func (p *Policy) charge(f *sdk.Failure) charge {
	class := p.class(f.Code)
	switch {
	case !vendorsFault(class) || f.Scope == sdk.ScopeNone:
		return charge{scope: sdk.ScopeNone}
	case f.Code == sdk.CodeTransport && f.Cause.Unreachable():
		return charge{scope: sdk.ScopeVendor, rung: rungHalt, proof: f.Cause == sdk.CauseDNS || f.Cause == sdk.CauseNoRoute}
	}
	switch f.Code {
	case sdk.CodeQuota, sdk.CodeAuth, sdk.CodeInvalidCredential:
		if class == sdk.ClassTransient {
			break
		}
		scope := speaksFor(f)
		if scope == sdk.ScopeVendor && f.Billing {
			return charge{scope: scope, rung: rungHalt}
		}
		return charge{scope: scope, rung: rungFatal}
	case sdk.CodeRateLimit:
		if class == sdk.ClassTransient {
			return charge{scope: sdk.ScopeKey, limit: true, whole: f.Scope == sdk.ScopeVendor || f.Scope == sdk.ScopeKey}
		}
	}
	if class == sdk.ClassDeterministic {
		return charge{scope: sdk.ScopeRoute, rung: rungFatal}
	}
	return charge{scope: sdk.ScopeRoute, rung: rungTransient, counts: true}
}

// speaksFor is what a failure's evidence names, else its code's default. Money is
// the vendor's matter, unless a key has its own.
func speaksFor(f *sdk.Failure) sdk.Scope {
	switch {
	case f.Code == sdk.CodeQuota && f.Billing && f.Scope != sdk.ScopeKey:
		return sdk.ScopeVendor
	case f.Scope == "":
		return f.Code.Scope()
	}
	return f.Scope
}

// target is the circuit that ch is about. Without a key, what would be a key's
// is the vendor's, and a limit is the route's.
func (ch *charge) target(r sdk.Route, key string) Target {
	switch {
	case ch.scope == sdk.ScopeRoute:
		return routeTarget(r)
	case ch.scope == sdk.ScopeKey && key != keyless:
		if ch.limit && !ch.whole {
			return limitTarget(r, key)
		}
		return keyTarget(r.Provider, key)
	case ch.limit && !ch.whole:
		return routeTarget(r)
	}
	return vendorTarget(r.Provider)
}

// apply charges f to c. It reports whether the failure was counted towards the
// threshold; again says that this request has already done so.
func (b *Brain) apply(now Instant, p *Policy, c *circuit, f *sdk.Failure, ch charge, again bool) (counted bool) {
	stated := hint(now, f)
	if ch.limit && stated == 0 {
		stated = p.RateHalt
	}
	if ch.counts && again && stated == 0 {
		return false
	}
	b.touch(now, c)
	wasClosed := c.state(now) == sdk.CircuitClosed && c.trial.n == 0
	b.epoch++
	c.counted, c.version = b.epoch, b.epoch
	c.code, c.rule, c.noKeyLeft = f.Code, f.Rule, false

	if ch.counts && !again {
		c.fails++
		counted = true
	}
	trips := !ch.limit && (!ch.counts || counted && (c.fails >= p.FailureThreshold || c.climbed()))
	if trips {
		c.ladders[ch.rung].climb(now, p, c.target.Scope, ch.rung, f.Code == sdk.CodeTimeout)
	}
	if stated > 0 {
		c.belief.extend(now, stated)
	} else {
		c.belief.rest(now)
	}
	if !c.gate(now).over(now) {
		c.tripped, c.trial = b.epoch, permitID{}
	}
	if wasClosed && c.state(now) != sdk.CircuitClosed {
		c.since = now.Wall.UnixMilli()
	}
	return counted
}

// exhaust charges the vendor when its last key has just been refused.
func (b *Brain) exhaust(now Instant, policy *Policy, p *sdk.Provider, l lease, f *sdk.Failure) {
	if p.Passthrough || !b.dead(now, p) { // its keys are those of one caller
		return
	}
	if c := b.circuit(now, vendorTarget(p.Name)); c.state(now) != sdk.CircuitOpen && l.epoch >= c.counted {
		b.apply(now, policy, c, f, charge{scope: sdk.ScopeVendor, rung: rungFatal}, false)
		c.noKeyLeft = true
	}
}

// halting is what a request that leaves its target for good because of f halts: a
// model, or its vendor, when every key has reached its limit; else nothing. A halt
// is not prolonged.
func (b *Brain) halting(now Instant, t *Turn, f *sdk.Failure) Target {
	r := t.now.route
	if provider(t.cat, r.Provider).Passthrough {
		return Target{}
	}
	if t.policy.class(f.Code) != sdk.ClassTransient || f.Code != sdk.CodeRateLimit || f.Scope == sdk.ScopeNone || !b.spent(now, provider(t.cat, r.Provider), r) {
		return Target{}
	}
	target := routeTarget(r)
	if f.Scope == sdk.ScopeVendor {
		target = vendorTarget(r.Provider)
	}
	c := b.get(target)
	if c != nil && (!c.ladders[rungRate].until.over(now) || t.now.key != keyless && t.lease.epoch < c.counted) {
		return Target{}
	}
	return target
}

// halt stops the target that t has left because of f, if any.
func (b *Brain) halt(now Instant, t *Turn, target Target, f *sdk.Failure) {
	if target == (Target{}) {
		return
	}
	c := b.circuit(now, target)
	b.touch(now, c)
	wasClosed := c.state(now) == sdk.CircuitClosed
	b.epoch++
	c.counted, c.tripped, c.version = b.epoch, b.epoch, b.epoch
	c.code, c.rule, c.trial, c.noKeyLeft = f.Code, f.Rule, permitID{}, false
	c.ladders[rungRate].climb(now, t.policy, target.Scope, rungRate, false)
	if wasClosed {
		c.since = now.Wall.UnixMilli()
	}
}
