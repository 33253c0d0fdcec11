package state_test

import (
	"testing"
	"time"

	"spillway/host/state"
	"spillway/host/state/statetest"
)

// patience bounds the wait for a condition that must come about.
const patience = 20 * time.Second

// unhurried is for tests of what a store does, not of how soon it gives up.
var unhurried = state.Options{Limit: patience}

func openStore(t *testing.T, dir string, o state.Options) *state.Store {
	t.Helper()
	s, err := state.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestMemoryConforms(t *testing.T) {
	statetest.Run(t, func(t *testing.T) statetest.Store {
		s := state.NewMemory(unhurried)
		t.Cleanup(s.Close)
		return func(namespace, owner string) statetest.State { return s.Namespace(namespace, owner) }
	})
}

func TestFileConforms(t *testing.T) {
	statetest.Run(t, func(t *testing.T) statetest.Store {
		s := openStore(t, t.TempDir(), unhurried)
		return func(namespace, owner string) statetest.State { return s.Namespace(namespace, owner) }
	})
}

// TestFilesConform opens the file anew for each user, as other processes do.
func TestFilesConform(t *testing.T) {
	statetest.Run(t, func(t *testing.T) statetest.Store {
		dir := t.TempDir()
		return func(namespace, owner string) statetest.State {
			return openStore(t, dir, unhurried).Namespace(namespace, owner)
		}
	})
}

// eventually waits until ok reports true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
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
