package state

import (
	"context"
	"sync"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// backend keeps items under whole keys (namespaces are part of the key). Every
// put and removal gets a revision that is higher than any before it, also higher
// than those of a store that was lost: revisions of a new store begin at the
// Unix time in microseconds. An expired item is absent everywhere, at once.
//
// A removed item stays as a tombstone, an item with Deleted set that expires
// after tombstoneLife, so that watchers in other processes hear of it.
//
// Errors other than those of sdk are the backend's own troubles. Methods are
// safe for concurrent use and obey ctx.
type backend interface {
	// get returns one item, or sdk.ErrNotFound.
	get(ctx context.Context, key string) (sdk.Item, error)
	// list returns the items under prefix, in key order.
	list(ctx context.Context, prefix string) ([]sdk.Item, error)
	// since returns the items under prefix whose revision is above after,
	// tombstones included, in order of revisions, and the revision up to which
	// these are all.
	since(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error)
	// update makes one change of the item at key, as one atomic step, and
	// returns the item's revision then. The error is sdk.ErrConflict if the
	// change's condition does not hold, sdk.ErrNotFound if there is nothing to
	// extend or remove.
	update(ctx context.Context, key string, c change) (uint64, error)
	// revision returns the latest revision, 0 if there was never a change.
	revision(ctx context.Context) (uint64, error)
	// changed returns a channel that is closed after the next put or removal of
	// an item by any process, no lease; at once for those of this one.
	changed() <-chan struct{}
}

// change is what update does.
type change struct {
	verb verb
	only bool          // only if the item is at revision at, 0: is absent
	at   uint64        // for only
	data []byte        // for put
	ttl  time.Duration // for put and extend: time to live from now, 0: for ever
}

type verb uint8

const (
	put    verb = iota // a new revision of the item
	extend             // a new end of the same revision; nobody hears of it
	remove             // a tombstone
)

func (v verb) String() string {
	switch v {
	case put:
		return "put"
	case extend:
		return "extend"
	case remove:
		return "remove"
	}
	return "unknown"
}

// apply returns what c makes of old, the zero item if there is none. Rev is the
// revision of a new one.
func (c change) apply(old sdk.Item, rev uint64) (sdk.Item, error) {
	if c.only && old.Revision != c.at {
		return sdk.Item{}, sdk.ErrConflict
	}
	if c.verb != put && old.Revision == 0 {
		return sdk.Item{}, sdk.ErrNotFound
	}
	switch c.verb {
	case extend:
		old.Expires = expiry(c.ttl)
		return old, nil
	case remove:
		return sdk.Item{Revision: rev, Deleted: true, Expires: expiry(tombstoneLife)}, nil
	}
	return sdk.Item{Revision: rev, Data: c.data, Expires: expiry(c.ttl)}, nil
}

// expiry returns the moment ttl from now, rounded up to what backends store; the
// zero time for 0.
func expiry(ttl time.Duration) time.Time {
	if ttl == 0 {
		return time.Time{}
	}
	const unit = time.Millisecond
	return time.Now().Add(ttl + unit - 1).Truncate(unit)
}

// newest is the later one of the last item's revision and another.
func newest(items []sdk.Item, rev uint64) uint64 {
	if n := len(items); n > 0 {
		return max(rev, items[n-1].Revision)
	}
	return rev
}

// tombstoneLife is how long a deletion can be heard of by a watcher whose
// store was out of reach.
const tombstoneLife = 10 * time.Minute

// journal keeps records.
type journal interface {
	// putRecords stores all entries or none; an id that is there is replaced.
	putRecords(ctx context.Context, entries []entry) error
	// record returns one record, or sdk.ErrNotFound.
	record(ctx context.Context, id string) ([]byte, error)
	// records returns the newest records that f selects, newest first.
	records(ctx context.Context, f Filter, limit int) ([][]byte, error)
	// trimRecords removes at most limit of the records that began before
	// oldest or are not among the newest keep, and returns how many.
	trimRecords(ctx context.Context, keep int, oldest time.Time, limit int) (int, error)
}

// entry is a record on its way into a journal: JSON, and what is selected by.
type entry struct {
	id           string
	started      time.Time
	outcome      record.Outcome
	head         string
	conversation string
	data         []byte
}

// signal tells any number of listeners that something has changed.
type signal struct {
	mu sync.Mutex
	ch chan struct{} // made by the first listener since the last fire
}

// next returns a channel that the next fire closes.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}
