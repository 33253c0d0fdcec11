package state

import (
	"context"
	"time"
)

// A change that failed for want of time may have been made all the same, or be
// made later: a request may lie in a connection that nobody reads any more. A
// lease that was given so, or not taken back, would keep everybody away until it
// expires. Whoever asked has gone on; the store sees to it behind the calls.
const (
	insistEvery = 500 * time.Millisecond // as often as a Redis is asked where nothing can be heard
	insistFor   = time.Minute            // no request is on its way for longer
	// maxInsisting bounds the leases that are seen to at once; more of them expire.
	maxInsisting = 16
)

// insist calls try until it reports true, for at most limit.
func (s *Store) insist(limit time.Duration, try func(context.Context) bool) {
	select {
	case s.insisting <- struct{}{}:
	default:
		return
	}
	err := s.spawn(context.Background(), func(ctx context.Context) {
		defer func() { <-s.insisting }()
		ctx, cancel := context.WithTimeout(ctx, min(limit, insistFor))
		defer cancel()
		tick := time.NewTicker(insistEvery)
		defer tick.Stop()
		for !try(ctx) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	if err != nil { // closed
		<-s.insisting
	}
}
