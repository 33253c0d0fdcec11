package state

import (
	"context"
	"sync"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// backend keeps items under whole keys (namespaces are part of the key). Every
// change gets a revision that is higher than any before it, also higher than
// those of a store that was lost: revisions of a new store begin at the Unix
// time in microseconds. An expired item is absent everywhere, at once.
//
// A deleted item stays as a tombstone, an item with Deleted set that expires
// after tombstoneLife, so that watchers in other processes hear of it.
//
// Errors other than sdk.ErrNotFound are the backend's own troubles. Methods are
// safe for concurrent use and obey ctx.
type backend interface {
	// get returns one item, or sdk.ErrNotFound.
	get(ctx context.Context, key string) (sdk.Item, error)
	// scan returns the items under prefix whose revision is above after, in
	// key order, tombstones included.
	scan(ctx context.Context, prefix string, after uint64) ([]sdk.Item, error)
	// update replaces the item at key by what f makes of it, as one atomic
	// step, and returns the new revision. f gets the zero item if there is
	// none, and the revision that its result will have. It sets Data, Expires
	// and Deleted; with an error, which update returns, nothing is changed. f
	// may be called more than once.
	update(ctx context.Context, key string, f updater) (uint64, error)
	// revision returns the latest revision.
	revision(ctx context.Context) (uint64, error)
	// changed returns a channel that is closed after the next change by any
	// process; at once for changes of this one.
	changed() <-chan struct{}
}

type updater func(old sdk.Item, rev uint64) (sdk.Item, error)

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
