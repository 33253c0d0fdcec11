package statetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/sdk"
)

func mustAcquire(t *testing.T, s sdk.State, name string, ttl time.Duration) sdk.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), name, ttl)
	if err != nil {
		t.Fatalf("acquire %q: %v", name, err)
	}
	return l
}

func testLeases(t *testing.T, open Store) {
	mine, theirs := open("ns", "me"), open("ns", "them")
	ctx := t.Context()
	before := time.Now()
	l := mustAcquire(t, mine, "probe", time.Hour)
	if got := l.Expires.Sub(before); l.Name != "probe" || l.Generation == 0 || got < time.Hour || got > time.Hour+patience {
		t.Errorf("got %+v, want an hour", l)
	}
	_, err := theirs.Acquire(ctx, "probe", time.Hour)
	wantErr(t, "acquire a held lease", err, sdk.ErrHeld)
	_, err = mine.Acquire(ctx, "probe", time.Hour)
	wantErr(t, "acquire my own lease again", err, sdk.ErrHeld)
	mustAcquire(t, theirs, "another", time.Hour)

	for range 2 {
		wantErr(t, "renew", mine.Renew(ctx, l, time.Hour), nil)
	}
	wantErr(t, "release", mine.Release(ctx, l), nil)
	wantErr(t, "release again", mine.Release(ctx, l), nil)
	wantErr(t, "renew a released lease", mine.Renew(ctx, l, time.Hour), sdk.ErrConflict)

	if m := mustAcquire(t, theirs, "probe", time.Hour); m.Generation <= l.Generation {
		t.Errorf("generation %d after %d, want it to rise", m.Generation, l.Generation)
	}
	// Leases are no items.
	if items, err := mine.List(ctx, ""); err != nil || len(items) != 0 {
		t.Errorf("list: got %v, %v, want nothing", items, err)
	}
	for _, ttl := range []time.Duration{0, -time.Second} {
		if _, err := mine.Acquire(ctx, "x", ttl); err == nil {
			t.Errorf("a lease for %v was given", ttl)
		}
	}
}

// testLostLeases: whoever held a lease before has no power over the present
// holder's.
func testLostLeases(t *testing.T, open Store) {
	s := open("ns", "o")
	ctx := t.Context()
	old := mustAcquire(t, s, "probe", time.Hour)
	wantErr(t, "release", s.Release(ctx, old), nil)
	now := mustAcquire(t, s, "probe", time.Hour)
	wantErr(t, "renew a lost lease", s.Renew(ctx, old, time.Hour), sdk.ErrConflict)
	wantErr(t, "release a lost lease", s.Release(ctx, old), nil)
	_, err := s.Acquire(ctx, "probe", time.Hour)
	wantErr(t, "acquire what is held", err, sdk.ErrHeld)
	wantErr(t, "renew", s.Renew(ctx, now, time.Hour), nil)
	wantErr(t, "renew one that never was", s.Renew(ctx, sdk.Lease{Name: "none", Generation: 1}, time.Hour), sdk.ErrConflict)
}

func testLeaseExpiry(t *testing.T, open Store) {
	s, other := open("ns", "o"), open("ns", "other")
	l := mustAcquire(t, s, "probe", 20*time.Millisecond)
	var m sdk.Lease
	eventually(t, "expiry", func() bool {
		var err error
		m, err = other.Acquire(t.Context(), "probe", time.Hour)
		if err != nil && !errors.Is(err, sdk.ErrHeld) {
			t.Fatal(err)
		}
		return err == nil
	})
	if m.Generation <= l.Generation {
		t.Errorf("generation %d after %d, want it to rise", m.Generation, l.Generation)
	}
	if time.Now().Before(l.Expires) {
		t.Errorf("lease was given away before it expired")
	}
	wantErr(t, "renew an expired lease", s.Renew(t.Context(), l, time.Hour), sdk.ErrConflict)

	// A renewal moves the end: the lease outlives its first time to live.
	long := mustAcquire(t, s, "renewed", 20*time.Millisecond)
	if err := s.Renew(t.Context(), long, time.Hour); errors.Is(err, sdk.ErrConflict) {
		return // too late on a slow machine
	} else if err != nil {
		t.Fatal(err)
	}
	eventually(t, "first end", func() bool { return time.Now().After(long.Expires) })
	_, err := other.Acquire(t.Context(), "renewed", time.Hour)
	wantErr(t, "acquire a renewed lease", err, sdk.ErrHeld)
}

// testOneHolder lets many ask for one lease: one at a time has it, and the
// generations rise in the order of holders.
func testOneHolder(t *testing.T, open Store) {
	const holders, rounds = 4, 5
	var holding atomic.Int32
	var last atomic.Uint64
	var wg sync.WaitGroup
	for range holders {
		s := open("ns", "o")
		wg.Go(func() {
			for done := 0; done < rounds; {
				l, err := s.Acquire(t.Context(), "probe", time.Hour)
				if errors.Is(err, sdk.ErrHeld) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if holding.Add(1) != 1 {
					t.Error("two holders at once")
				}
				if before := last.Swap(l.Generation); before >= l.Generation {
					t.Errorf("generation %d after %d", l.Generation, before)
				}
				holding.Add(-1)
				if err := s.Release(t.Context(), l); err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	wg.Wait()
}

func testSessionEnd(t *testing.T, open Store) {
	mine, theirs, elsewhere := open("ns", "me"), open("ns", "them"), open("other", "me")
	mustAcquire(t, mine, "a", time.Hour)
	b := mustAcquire(t, mine, "b", time.Hour)
	mustAcquire(t, theirs, "c", time.Hour)
	mustAcquire(t, elsewhere, "d", time.Hour)
	wantErr(t, "release all", mine.ReleaseAll(t.Context()), nil)
	wantErr(t, "release all again", mine.ReleaseAll(t.Context()), nil)
	mustAcquire(t, theirs, "a", time.Hour)
	mustAcquire(t, theirs, "b", time.Hour)
	wantErr(t, "renew after the session's end", mine.Renew(t.Context(), b, time.Hour), sdk.ErrConflict)
	_, err := mine.Acquire(t.Context(), "c", time.Hour)
	wantErr(t, "acquire somebody else's", err, sdk.ErrHeld)
	_, err = theirs.Acquire(t.Context(), "x", time.Hour)
	wantErr(t, "acquire", err, nil)
	_, err = open("other", "them").Acquire(t.Context(), "d", time.Hour)
	wantErr(t, "acquire what is held in another namespace", err, sdk.ErrHeld)
}
