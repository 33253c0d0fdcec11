package host

import (
	"sync"

	"spillway/host/state/record"
)

// maxFinished is how many records a follower may be behind.
const maxFinished = 64

// Follower hears what changes in a runtime. Whoever made it closes it.
type Follower struct {
	// Changed has something after the status may have changed: a plugin has
	// reported, its process has come or gone, the profile was read again.
	Changed <-chan struct{}
	// Finished has the record of each request that ends, and again when a late
	// decision is added to it. A follower that is behind by many misses some.
	Finished <-chan record.Request

	changed  chan struct{}
	finished chan record.Request
	all      *followers
}

// Close ends the following.
func (f *Follower) Close() {
	f.all.mu.Lock()
	defer f.all.mu.Unlock()
	delete(f.all.set, f)
}

// followers are told what happens. None of them holds up whoever tells.
type followers struct {
	mu  sync.RWMutex
	set map[*Follower]bool
}

// Follow begins to follow the runtime.
func (r *Runtime) Follow() *Follower {
	f := &Follower{changed: make(chan struct{}, 1), finished: make(chan record.Request, maxFinished), all: &r.followers}
	f.Changed, f.Finished = f.changed, f.finished
	r.followers.mu.Lock()
	defer r.followers.mu.Unlock()
	if r.followers.set == nil {
		r.followers.set = map[*Follower]bool{}
	}
	r.followers.set[f] = true
	return f
}

// statusChanged says that the status may have changed.
func (f *followers) statusChanged() {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for one := range f.set {
		select {
		case one.changed <- struct{}{}:
		default: // it has yet to look
		}
	}
}

func (f *followers) requestFinished(rec record.Request) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for one := range f.set {
		select {
		case one.finished <- rec:
		default:
		}
	}
}

// finished stores the record of a request that has ended.
func (r *Runtime) finished(rec record.Request) {
	r.store.Records().Put(rec)
	r.followers.requestFinished(rec)
}
