package host

import (
	"time"

	"spillway/sdk"
)

// LongWait is the longest time to the next attempt that callers are told to wait
// for. Above it some real agents ignore what they are told and ask again at once.
const LongWait = time.Minute

// Retry reads the final failure of a call: wait is the time until something may
// serve, 0 if nobody knows, and should is whether it makes sense to wait for that
// and to ask again. The caller's own faults do not pass by themselves.
func Retry(f *sdk.Failure, now time.Time) (wait time.Duration, should bool) {
	wait = f.RetryAfter
	if !f.ResetAt.IsZero() {
		wait = max(wait, f.ResetAt.Sub(now))
	}
	if f.Class() == sdk.ClassCaller {
		return wait, false
	}
	// A moment that is named may have come by now.
	useful := wait > 0 || !f.ResetAt.IsZero() || f.Class() == sdk.ClassTransient || f.Class() == sdk.ClassLocal
	return wait, useful && wait <= LongWait
}
