package brain

import (
	"time"

	"spillway/sdk"
)

// stop ends the turn for a cause that no repetition cures.
func (t *Turn) stop(reason string) Step {
	return Step{Action: sdk.ActionStop, Reason: reason, Failure: t.localNetwork()}
}

// giveUp ends the turn because nothing can serve now.
func (b *Brain) giveUp(now Instant, t *Turn, reason string, skipped []sdk.Skip) Step {
	s := t.stop(reason)
	s.Skipped = skipped
	if s.Failure == nil {
		s.Failure = b.outage(now, t.query.Head)
	}
	switch {
	case s.Failure.Code == sdk.CodeLocalNetwork:
		s.RetryAt = now.Wall // our own network may be back at any moment
	case vendorsFault(t.policy.class(s.Failure.Code)):
		s.RetryAt = b.earliest(now, t)
	}
	return s
}

// outage is the failure of a request for which nothing was sent: the cause that
// keeps its head out.
func (b *Brain) outage(now Instant, head sdk.Route) *sdk.Failure {
	for _, target := range [...]Target{vendorTarget(head.Provider), routeTarget(head)} {
		if c := b.circuits[target]; c.state(now) != sdk.CircuitClosed && c.code != "" {
			f := sdk.NewFailure(c.code, "brain.out", target.String()+" is out: "+string(c.code))
			f.Scope = target.Scope
			return f
		}
	}
	return sdk.NewFailure(sdk.CodeTimeout, "brain.budget", "nothing could be tried within the request's budget")
}

// earliest is when the first of the candidates may serve, zero if none ever.
func (b *Brain) earliest(now Instant, t *Turn) time.Time {
	best := time.Duration(-1)
	for _, c := range t.candidates() {
		if t.unfit(c) != "" {
			continue
		}
		left := time.Duration(0)
		for _, target := range [...]Target{routeTarget(c.route), vendorTarget(c.route.Provider)} {
			if x := b.circuits[target]; x.state(now) == sdk.CircuitOpen {
				left = max(left, x.gate(now).left(now))
			}
		}
		if best < 0 || left < best {
			best = left
		}
	}
	if best < 0 {
		return time.Time{}
	}
	return now.Wall.Add(best)
}
