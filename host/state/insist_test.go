package state

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/state/statetest"
	"spillway/sdk"
)

// tardy is a backend of which the next changes are made, and answered too late.
type tardy struct {
	backend
	next atomic.Int32
}

func (b *tardy) update(ctx context.Context, key string, c change) (uint64, error) {
	if b.next.Add(-1) < 0 {
		return b.backend.update(ctx, key, c)
	}
	_, _ = b.backend.update(context.WithoutCancel(ctx), key, c)
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestLeaseOfNobody: a lease that the store gave although nobody heard of it, or
// that it did not hear was given back, keeps others away for a moment only.
func TestLeaseOfNobody(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T) *Store
	}{
		{"memory", func(*testing.T) *Store { return NewMemory(Options{}) }},
		{"file", func(t *testing.T) *Store {
			s, _, _ := trouble(t, t.TempDir(), Options{Limit: time.Second})
			return s
		}},
		{"redis", func(t *testing.T) *Store {
			s, _, _ := machine(t, statetest.NewRedis(t).URL(""), time.Second)
			return s
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tt.open(t)
			t.Cleanup(s.Close)
			b := &tardy{backend: s.shared.items}
			s.shared.items = b
			mine, theirs := s.Namespace("ns", "me"), s.Namespace("ns", "them")
			recovers(t, mine)

			tooLate := func(what string, op func() error) {
				t.Helper()
				b.next.Store(1)
				if err := op(); !errors.Is(err, sdk.ErrUnavailable) {
					t.Fatalf("%s: got error %v, want %v", what, err, sdk.ErrUnavailable)
				}
			}
			acquire := func() error { _, err := mine.Acquire(t.Context(), "probe", time.Hour); return err }

			tooLate("acquire", acquire)
			l := acquires(t, theirs)
			tooLate("acquire what is held", acquire)
			tooLate("release", func() error { return theirs.Release(t.Context(), l) })
			l = acquires(t, mine)

			tooLate("acquire my own", acquire)
			tooLate("release an old one", func() error {
				return mine.Release(t.Context(), sdk.Lease{Name: "probe", Generation: l.Generation - 1})
			})
			// Those of the two leases that never came about go on looking.
			eventually(t, "peace", func() bool { return len(s.insisting) == 2 })
			if err := mine.Renew(t.Context(), l, time.Hour); err != nil {
				t.Errorf("renew: %v: it was taken away", err)
			}
		})
	}
}

// acquires waits until n has the lease "probe".
func acquires(t *testing.T, n *Namespace) (l sdk.Lease) {
	t.Helper()
	eventually(t, "lease", func() bool {
		var err error
		l, err = n.Acquire(t.Context(), "probe", time.Hour)
		if err != nil && !errors.Is(err, sdk.ErrHeld) {
			t.Fatal(err)
		}
		return err == nil
	})
	return l
}

// TestLeaseGivenLater: a request that reaches the server after it was given up.
func TestLeaseGivenLater(t *testing.T) {
	server := statetest.NewRedis(t)
	p := newProxy(t, server.Socket, nil)
	_, n, _ := machine(t, "redis://"+p.addr(), 0)
	_, other, _ := machine(t, server.URL(""), patience)
	recovers(t, n)

	p.hold()
	if _, err := n.Acquire(t.Context(), "probe", time.Hour); !errors.Is(err, sdk.ErrUnavailable) {
		t.Fatalf("got error %v, want %v", err, sdk.ErrUnavailable)
	}
	p.release()
	eventually(t, "the lease to be given and taken back", func() bool {
		items, _, err := other.part.since(t.Context(), other.leasePrefix(), 0)
		return err == nil && len(items) == 1 && items[0].Deleted
	})
	acquires(t, other)
}

// TestInsistIsBounded: of many leases most are left to expire, and a store that
// is closed sees to none.
func TestInsistIsBounded(t *testing.T) {
	s := NewMemory(Options{})
	never := func(context.Context) bool { return false }
	for range 2 * maxInsisting {
		s.insist(time.Hour, never)
	}
	if got := len(s.insisting); got != maxInsisting {
		t.Errorf("got %d at once, want %d", got, maxInsisting)
	}
	s.Close()
	s.insist(time.Hour, never)
	if got := len(s.insisting); got != 0 {
		t.Errorf("%d are left after the end", got)
	}
}
