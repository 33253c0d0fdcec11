package upstream

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxTurned bounds the memory of turned-away requests.
const maxTurned = 1 << 14

// turnedAway is when which request was turned away.
type turnedAway struct {
	any atomic.Bool // none yet: the healthy path takes no lock

	mu sync.Mutex
	by map[int]time.Time // number of the request's mark
}

func (t *turnedAway) add(seq int) {
	t.any.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[int]time.Time{}
	}
	if len(t.by) < maxTurned {
		t.by[seq] = time.Now()
	}
}

func (t *turnedAway) at(seq int) (when time.Time, ok bool) {
	if !t.any.Load() {
		return when, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	when, ok = t.by[seq]
	return when, ok
}

func (t *turnedAway) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.any.Store(false)
	t.by = nil
}
