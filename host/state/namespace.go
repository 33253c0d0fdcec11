package state

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"spillway/sdk"
)

// MaxKey bounds a key or the name of a lease, in bytes.
const MaxKey = 512

// Namespace is one plugin's corner of a store, and one session's hold on the
// leases in it. It is safe for concurrent use.
//
// Keys are UTF-8 without NUL, at most MaxKey bytes.
type Namespace struct {
	store *Store
	name  string // escaped, so that no name is a prefix of another's keys
	owner string
}

var _ sdk.State = (*Namespace)(nil)

// Namespace returns the corner of the store called name, a plugin's entry id.
//
// Owner is the session that its leases belong to, unique over all processes
// that share the store. A session that takes over from another, leases
// included, uses the same owner.
func (s *Store) Namespace(name, owner string) *Namespace {
	return &Namespace{store: s, name: url.PathEscape(name), owner: owner}
}

// The first part of every key tells items, leases and statuses apart.
const (
	itemRoot   = "item/"
	leaseRoot  = "lease/"
	statusRoot = "status/"
)

func (n *Namespace) itemPrefix() string  { return itemRoot + n.name + "/" }
func (n *Namespace) leasePrefix() string { return leaseRoot + n.name + "/" }

func checkKey(key string) error {
	switch {
	case len(key) > MaxKey:
		return fmt.Errorf("state: key %.40q…: %d bytes, at most %d are allowed", key, len(key), MaxKey)
	case !utf8.ValidString(key), strings.ContainsRune(key, 0):
		return fmt.Errorf("state: key %q: not UTF-8 text", key)
	}
	return nil
}

// expiry returns the moment ttl from now, rounded up to what backends store.
func expiry(ttl time.Duration) time.Time {
	const unit = time.Millisecond
	return time.Now().Add(ttl + unit - 1).Truncate(unit)
}

// Get implements sdk.State.
func (n *Namespace) Get(ctx context.Context, key string) (it sdk.Item, err error) {
	if err := checkKey(key); err != nil {
		return sdk.Item{}, err
	}
	err = n.store.guard.read(ctx, n.store.guard.limit, func(ctx context.Context) (err error) {
		it, err = n.store.items.get(ctx, n.itemPrefix()+key)
		return err
	})
	if err != nil {
		return sdk.Item{}, err
	}
	it.Key = key
	return it, nil
}

// Put implements sdk.State.
func (n *Namespace) Put(ctx context.Context, key string, data []byte, ttl time.Duration) (uint64, error) {
	return n.put(ctx, key, data, ttl, func(sdk.Item) error { return nil })
}

// CompareAndSwap implements sdk.State.
func (n *Namespace) CompareAndSwap(ctx context.Context, key string, rev uint64, data []byte, ttl time.Duration) (uint64, error) {
	return n.put(ctx, key, data, ttl, func(old sdk.Item) error {
		if old.Revision != rev {
			return sdk.ErrConflict
		}
		return nil
	})
}

func (n *Namespace) put(ctx context.Context, key string, data []byte, ttl time.Duration, allow func(old sdk.Item) error) (uint64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	if len(data) > sdk.MaxStateValue {
		return 0, sdk.ErrTooLarge
	}
	next := sdk.Item{Data: data}
	switch {
	case ttl < 0:
		return 0, fmt.Errorf("state: key %q: negative time to live %v", key, ttl)
	case ttl > 0:
		next.Expires = expiry(ttl)
	}
	return n.store.update(ctx, n.itemPrefix()+key, func(old sdk.Item, _ uint64) (sdk.Item, error) {
		return next, allow(old)
	})
}

// Delete implements sdk.State.
func (n *Namespace) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	_, err := n.store.update(ctx, n.itemPrefix()+key, func(old sdk.Item, _ uint64) (sdk.Item, error) {
		if old.Revision == 0 {
			return old, sdk.ErrNotFound
		}
		return tombstone(), nil
	})
	if errors.Is(err, sdk.ErrNotFound) {
		return nil
	}
	return err
}

func tombstone() sdk.Item { return sdk.Item{Deleted: true, Expires: expiry(tombstoneLife)} }

// List implements sdk.State.
func (n *Namespace) List(ctx context.Context, prefix string) ([]sdk.Item, error) {
	if err := checkKey(prefix); err != nil {
		return nil, err
	}
	return n.store.list(ctx, n.itemPrefix(), prefix)
}

// update is the guarded update of the backend.
func (s *Store) update(ctx context.Context, key string, f updater) (rev uint64, err error) {
	err = s.guard.write(ctx, s.guard.limit, func(ctx context.Context) (err error) {
		rev, err = s.items.update(ctx, key, f)
		return err
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// list returns the items whose key begins with root and prefix, tombstones
// left out, keys without root.
func (s *Store) list(ctx context.Context, root, prefix string) (items []sdk.Item, err error) {
	err = s.guard.read(ctx, s.guard.limit, func(ctx context.Context) (err error) {
		items, err = s.items.scan(ctx, root+prefix, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	live := items[:0]
	for _, it := range items {
		if !it.Deleted {
			it.Key = strings.TrimPrefix(it.Key, root)
			live = append(live, it)
		}
	}
	return live, nil
}
