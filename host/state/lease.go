package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"spillway/sdk"
)

// tenure is the data of a lease's item. The generation is the revision at
// which the lease was acquired; renewing keeps it.
type tenure struct {
	Owner      string `json:"owner"`
	Generation uint64 `json:"generation"`
}

// Acquire implements sdk.State. A lease that its own session holds already is
// held, too.
func (n *Namespace) Acquire(ctx context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	if err := checkLease(name, ttl); err != nil {
		return sdk.Lease{}, err
	}
	expires := expiry(ttl)
	rev, err := n.store.update(ctx, n.leasePrefix()+name, func(old sdk.Item, rev uint64) (sdk.Item, error) {
		if old.Revision != 0 {
			return old, sdk.ErrHeld
		}
		data, err := json.Marshal(tenure{Owner: n.owner, Generation: rev})
		return sdk.Item{Data: data, Expires: expires}, err
	})
	if err != nil {
		return sdk.Lease{}, err
	}
	return sdk.Lease{Name: name, Generation: rev, Expires: expires}, nil
}

// Renew implements sdk.State.
func (n *Namespace) Renew(ctx context.Context, l sdk.Lease, ttl time.Duration) error {
	if err := checkLease(l.Name, ttl); err != nil {
		return err
	}
	return n.change(ctx, l, func(old sdk.Item) sdk.Item {
		return sdk.Item{Data: old.Data, Expires: expiry(ttl)}
	})
}

// Release implements sdk.State.
func (n *Namespace) Release(ctx context.Context, l sdk.Lease) error {
	if err := checkKey(l.Name); err != nil {
		return err
	}
	err := n.change(ctx, l, func(sdk.Item) sdk.Item { return tombstone() })
	if errors.Is(err, sdk.ErrConflict) {
		return nil
	}
	return err
}

// ReleaseAll gives back every lease that the namespace's owner holds in it. It
// is for the end of a session; leases that it cannot give back expire.
func (n *Namespace) ReleaseAll(ctx context.Context) error {
	items, err := n.store.list(ctx, n.leasePrefix(), "")
	if err != nil {
		return err
	}
	var errs []error
	for _, it := range items {
		if held := tenureOf(it); held.Owner == n.owner {
			errs = append(errs, n.Release(ctx, sdk.Lease{Name: it.Key, Generation: held.Generation}))
		}
	}
	return errors.Join(errs...)
}

// change replaces the item of l, or returns ErrConflict if l was lost.
func (n *Namespace) change(ctx context.Context, l sdk.Lease, next func(old sdk.Item) sdk.Item) error {
	_, err := n.store.update(ctx, n.leasePrefix()+l.Name, func(old sdk.Item, _ uint64) (sdk.Item, error) {
		if old.Revision == 0 || tenureOf(old).Generation != l.Generation {
			return old, sdk.ErrConflict
		}
		return next(old), nil
	})
	return err
}

// tenureOf reads a lease's item. One that cannot be read belongs to nobody:
// it can only expire.
func tenureOf(it sdk.Item) tenure {
	var t tenure
	if json.Unmarshal(it.Data, &t) != nil {
		return tenure{}
	}
	return t
}

func checkLease(name string, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("state: lease %q: time to live %v, must be positive", name, ttl)
	}
	return checkKey(name)
}
