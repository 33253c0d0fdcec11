package host

import (
	"context"
	"sync"
)

// traffic counts the calls that run on a graph.
type traffic struct {
	mu        sync.Mutex
	opening   int           // calls that have not been through the whole chain yet
	undecided int           // calls of which nothing visible has come yet
	changed   chan struct{} // closed when a count changes; nil while nobody waits
}

func (t *traffic) enter()   { t.add(1, 1) }
func (t *traffic) opened()  { t.add(-1, 0) }
func (t *traffic) decided() { t.add(0, -1) }

func (t *traffic) add(opening, undecided int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening += opening
	t.undecided += undecided
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// allOpened returns when every call has been through the chain, or ctx ends.
func (t *traffic) allOpened(ctx context.Context) {
	t.wait(ctx, func() bool { return t.opening == 0 })
}

// allDecided returns when every call is decided, or ctx ends.
func (t *traffic) allDecided(ctx context.Context) {
	t.wait(ctx, func() bool { return t.undecided == 0 })
}

func (t *traffic) wait(ctx context.Context, done func() bool) {
	for {
		t.mu.Lock()
		if done() {
			t.mu.Unlock()
			return
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
