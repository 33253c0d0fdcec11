package plugintest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func put(t *testing.T, s sdk.State, key, value string, ttl time.Duration) uint64 {
	t.Helper()
	rev, err := s.Put(t.Context(), key, []byte(value), ttl)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return rev
}

func TestMemoryValues(t *testing.T) {
	s, ctx := plugintest.NewMemory(), t.Context()
	_, err := s.Get(ctx, "k")
	wantErr(t, "get an absent key", err, sdk.ErrNotFound)
	wantErr(t, "delete an absent key", s.Delete(ctx, "k"), nil)

	first := put(t, s, "k", "1", 0)
	second := put(t, s, "k", "2", 0)
	if first == 0 || second <= first {
		t.Errorf("revisions %d, %d: want them to rise from 1", first, second)
	}
	got, err := s.Get(ctx, "k")
	wantErr(t, "get", err, nil)
	if d := cmp.Diff(sdk.Item{Key: "k", Data: []byte("2"), Revision: second}, got); d != "" {
		t.Errorf("get (-want +got):\n%s", d)
	}
	wantErr(t, "delete", s.Delete(ctx, "k"), nil)
	_, err = s.Get(ctx, "k")
	wantErr(t, "get a deleted key", err, sdk.ErrNotFound)
	if again := put(t, s, "k", "3", 0); again <= second {
		t.Errorf("revision after a deletion: got %d, want more than %d", again, second)
	}
}

func TestMemorySizes(t *testing.T) {
	s, ctx := plugintest.NewMemory(), t.Context()
	full := make([]byte, sdk.MaxStateValue)
	_, err := s.Put(ctx, "k", full, 0)
	wantErr(t, "put at the limit", err, nil)
	_, err = s.Put(ctx, "k", append(full, 0), 0)
	wantErr(t, "put one over", err, sdk.ErrTooLarge)
	_, err = s.CompareAndSwap(ctx, "new", 0, append(full, 0), 0)
	wantErr(t, "swap one over", err, sdk.ErrTooLarge)
}

// TestMemoryOwnData: nobody writes into the store but through it.
func TestMemoryOwnData(t *testing.T) {
	s, ctx := plugintest.NewMemory(), t.Context()
	var seen []byte
	watch, stop := context.WithCancel(ctx)
	changed := make(chan struct{})
	wantErr(t, "watch", s.Watch(watch, "", func(i sdk.Item) { seen = i.Data; close(changed) }), nil)
	mine := []byte("abc")
	if _, err := s.Put(ctx, "k", mine, 0); err != nil {
		t.Fatal(err)
	}
	<-changed
	stop()
	got, _ := s.Get(ctx, "k")
	list, _ := s.List(ctx, "")
	for _, b := range [][]byte{mine, got.Data, list[0].Data, seen} {
		b[0] = 'X'
	}
	if got, _ := s.Get(ctx, "k"); string(got.Data) != "abc" {
		t.Errorf("got %q, want abc", got.Data)
	}
}

func TestMemoryCompareAndSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := plugintest.NewMemory(), t.Context()
		swap := func(rev uint64, value string) (uint64, error) {
			return s.CompareAndSwap(ctx, "k", rev, []byte(value), time.Minute)
		}
		_, err := swap(7, "a")
		wantErr(t, "swap an absent key at a revision", err, sdk.ErrConflict)
		rev, err := swap(0, "a")
		wantErr(t, "create", err, nil)
		_, err = swap(0, "b")
		wantErr(t, "create again", err, sdk.ErrConflict)
		next, err := swap(rev, "b")
		wantErr(t, "swap", err, nil)
		_, err = swap(rev, "c")
		wantErr(t, "swap at an old revision", err, sdk.ErrConflict)

		time.Sleep(time.Minute) // an expired key is absent
		_, err = swap(next, "d")
		wantErr(t, "swap an expired key", err, sdk.ErrConflict)
		_, err = swap(0, "d")
		wantErr(t, "create an expired key", err, nil)
	})
}

func TestMemoryOneSwapWins(t *testing.T) {
	s := plugintest.NewMemory()
	var wg sync.WaitGroup
	wins := make(chan int, 16)
	for i := range 16 {
		wg.Go(func() {
			if _, err := s.CompareAndSwap(t.Context(), "k", 0, []byte("x"), 0); err == nil {
				wins <- i
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		t.Errorf("%d created the key, want 1", len(wins))
	}
}

func TestMemoryExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := plugintest.NewMemory(), t.Context()
		begin := time.Now()
		put(t, s, "short", "1", time.Second)
		put(t, s, "long", "1", 0)
		if got, _ := s.Get(ctx, "short"); !got.Expires.Equal(begin.Add(time.Second)) {
			t.Errorf("expires: got %v, want a second after %v", got.Expires, begin)
		}
		time.Sleep(time.Second - 1)
		_, err := s.Get(ctx, "short")
		wantErr(t, "get in time", err, nil)
		time.Sleep(time.Nanosecond)
		_, err = s.Get(ctx, "short")
		wantErr(t, "get an expired key", err, sdk.ErrNotFound)
		time.Sleep(1000 * time.Hour)
		if got := keys(t, s, ""); got != "long" {
			t.Errorf("list: got %q, want the one that never ends", got)
		}
	})
}

