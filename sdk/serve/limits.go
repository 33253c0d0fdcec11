package serve

import (
	"sync"

	"spillway/sdk"
)

// limits are the longest that a plugin has set for attempts that became answers.
// They bound the calls that go on without it: nobody then moves on from a vendor
// that says nothing. The last ones would not do, since a plugin cuts an attempt's
// limits to what is left of its request's time.
type limits struct {
	mu            sync.Mutex
	stream, whole sdk.Limits
}

func (l *limits) of(r *sdk.Request) *sdk.Limits {
	if r.Stream {
		return &l.stream
	}
	return &l.whole
}

// learn takes the limits of an attempt that the plugin has ordered.
func (l *limits) learn(r *sdk.Request) {
	got := &r.Dispatch.Limits
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of(r)
	k.Connect, k.FirstContent = max(k.Connect, got.Connect), max(k.FirstContent, got.FirstContent)
	k.Idle, k.Total = max(k.Idle, got.Idle), max(k.Total, got.Total)
}

// bound is r with the limits that it has not got yet.
func (l *limits) bound(r sdk.Request) sdk.Request {
	l.mu.Lock()
	known := *l.of(&r)
	l.mu.Unlock()
	own := &r.Dispatch.Limits
	if own.Connect == 0 {
		own.Connect = known.Connect
	}
	if own.FirstContent == 0 {
		own.FirstContent = known.FirstContent
	}
	if own.Idle == 0 {
		own.Idle = known.Idle
	}
	if own.Total == 0 {
		own.Total = known.Total
	}
	return r
}
