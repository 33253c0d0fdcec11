package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"spillway/sdk"
)

// A lease is an item whose data is its mark and whose revision is its
// generation: renewing moves the end only.

// newMark tells one acquisition from every other, and whose it is.
func (n *Namespace) newMark() string { return rand.Text() + " " + n.owner }

// owns reports whether a mark is of the namespace's owner.
func (n *Namespace) owns(mark string) bool {
	_, owner, _ := strings.Cut(mark, " ")
	return owner == n.owner
}

// Acquire implements sdk.State. A lease that its own session holds already is
// held, too. One that the store may have given although Acquire failed is given
// back soon.
func (n *Namespace) Acquire(ctx context.Context, name string, ttl time.Duration) (sdk.Lease, error) {
	if err := checkLease(name, ttl); err != nil {
		return sdk.Lease{}, err
	}
	// From before the store counts: it never ends the lease any earlier.
	expires := time.Now().Add(ttl)
	mark := n.newMark()
	generation, err := n.part.update(ctx, n.leasePrefix()+name, change{only: true, data: []byte(mark), ttl: ttl})
	switch {
	case errors.Is(err, sdk.ErrConflict):
		return sdk.Lease{}, sdk.ErrHeld
	case err != nil:
		n.store.insist(ttl, func(ctx context.Context) bool { return n.giveBack(ctx, name, mark) })
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

// Release implements sdk.State. When it fails the lease is given back soon.
func (n *Namespace) Release(ctx context.Context, l sdk.Lease) error {
	if err := checkKey(l.Name); err != nil {
		return err
	}
	err := n.release(ctx, l)
	if err != nil {
		n.store.insist(insistFor, func(ctx context.Context) bool { return n.release(ctx, l) == nil })
	}
	return err
}

// release removes a lease; one that was lost is no error.
func (n *Namespace) release(ctx context.Context, l sdk.Lease) error {
	err := n.change(ctx, l, change{verb: remove})
	if errors.Is(err, sdk.ErrConflict) {
		return nil
	}
	return err
}

// giveBack removes the lease that was acquired with a mark. It reports false if
// there is none, as it may still come about.
func (n *Namespace) giveBack(ctx context.Context, name, mark string) bool {
	it, err := n.part.get(ctx, n.leasePrefix()+name)
	return err == nil && string(it.Data) == mark && n.release(ctx, sdk.Lease{Name: name, Generation: it.Revision}) == nil
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
		if n.owns(string(it.Data)) {
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
