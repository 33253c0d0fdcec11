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

// prefix of the keys in a test's own Redis.
const prefix = "spillway:test"

func parse(t *testing.T, url string) *state.Redis {
	t.Helper()
	r, err := state.ParseRedis(url, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRedisConforms(t *testing.T) {
	profile := profiles(t)
	statetest.Run(t, func(t *testing.T) statetest.Store {
		s := openStore(t, t.TempDir(), profile(t))
		return func(namespace, owner string) statetest.State { return s.Namespace(namespace, owner) }
	})
}

// TestMachinesConform opens the Redis anew for each user, as other machines do.
func TestMachinesConform(t *testing.T) {
	profile := profiles(t)
	statetest.Run(t, func(t *testing.T) statetest.Store {
		o := profile(t)
		return func(namespace, owner string) statetest.State {
			return openStore(t, t.TempDir(), o).Namespace(namespace, owner)
		}
	})
}

// profiles starts a server. Each call of the result returns the options of a
// profile that is alone with its prefix.
func profiles(t *testing.T) func(*testing.T) state.Options {
	t.Helper()
	url := statetest.NewRedis(t).URL("")
	return func(t *testing.T) state.Options {
		t.Helper()
		r, err := state.ParseRedis(url, t.Name())
		if err != nil {
			t.Fatal(err)
		}
		return state.Options{Limit: patience, Redis: r}
	}
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
