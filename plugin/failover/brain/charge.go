package brain

import (
	"spillway/sdk"
)

// charge is what a failure does to whom.
type charge struct {
	scope  sdk.Scope // ScopeRoute or ScopeVendor; ScopeNone: nobody is charged
	rung   rung      // the ladder that it climbs
	counts bool      // only from the threshold on
	limit  bool      // no ladder: out for the stated time, else defaultLimit
	proof  bool      // held back until another vendor shows that our own network works
}

// charge judges f, which came from a provider with the given number of keys. A
// failure whose scope says none is nobody's, whatever its code: a limit that the
// deadline had shortened says nothing about the vendor.
func (p *Policy) charge(f *sdk.Failure, keys int) charge {
	class := p.class(f.Code)
	switch {
	case !vendorsFault(class) || f.Scope == sdk.ScopeNone:
		return charge{scope: sdk.ScopeNone}
	case f.Code == sdk.CodeTransport && f.Cause.Unreachable():
		return charge{scope: sdk.ScopeVendor, rung: rungHalt, proof: f.Cause == sdk.CauseDNS || f.Cause == sdk.CauseNoRoute}
	}
	scope := sdk.ScopeRoute
	switch f.Code {
	case sdk.CodeQuota, sdk.CodeAuth, sdk.CodeInvalidCredential:
		scope = blamed(f, keys)
		if f.Code == sdk.CodeQuota && scope == sdk.ScopeVendor && f.Billing {
			return charge{scope: scope, rung: rungHalt}
		}
	case sdk.CodeRateLimit:
		if f.Scope == sdk.ScopeVendor {
			scope = sdk.ScopeVendor
		}
	}
	switch {
	case class == sdk.ClassDeterministic:
		return charge{scope: scope, rung: rungFatal}
	case f.Code == sdk.CodeRateLimit:
		return charge{scope: scope, limit: true}
	default:
		return charge{scope: scope, rung: rungTransient, counts: true}
	}
}

// blamed is whom a failure of money or credentials speaks for. A key's failure
// is the vendor's when there is no other key; a pool of several keys outlives
// one of them, and nobody above the key is charged.
func blamed(f *sdk.Failure, keys int) sdk.Scope {
	scope := f.Scope
	if scope == "" {
		scope = f.Code.Scope()
	}
	if scope != sdk.ScopeKey {
		return scope
	}
	if keys <= 1 {
		return sdk.ScopeVendor
	}
	return sdk.ScopeNone
}

// apply charges f to c. It reports whether the failure was counted towards the
// threshold; again says that this request has already done so.
func (b *Brain) apply(now Instant, p *Policy, c *circuit, f *sdk.Failure, ch charge, again bool) (counted bool) {
	stated := hint(now, f)
	if ch.limit && stated == 0 {
		stated = defaultLimit
	}
	if ch.counts && again && stated == 0 {
		return false
	}
	b.touch(now, c)
	wasClosed := c.state(now) == sdk.CircuitClosed && c.trial.n == 0
	b.epoch++
	c.counted, c.version = b.epoch, b.epoch
	c.code, c.rule = f.Code, f.Rule

	if ch.counts && !again {
		c.fails++
		counted = true
	}
	trips := !ch.limit && (!ch.counts || counted && (c.fails >= p.FailureThreshold || c.climbed()))
	if trips {
		c.ladders[ch.rung].climb(now, p, ch.rung, f.Code == sdk.CodeTimeout)
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