func keys(t *testing.T, s sdk.State, prefix string) string {
	t.Helper()
	items, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return strings.Join(keys, " ")
}

func TestMemoryList(t *testing.T) {
	s := plugintest.NewMemory()
	for _, k := range []string{"b/2", "a/1", "b/10", "c", "b"} {
		put(t, s, k, "x", 0)
	}
	for prefix, want := range map[string]string{"": "a/1 b b/10 b/2 c", "b": "b b/10 b/2", "b/": "b/10 b/2", "d": ""} {
		if got := keys(t, s, prefix); got != want {
			t.Errorf("prefix %q: got %q, want %q", prefix, got, want)
		}
	}
}

func TestMemoryWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plugintest.NewMemory()
		ctx, stop := context.WithCancel(t.Context())
		put(t, s, "w/before", "1", 0)
		var seen []string
		wantErr(t, "watch", s.Watch(ctx, "w/", func(i sdk.Item) {
			seen = append(seen, fmt.Sprintf("%s=%s %t", i.Key, i.Data, i.Deleted))
		}), nil)
		put(t, s, "w/x", "1", 0)
		synctest.Wait()
		put(t, s, "elsewhere", "1", 0)
		wantErr(t, "delete", s.Delete(ctx, "w/x"), nil)
		synctest.Wait()
		stop()
		synctest.Wait()
		put(t, s, "w/x", "after", 0)
		synctest.Wait()
		if d := cmp.Diff([]string{"w/x=1 false", "w/x= true"}, seen); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// TestMemoryWatchLast: however far a watcher is behind, it hears the last change
// of each key.
func TestMemoryWatchLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plugintest.NewMemory()
		release := make(chan struct{})
		last := map[string]string{}
		wantErr(t, "watch", s.Watch(t.Context(), "", func(i sdk.Item) {
			<-release
			last[i.Key] = string(i.Data)
		}), nil)
		for i := range 1000 {
			put(t, s, "a", fmt.Sprint(i), 0)
			put(t, s, "b", fmt.Sprint(-i), 0)
		}
		close(release)
		synctest.Wait()
		if d := cmp.Diff(map[string]string{"a": "999", "b": "-999"}, last); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

func TestMemoryLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, ctx := plugintest.NewMemory(), t.Context()
		acquire := func(want error) sdk.Lease {
			t.Helper()
			l, err := s.Acquire(ctx, "probe", time.Minute)
			wantErr(t, "acquire", err, want)
			return l
		}
		first := acquire(nil)
		if want := (sdk.Lease{Name: "probe", Generation: first.Generation, Expires: time.Now().Add(time.Minute)}); first != want || first.Generation == 0 {
			t.Errorf("got %+v, want a minute", first)
		}
		acquire(sdk.ErrHeld)
		if _, err := s.Acquire(ctx, "other", time.Minute); err != nil {
			t.Errorf("acquire another: %v", err)
		}

		time.Sleep(50 * time.Second)
		wantErr(t, "renew", s.Renew(ctx, first, time.Minute), nil)
		time.Sleep(50 * time.Second)
		acquire(sdk.ErrHeld) // a renewal moves the end
		wantErr(t, "release", s.Release(ctx, first), nil)
		wantErr(t, "release again", s.Release(ctx, first), nil)
		wantErr(t, "renew what was released", s.Renew(ctx, first, time.Minute), sdk.ErrConflict)

		second := acquire(nil)
		if second.Generation <= first.Generation {
			t.Errorf("generation %d after %d: want it to rise", second.Generation, first.Generation)
		}
		wantErr(t, "release a lost lease", s.Release(ctx, first), nil)
		acquire(sdk.ErrHeld) // it is still the second's
		time.Sleep(time.Minute)
		wantErr(t, "renew an expired lease", s.Renew(ctx, second, time.Minute), sdk.ErrConflict)
		if third := acquire(nil); third.Generation <= second.Generation {
			t.Errorf("generation %d after %d: want it to rise", third.Generation, second.Generation)
		}
		wantErr(t, "renew one that never was", s.Renew(ctx, sdk.Lease{Name: "none", Generation: 1}, time.Minute), sdk.ErrConflict)
		if got := keys(t, s, ""); got != "" {
			t.Errorf("list: got %q; leases are no items", got)
		}
	})
}
