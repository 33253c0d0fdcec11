package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// TestWriterBatches: what is put in quick succession is stored together, soon,
// without anybody asking for it.
func TestWriterBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s := newStore(m, m, func() {}, Options{}.withDefaults())
		defer s.Close()
		for i := range 10 {
			s.Records().Put(record.Request{ID: fmt.Sprint(i), Started: time.Now()})
		}
		s.PutStatus("failover", sdk.Status{})
		synctest.Wait()
		if n, _ := m.sizes(); n != 0 {
			t.Errorf("%d records stored at once, want none yet", n)
		}
		time.Sleep(linger)
		synctest.Wait()
		if records, items := m.sizes(); records != 10 || items != 1 {
			t.Errorf("%d records and %d statuses stored after %v, want 10 and 1", records, items, linger)
		}
	})
}

func (m *memory) sizes() (records, items int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries), len(m.items)
}

// flaky is a journal and backend that fails while down.
type flaky struct {
	*memory
	mu   sync.Mutex
	down bool
}

func (f *flaky) set(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

func (f *flaky) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return errors.New("down")
	}
	return nil
}

func (f *flaky) putRecords(ctx context.Context, entries []entry) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.memory.putRecords(ctx, entries)
}

func (f *flaky) update(ctx context.Context, key string, c change) (uint64, error) {
	if err := f.err(); err != nil {
		return 0, err
	}
	return f.memory.update(ctx, key, c)
}

func (f *flaky) revision(ctx context.Context) (uint64, error) {
	if err := f.err(); err != nil {
		return 0, err
	}
	return f.memory.revision(ctx)
}

func (f *flaky) since(ctx context.Context, prefix string, after uint64) ([]sdk.Item, uint64, error) {
	if err := f.err(); err != nil {
		return nil, 0, err
	}
	return f.memory.since(ctx, prefix, after)
}

// TestWriterOutage: records and statuses wait for the store to come back. When
// too many wait the oldest are dropped, and counted.
func TestWriterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{memory: newMemory(), down: true}
		s := newStore(f, f, func() {}, Options{}.withDefaults())
		defer s.Close()
		s.Records().Put(record.Request{ID: "first"})
		s.PutStatus("failover", sdk.Status{})
		const more = maxQueue/(MaxRecord/2) + 1
		text := strings.Repeat("x", MaxRecord/2)
		for i := range more {
			s.Records().Put(record.Request{ID: fmt.Sprint(i), Started: time.Now(), Reason: text})
		}
		time.Sleep(time.Minute)
		dropped := int(s.Records().Dropped())
		if dropped < 2 || dropped > 10 {
			t.Errorf("%d records dropped, want a few", dropped)
		}
		f.set(false)
		time.Sleep(writeRetry)
		synctest.Wait()
		records, items := f.sizes()
		if want := 1 + more - dropped; records != want || items != 1 {
			t.Errorf("%d records and %d statuses stored after the outage, want %d and 1", records, items, want)
		}
		if r, err := s.Records().Last(t.Context()); err != nil || r.ID != fmt.Sprint(more-1) {
			t.Errorf("newest stored record is %q, %v, want the last one put", r.ID, err)
		}
	})
}

// TestWritersRetryApart: writers that failed together do not come back together.
func TestWritersRetryApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, tries = 10, 5
		var mu sync.Mutex
		pauses := map[time.Duration]bool{}
		for range writers {
			var last time.Time
			w := startWriter(time.Second, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				if now := time.Now(); !last.IsZero() {
					pauses[now.Sub(last)] = true
				}
				last = time.Now()
				return errors.New("down")
			})
			w.poke()
			defer w.close()
		}
		time.Sleep(linger + tries*writeRetry)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		for p := range pauses {
			if p < writeRetry/2 || p >= writeRetry {
				t.Errorf("retried after %v, want %v to %v", p, writeRetry/2, writeRetry)
			}
		}
		if len(pauses) < writers*tries/2 {
			t.Errorf("%d different pauses of %d writers, want each to have its own", len(pauses), writers)
		}
	})
}

// TestWatchOutage: a watch that begins while the store is out of reach hears
// of everything once it is back.
func TestWatchOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{memory: newMemory()}
		l := newLogged()
		s := newStore(f, f, func() {}, Options{Log: slog.New(l)}.withDefaults())
		n := s.Namespace("ns", "o")
		if _, err := n.Put(t.Context(), "a", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		f.set(true)
		var got []string
		if err := n.Watch(t.Context(), "", func(it sdk.Item) { got = append(got, it.Key) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(got) != 0 {
			t.Errorf("heard of %q during the outage", got)
		}
		f.set(false)
		time.Sleep(watchRetry)
		synctest.Wait()
		if len(got) != 1 || got[0] != "a" {
			t.Errorf("heard of %q after the outage, want the item there is", got)
		}
		s.Close()
		if err := n.Watch(t.Context(), "", func(sdk.Item) {}); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("watch a closed store: got error %v, want %v", err, sdk.ErrUnavailable)
		}
	})
}

func TestMemorySweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		put := func(key string, ttl time.Duration) {
			if _, err := m.update(t.Context(), key, change{ttl: ttl}); err != nil {
				t.Fatal(err)
			}
		}
		put("kept", 0)
		for i := range 10 * minSweep {
			put(fmt.Sprint(i), time.Millisecond)
			time.Sleep(time.Millisecond)
		}
		if n := len(m.items); n > minSweep {
			t.Errorf("%d items kept, want at most %d", n, minSweep)
		}
		if _, err := m.get(t.Context(), "kept"); err != nil {
			t.Errorf("item without expiry: %v", err)
		}
	})
}
