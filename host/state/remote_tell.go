package state

import (
	"context"
	"time"
)

const (
	// tellAfter is longer than the moment in lua/update.lua, and leaves the rest of a
	// second for the way there.
	tellAfter = 250 * time.Millisecond
	tellTries = 5
)

// tellSoon tells of the changes up to a revision, a moment later and behind the
// calls.
func (r *remote) tellSoon(rev uint64) {
	r.untold.Store(rev)
	select {
	case r.telling <- struct{}{}:
	default:
	}
}

// tell tells of changes until ctx ends. A server that cannot be told is asked by
// everybody once it is back.
func (r *remote) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.telling:
		}
		wait := tellAfter
		for range tellTries {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if r.scripts.tell.Run(ctx, r.client, r.keys, r.untold.Load(), r.channel).Err() == nil {
				break
			}
			wait = listenRetry
		}
	}
}
