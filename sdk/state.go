package sdk

import (
	"context"
	"errors"
	"time"
)

// State is a small key-value store, shared by every process that runs the same
// profile. Keys are the plugin's own: the host puts them into a namespace. A
// store that cannot be reached returns ErrUnavailable soon rather than late;
// nothing that serves a request should wait for it.
type State interface {
	// Get returns ErrNotFound for a key that is absent or expired.
	Get(ctx context.Context, key string) (Item, error)
	// Put writes data, at most MaxStateValue bytes, for ttl (0: for ever), and
	// returns the new revision.
	Put(ctx context.Context, key string, data []byte, ttl time.Duration) (uint64, error)
	// CompareAndSwap writes only if the key is still at revision rev (0: is
	// absent); otherwise it returns ErrConflict.
	CompareAndSwap(ctx context.Context, key string, rev uint64, data []byte, ttl time.Duration) (uint64, error)
	// Delete removes a key. Removing an absent one is no error.
	Delete(ctx context.Context, key string) error
	// List returns the items whose key begins with prefix, in key order.
	List(ctx context.Context, prefix string) ([]Item, error)
	// Watch returns once it watches; from then on f is called for each change
	// of a key that begins with prefix, from one goroutine, until ctx ends.
	// Changes in quick succession may be given as the last one only. To miss
	// nothing, watch first and list then.
	Watch(ctx context.Context, prefix string, f func(Item)) error
	// Acquire takes a lease, or returns ErrHeld. It ends after ttl unless it is
	// renewed, and with the plugin's session.
	Acquire(ctx context.Context, name string, ttl time.Duration) (Lease, error)
	// Renew extends a lease; ErrConflict if it was lost.
	Renew(ctx context.Context, l Lease, ttl time.Duration) error
	// Release gives a lease back. Releasing one that was lost is no error.
	Release(ctx context.Context, l Lease) error
}

// MaxStateValue bounds one stored value, in bytes.
const MaxStateValue = 16 << 10

// Item is one stored value. A Deleted item arrives only through Watch.
type Item struct {
	Key      string
	Data     []byte
	Revision uint64
	Expires  time.Time // zero: never
	Deleted  bool
}

// Lease is a right that one holder at a time has. Generation rises with every
// acquisition of the same name, so a late writer can be told from the present
// holder.
type Lease struct {
	Name       string
	Generation uint64
	Expires    time.Time
}

// Errors of State.
var (
	ErrNotFound    = errors.New("state: not found")
	ErrConflict    = errors.New("state: changed by somebody else")
	ErrHeld        = errors.New("state: lease is held")
	ErrTooLarge    = errors.New("state: value too large")
	ErrUnavailable = errors.New("state: store unavailable")
)
