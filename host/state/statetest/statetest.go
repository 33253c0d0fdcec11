// Package statetest is the conformance test of sdk.State: what every backend
// of package state must do. A backend's own tests call [Run].
//
// Expiry is tested against the real clock, because a backend may live in
// another process; tests wait for conditions and never for a time.
package statetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"spillway/sdk"
)

// State is what a store hands out: a namespace, and a session's hold on the
// leases in it.
type State interface {
	sdk.State
	ReleaseAll(ctx context.Context) error
}

// Store hands out one namespace of a store for one owner of leases. A backend
// that several processes share should come from a different connection each
// time.
type Store func(namespace, owner string) State

// Run tests a backend. Open makes a store that is empty, and arranges for its
// end; its operations should not be short of time.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"values", testValues},
		{"keys", testKeys},
		{"sizes", testSizes},
		{"expiry", testExpiry},
		{"list", testList},
		{"compare and swap", testCompareAndSwap},
		{"concurrent swaps", testConcurrentSwaps},
		{"namespaces", testNamespaces},
		{"own data", testOwnData},
		{"cancelled", testCancelled},
		{"watch", testWatch},
		{"watch catches up", testWatchLatest},
		{"watch ends", testWatchEnds},
		{"leases", testLeases},
		{"lost leases", testLostLeases},
		{"lease expiry", testLeaseExpiry},
		{"one holder", testOneHolder},
		{"session end", testSessionEnd},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// patience bounds the wait for a condition that must come about.
const patience = 10 * time.Second

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func mustPut(t *testing.T, s sdk.State, key, value string) uint64 {
	t.Helper()
	rev, err := s.Put(t.Context(), key, []byte(value), 0)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return rev
}

func wantValue(t *testing.T, s sdk.State, key, want string) sdk.Item {
	t.Helper()
	it, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	if it.Key != key || string(it.Data) != want || it.Deleted {
		t.Fatalf("get %q: got %+v, want %q", key, it, want)
	}
	return it
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("%s: got error %v, want %v", what, got, want)
	}
}

func absent(t *testing.T, s sdk.State, key string) bool {
	t.Helper()
	_, err := s.Get(t.Context(), key)
	if err != nil && !errors.Is(err, sdk.ErrNotFound) {
		t.Fatalf("get %q: %v", key, err)
	}
	return err != nil
}
