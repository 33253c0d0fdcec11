package brain

import (
	"time"

	"spillway/sdk"
)

const (
	maxHint    = 8 * 24 * time.Hour   // longer ones are cut: no vendor's period is longer than a week
	absurdHint = 366 * 24 * time.Hour // beyond it, a unit was mistaken and nothing is known

	// A vendor's moment of return is an upper bound, often a wrong one: when it
	// is far away, somebody looks this long after the last attempt, again and
	// again.
	hintProbe = 30 * time.Minute
)

// hint is the wait that the failure states, 0 if none.
func hint(now Instant, f *sdk.Failure) time.Duration {
	d := f.RetryAfter
	if !f.ResetAt.IsZero() {
		d = max(d, f.ResetAt.Sub(now.Wall))
	}
	if d <= 0 || d > absurdHint {
		return 0
	}
	return min(d, maxHint)
}

// belief is a vendor's word that a target is out until some moment. It stands
// apart from the ladders and ends by time alone.
type belief struct {
	until deadline
	retry deadline // when a probe may look, at most until
}

// extend believes in d from now; a shorter word does not cut a longer one.
func (b *belief) extend(now Instant, d time.Duration) {
	if d > b.until.left(now) {
		b.until = now.after(d)
	}
	b.rest(now)
}

// rest puts off the next look after an attempt that has just failed.
func (b *belief) rest(now Instant) {
	b.retry = b.until
	if b.until.left(now) > hintProbe {
		b.retry = now.after(hintProbe)
	}
}
