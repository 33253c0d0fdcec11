package statetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// watch returns the channel on which changes under prefix arrive.
func watch(ctx context.Context, t *testing.T, s sdk.State, prefix string) <-chan sdk.Item {
	t.Helper()
	items := make(chan sdk.Item, 1000)
	if err := s.Watch(ctx, prefix, func(it sdk.Item) { items <- it }); err != nil {
		t.Fatalf("watch: %v", err)
	}
	return items
}

func next(t *testing.T, items <-chan sdk.Item) sdk.Item {
	t.Helper()
	select {
	case it := <-items:
		return it
	case <-time.After(patience):
		t.Fatalf("no change within %v", patience)
		return sdk.Item{}
	}
}

func testWatch(t *testing.T, open Store) {
	writer, other := open("ns", "o"), open("other", "o")
	mustPut(t, writer, "b/old", "was there before")
	items := watch(t.Context(), t, open("ns", "o"), "b/")

	ctx := t.Context()
	mustPut(t, other, "b/x", "of another namespace")
	mustPut(t, writer, "a", "of another prefix")
	rev := mustPut(t, writer, "b/1", "one")
	got := next(t, items)
	if d := cmp.Diff(sdk.Item{Key: "b/1", Data: []byte("one"), Revision: rev}, got); d != "" {
		t.Errorf("put (-want +got):\n%s", d)
	}

	if _, err := writer.CompareAndSwap(ctx, "b/1", rev, []byte("two"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := next(t, items); string(got.Data) != "two" || got.Expires.IsZero() || got.Revision <= rev {
		t.Errorf("swap: got %+v", got)
	}
	if err := writer.Delete(ctx, "b/1"); err != nil {
		t.Fatal(err)
	}
	if got := next(t, items); got.Key != "b/1" || !got.Deleted || len(got.Data) != 0 {
		t.Errorf("delete: got %+v", got)
	}
	if err := writer.Delete(ctx, "b/none"); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Acquire(ctx, "b/lease", time.Hour); err != nil {
		t.Fatal(err)
	}
	mustPut(t, writer, "b/2", "last")
	if got := next(t, items); got.Key != "b/2" {
		t.Errorf("got %+v, want the next change of an item", got)
	}
}

// testWatchLatest makes changes faster than they are heard of: some may be
// left out, but none comes late and the last one comes.
func testWatchLatest(t *testing.T, open Store) {
	const changes = 50
	s := open("ns", "o")
	items := watch(t.Context(), t, open("ns", "o"), "")
	for i := range changes {
		mustPut(t, s, "n", strconv.Itoa(i))
	}
	var rev uint64
	for {
		it := next(t, items)
		if it.Revision <= rev {
			t.Fatalf("revision %d after %d", it.Revision, rev)
		}
		rev = it.Revision
		if string(it.Data) == strconv.Itoa(changes-1) {
			return
		}
	}
}

func testWatchEnds(t *testing.T, open Store) {
	s := open("ns", "o")
	ctx, cancel := context.WithCancel(t.Context())
	ended := watch(ctx, t, open("ns", "o"), "")
	witness := watch(t.Context(), t, open("ns", "o"), "")
	mustPut(t, s, "a", "1")
	next(t, ended)
	next(t, witness)
	cancel()
	// The watcher may be within f, or on its way to it, once at most.
	for i := range 3 {
		mustPut(t, s, "a", strconv.Itoa(i))
		next(t, witness)
	}
	if n := len(ended); n > 1 {
		t.Errorf("%d changes after the end of the context", n)
	}
}
