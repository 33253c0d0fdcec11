package brain

import (
	"time"

	"spillway/sdk"
)

// rung names the ladders of a target. A vendor climbs the deterministic one and
// the halts, a route the deterministic, the transient and the rate one, a key the
// deterministic one alone.
type rung uint8

const (
	rungFatal rung = iota
	rungTransient
	rungHalt
	rungRate // a halt too, because every key has reached its limit
	rungs
)

// ladder is a cooldown that grows with each trip until a success.
type ladder struct {
	trips int
	until deadline
}

const (
	// A probe of a silent route costs somebody the whole wait for its first
	// content, so it is tried less often than one that fails fast.
	slowCooldown    = time.Minute
	fastCooldownCap = 15 * time.Second

	// maxTrips keeps the count of a target that never recovers in bounds; every
	// cap is reached long before.
	maxTrips = 64
)

// cooldown is how long the trip of a target after the given number of trips
// lasts. slow says that the failure was a timeout.
func (p *Policy) cooldown(scope sdk.Scope, r rung, trips int, slow bool) time.Duration {
	switch {
	case scope == sdk.ScopeKey:
		return double(p.KeyCooldown, trips, max(p.KeyCooldown, p.MaxKeyCooldown))
	case r == rungRate:
		return p.RateHalt
	case r == rungHalt:
		return double(p.HaltCooldown, trips, max(p.HaltCooldown, p.MaxHaltCooldown))
	case r == rungFatal || p.TransientCooldown >= p.Cooldown:
		return double(p.Cooldown, trips, max(p.Cooldown, p.MaxCooldown))
	case slow:
		return double(max(slowCooldown, p.TransientCooldown), trips, p.Cooldown)
	default:
		return double(p.TransientCooldown, trips, min(p.Cooldown, max(fastCooldownCap, p.TransientCooldown)))
	}
}

// climb opens the ladder for its next, longer cooldown.
func (l *ladder) climb(now Instant, p *Policy, scope sdk.Scope, r rung, slow bool) {
	l.until = now.after(p.cooldown(scope, r, l.trips, slow))
	l.trips = min(l.trips+1, maxTrips)
}
