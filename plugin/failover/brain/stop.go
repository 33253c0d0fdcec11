package brain

import (
	"fmt"
	"strings"
	"time"

	"spillway/sdk"
)

// stop ends the turn.
func (b *Brain) stop(now Instant, t *Turn, reason string) Step {
	s := Step{Action: sdk.ActionStop, Reason: reason, Failure: t.localNetwork(), Left: t.told(now)}
	s.RetryAt = b.retryAt(now, t, s.Failure)
	return s
}

// retryAt is when a repetition of the request may help whose failure is f, zero if
// none can.
func (b *Brain) retryAt(now Instant, t *Turn, f *sdk.Failure) time.Time {
	switch t.policy.class(f.Code) {
	case sdk.ClassLocal:
		return now.Wall // what is wrong is on this machine, and may be over at any moment
	case sdk.ClassDeterministic, sdk.ClassTransient:
		return b.earliest(now, t)
	case sdk.ClassCaller:
	}
	return time.Time{}
}

// giveUp ends the turn because nothing can serve now.
func (b *Brain) giveUp(now Instant, t *Turn, reason string, skipped []sdk.Skip) Step {
	if t.first == nil {
		if t.first = b.incapable(now, t); t.first != nil {
			reason = "nobody can"
		} else {
			t.first = b.outage(now, t, reason)
		}
	}
	s := b.stop(now, t, reason)
	s.Skipped = skipped
	return s
}

// incapable is the failure of a request that no candidate could ever serve, nil
// if one could. Where nothing but larger windows are wanting it is the failure
// that agents shorten their conversation for.
func (b *Brain) incapable(now Instant, t *Turn) *sdk.Failure {
	lack, shorter := "", true
	for _, c := range b.candidates(now, t) {
		if c.reason != "" {
			continue
		}
		why := t.unfit(provider(t.cat, c.route.Provider), c.route)
		if why == "" {
			return nil
		}
		if lack != "" {
			lack += "; "
		}
		lack += fmt.Sprintf("%s: %s", c.route, why)
		shorter = shorter && strings.HasPrefix(why, tooSmall)
	}
	if lack == "" {
		return nil
	}
	if shorter {
		return sdk.NewFailure(sdk.CodeContextWindow, "brain.capability", "the prompt is too long: no candidate can serve this request: "+lack)
	}
	return sdk.NewFailure(sdk.CodeInvalidRequest, "brain.capability", "no candidate can serve this request: "+lack)
}

// outage is the failure of a request for which nothing was sent: the cause that
// keeps out the first route that could serve.
func (b *Brain) outage(now Instant, t *Turn, reason string) *sdk.Failure {
	for _, c := range b.candidates(now, t) {
		p := provider(t.cat, c.route.Provider)
		if reason != nothingLeft || c.reason != "" || t.unfit(p, c.route) != "" {
			continue
		}
		if f := b.against(now, p, c.route); f != nil {
			return f
		}
	}
	return sdk.NewFailure(sdk.CodeTimeout, "brain.budget", "nothing could be tried within the request's budget")
}

// against is what keeps r, a route of p, out.
func (b *Brain) against(now Instant, p *sdk.Provider, r sdk.Route) *sdk.Failure {
	out := func(target Target) *sdk.Failure {
		c := b.get(target)
		if c.state(now) == sdk.CircuitClosed || c.code == "" {
			return nil
		}
		f := sdk.NewFailure(c.code, "brain.out", target.String()+" is out: "+string(c.code))
		f.Scope = target.Scope
		return f
	}
	ordered := b.forbidden(now, r, "", false)
	if ordered == "" {
		for _, target := range [...]Target{vendorTarget(r.Provider), routeTarget(r)} {
			if f := out(target); f != nil {
				return f
			}
		}
		for _, key := range p.Keys {
			if why := b.forbidden(now, r, key, false); why != "" {
				ordered = why
				continue
			}
			for _, target := range [...]Target{keyTarget(r.Provider, key), limitTarget(r, key)} {
				if f := out(target); f != nil {
					return f
				}
			}
		}
	}
	if ordered == "" {
		return nil
	}
	f := sdk.NewFailure(sdk.CodeModelUnavailable, "brain.order", fmt.Sprintf("%s is %s by a person's order", r, ordered))
	f.Scope = sdk.ScopeNone
	return f
}

// earliest is when the first of the candidates may serve, zero if none ever.
func (b *Brain) earliest(now Instant, t *Turn) time.Time {
	best := time.Duration(-1)
	for _, c := range b.candidates(now, t) {
		p := provider(t.cat, c.route.Provider)
		if c.reason != "" || t.unfit(p, c.route) != "" || t.unreachable(p.Name) {
			continue
		}
		if left := b.closed(now, p, c.route); left >= 0 && (best < 0 || left < best) {
			best = left
		}
	}
	if best < 0 {
		return time.Time{}
	}
	return now.Wall.Add(best)
}

// closed is for how long r, a route of p, admits nobody; negative if a person
// keeps it out.
func (b *Brain) closed(now Instant, p *sdk.Provider, r sdk.Route) time.Duration {
	if b.forbidden(now, r, "", false) != "" {
		return -1
	}
	left := b.get(routeTarget(r)).shut(now)
	if v := b.vendors[p.Name]; v != nil && v.state(now, p) == sdk.CircuitOpen {
		left = max(left, v.own.shut(now))
	}
	soonest := time.Duration(-1)
	for _, key := range p.Keys {
		if b.forbidden(now, r, key, false) != "" {
			continue
		}
		k := max(b.get(keyTarget(p.Name, key)).shut(now), b.get(limitTarget(r, key)).shut(now))
		if soonest < 0 || k < soonest {
			soonest = k
		}
	}
	if soonest < 0 && len(p.Keys) > 0 {
		return -1
	}
	return max(left, soonest)
}

// shut is for how long c admits nobody.
func (c *circuit) shut(now Instant) time.Duration {
	if c.state(now) != sdk.CircuitOpen {
		return 0
	}
	return c.gate(now).left(now)
}
