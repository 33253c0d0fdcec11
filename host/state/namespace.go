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
	part  *part
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
	return &Namespace{store: s, part: s.shared, name: url.PathEscape(name), owner: owner}
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

// Get implements sdk.State.
func (n *Namespace) Get(ctx context.Context, key string) (sdk.Item, error) {
	if err := checkKey(key); err != nil {
		return sdk.Item{}, err
	}
	it, err := n.part.get(ctx, n.itemPrefix()+key)
	if err != nil {
		return sdk.Item{}, err
	}
	it.Key = key
	return it, nil
}

// Put implements sdk.State.
func (n *Namespace) Put(ctx context.Context, key string, data []byte, ttl time.Duration) (uint64, error) {
	return n.put(ctx, key, change{data: data, ttl: ttl})
}

// CompareAndSwap implements sdk.State.
func (n *Namespace) CompareAndSwap(ctx context.Context, key string, rev uint64, data []byte, ttl time.Duration) (uint64, error) {
	return n.put(ctx, key, change{only: true, at: rev, data: data, ttl: ttl})
}

func (n *Namespace) put(ctx context.Context, key string, c change) (uint64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	if len(c.data) > sdk.MaxStateValue {
		return 0, sdk.ErrTooLarge
	}
	if c.ttl < 0 {
		return 0, fmt.Errorf("state: key %q: negative time to live %v", key, c.ttl)
	}
	return n.part.update(ctx, n.itemPrefix()+key, c)
}

// Delete implements sdk.State.
func (n *Namespace) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	_, err := n.part.update(ctx, n.itemPrefix()+key, change{verb: remove})
	if errors.Is(err, sdk.ErrNotFound) {
		return nil
	}
	return err
}

// List implements sdk.State.
func (n *Namespace) List(ctx context.Context, prefix string) ([]sdk.Item, error) {
	if err := checkKey(prefix); err != nil {
		return nil, err
	}
	return n.part.list(ctx, n.part.guard.limit, n.itemPrefix(), prefix)
}
