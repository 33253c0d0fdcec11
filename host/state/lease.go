package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"spillway/sdk"
)

// A lease is an item whose data is its owner and whose revision is its
// generation: renewing moves the end only.

// Acquire implements sdk.State. A lease that its own session holds already is
// held, too.
func (n *Namespace) Acquire(ctx context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	if err := checkLease(name, ttl); err != nil {
		return sdk.Lease{}, err
	}
	// From before the store counts: it never ends the lease any earlier.
	expires := time.Now().Add(ttl)
	generation, err := n.part.update(ctx, n.leasePrefix()+name, change{only: true, data: []byte(n.owner), ttl: ttl})
	if errors.Is(err, sdk.ErrConflict) {
		err = sdk.ErrHeld
	}
	if err != nil {
		return sdk.Lease{}, err
	}
	return sdk.Lease{Name: name, Generation: generation, Expires: expires}, nil
}

// Renew implements sdk.State.
func (n *Namespace) Renew(ctx context.Context, l sdk.Lease, ttl time.Duration) error {
	if err := checkLease(l.Name, ttl); err != nil {
		return err
	}
	return n.change(ctx, l, change{verb: extend, ttl: ttl})
}

// Release implements sdk.State.
func (n *Namespace) Release(ctx context.Context, l sdk.Lease) error {
	if err := checkKey(l.Name); err != nil {
		return err
	}
	err := n.change(ctx, l, change{verb: remove})
	if errors.Is(err, sdk.ErrConflict) {
		return nil
	}
	return err
}

// ReleaseAll gives back every lease that the namespace's owner holds in it. It
// is for the end of a session; leases that it cannot give back expire.
func (n *Namespace) ReleaseAll(ctx context.Context) error {
	items, err := n.part.list(ctx, n.part.guard.limit, n.leasePrefix(), "")
	if err != nil {
		return err
	}
	var errs []error
	for _, it := range items {
		if string(it.Data) == n.owner {
			errs = append(errs, n.Release(ctx, sdk.Lease{Name: it.Key, Generation: it.Revision}))
		}
	}
	return errors.Join(errs...)
}

// change changes the item of l, or returns ErrConflict if l was lost.
func (n *Namespace) change(ctx context.Context, l sdk.Lease, c change) error {
	if l.Generation == 0 { // which would stand for a lease that nobody holds
		return sdk.ErrConflict
	}
	c.only, c.at = true, l.Generation
	_, err := n.part.update(ctx, n.leasePrefix()+l.Name, c)
	return err
}

func checkLease(name string, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("state: lease %q: time to live %v, must be positive", name, ttl)
	}
	return checkKey(name)
}
