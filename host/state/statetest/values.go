package statetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

func testValues(t *testing.T, open Store) {
	s := open("ns", "o")
	if !absent(t, s, "a") {
		t.Fatal("a new store has an item")
	}
	first := mustPut(t, s, "a", "1")
	if it := wantValue(t, s, "a", "1"); it.Revision != first || !it.Expires.IsZero() {
		t.Errorf("got %+v, want revision %d and no expiry", it, first)
	}
	second := mustPut(t, s, "a", "2")
	if second <= first {
		t.Errorf("revision %d after %d, want it to rise", second, first)
	}
	wantValue(t, s, "a", "2")

	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if !absent(t, s, "a") {
		t.Error("item is there after its deletion")
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Errorf("delete an absent key: %v", err)
	}
	if third := mustPut(t, s, "a", "3"); third <= second {
		t.Errorf("revision %d after deletion, had %d, want it to rise", third, second)
	}
	if _, err := s.Put(t.Context(), "empty", nil, 0); err != nil {
		t.Fatal(err)
	}
	wantValue(t, s, "empty", "")
}

func testKeys(t *testing.T, open Store) {
	s := open("ns", "o")
	for _, tt := range []struct {
		name string
		key  string
		ok   bool
	}{
		{"plain", "circuit/anthropic/claude", true},
		{"empty", "", true},
		{"spaces and signs", "a b%2F?&\\'\"", true},
		{"not ASCII", "ключ/鍵", true},
		{"longest", strings.Repeat("k", 512), true},
		{"too long", strings.Repeat("k", 513), false},
		{"NUL", "a\x00b", false},
		{"not UTF-8", "a\xff", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Put(t.Context(), tt.key, []byte("v"), 0)
			if tt.ok != (err == nil) {
				t.Fatalf("put %q: error %v, want ok %t", tt.key, err, tt.ok)
			}
			if tt.ok {
				wantValue(t, s, tt.key, "v")
			}
		})
	}
}

func testSizes(t *testing.T, open Store) {
	s := open("ns", "o")
	most := bytes.Repeat([]byte{0, 0xff, 'x', '\n'}, sdk.MaxStateValue/4)
	rev, err := s.Put(t.Context(), "a", most, 0)
	if err != nil {
		t.Fatalf("put %d bytes: %v", len(most), err)
	}
	over := append(most, 'y')
	_, err = s.Put(t.Context(), "a", over, 0)
	wantErr(t, "put one byte more", err, sdk.ErrTooLarge)
	_, err = s.CompareAndSwap(t.Context(), "a", rev, over, 0)
	wantErr(t, "swap one byte more", err, sdk.ErrTooLarge)
	wantValue(t, s, "a", string(most))

	if _, err := s.Put(t.Context(), "a", nil, -time.Second); err == nil {
		t.Error("a negative time to live was taken")
	}
}

func testExpiry(t *testing.T, open Store) {
	s := open("ns", "o")
	before := time.Now()
	if _, err := s.Put(t.Context(), "long", []byte("v"), time.Hour); err != nil {
		t.Fatal(err)
	}
	it := wantValue(t, s, "long", "v")
	if got := it.Expires.Sub(before); got < time.Hour || got > time.Hour+patience {
		t.Errorf("expires after %v, want an hour", got)
	}
	rev, err := s.Put(t.Context(), "short", []byte("v"), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "expiry", func() bool { return absent(t, s, "short") })
	_, err = s.CompareAndSwap(t.Context(), "short", rev, nil, 0)
	wantErr(t, "swap an expired item", err, sdk.ErrConflict)
	items, err := s.List(t.Context(), "")
	if err != nil || len(items) != 1 {
		t.Errorf("list: got %v, %v, want the item that has not expired", items, err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "short", 0, []byte("again"), 0); err != nil {
		t.Errorf("swap in place of an expired item: %v", err)
	}
	mustPut(t, s, "long", "for ever")
	if it := wantValue(t, s, "long", "for ever"); !it.Expires.IsZero() {
		t.Errorf("expires %v after a put without a time to live", it.Expires)
	}
}

func testList(t *testing.T, open Store) {
	s := open("ns", "o")
	for _, key := range []string{"b/2", "a", "b/1", "b", "c", "b/10", "b0", "bé", "B"} {
		mustPut(t, s, key, "v"+key)
	}
	mustPut(t, s, "b/gone", "")
	if err := s.Delete(t.Context(), "b/gone"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		prefix string
		want   []string
	}{
		{"", []string{"B", "a", "b", "b/1", "b/10", "b/2", "b0", "bé", "c"}},
		{"b", []string{"b", "b/1", "b/10", "b/2", "b0", "bé"}},
		{"b/", []string{"b/1", "b/10", "b/2"}},
		{"b/1", []string{"b/1", "b/10"}},
		{"bé", []string{"bé"}},
		{"%", nil},
		{"d", nil},
	} {
		items, err := s.List(t.Context(), tt.prefix)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range items {
			got = append(got, it.Key)
			if string(it.Data) != "v"+it.Key || it.Revision == 0 {
				t.Errorf("list %q: got %+v", tt.prefix, it)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("list %q (-want +got):\n%s", tt.prefix, d)
		}
	}
}

func testCompareAndSwap(t *testing.T, open Store) {
	s := open("ns", "o")
	ctx := t.Context()
	_, err := s.CompareAndSwap(ctx, "a", 7, nil, 0)
	wantErr(t, "swap an absent item", err, sdk.ErrConflict)
	first, err := s.CompareAndSwap(ctx, "a", 0, []byte("1"), 0)
	wantErr(t, "create", err, nil)
	_, err = s.CompareAndSwap(ctx, "a", 0, []byte("x"), 0)
	wantErr(t, "create what is there", err, sdk.ErrConflict)
	second, err := s.CompareAndSwap(ctx, "a", first, []byte("2"), 0)
	wantErr(t, "swap", err, nil)
	_, err = s.CompareAndSwap(ctx, "a", first, []byte("x"), 0)
	wantErr(t, "swap an older revision", err, sdk.ErrConflict)
	if it := wantValue(t, s, "a", "2"); it.Revision != second || second <= first {
		t.Errorf("revisions %d, %d, item at %d", first, second, it.Revision)
	}
	wantErr(t, "delete", s.Delete(ctx, "a"), nil)
	_, err = s.CompareAndSwap(ctx, "a", second, []byte("x"), 0)
	wantErr(t, "swap a deleted item", err, sdk.ErrConflict)
	_, err = s.CompareAndSwap(ctx, "a", 0, []byte("3"), 0)
	wantErr(t, "create after deletion", err, nil)
}

func testConcurrentSwaps(t *testing.T, open Store) {
	const writers, each = 4, 10
	mustPut(t, open("ns", "o"), "n", "0")
	var wg sync.WaitGroup
	for range writers {
		s := open("ns", "o")
		wg.Go(func() {
			for range each {
				if err := increment(t.Context(), s, "n"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	wantValue(t, open("ns", "o"), "n", strconv.Itoa(writers*each))
}

// increment adds one to a number, however often somebody else is faster.
func increment(ctx context.Context, s sdk.State, key string) error {
	for {
		it, err := s.Get(ctx, key)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(it.Data))
		if err != nil {
			return err
		}
		_, err = s.CompareAndSwap(ctx, key, it.Revision, []byte(strconv.Itoa(n+1)), 0)
		if !errors.Is(err, sdk.ErrConflict) {
			return err
		}
	}
}

func testNamespaces(t *testing.T, open Store) {
	names := []string{"a", "a/b", "a%2Fb", "A", "", "a b"}
	for _, name := range names {
		s := open(name, "o")
		mustPut(t, s, "b/k", "of "+name)
		if _, err := s.Acquire(t.Context(), "b/l", time.Hour); err != nil {
			t.Errorf("namespace %q: acquire: %v", name, err)
		}
	}
	for _, name := range names {
		s := open(name, "o")
		wantValue(t, s, "b/k", "of "+name)
		items, err := s.List(t.Context(), "")
		if err != nil || len(items) != 1 {
			t.Errorf("namespace %q: list: got %v, %v, want its own item", name, items, err)
		}
	}
}

func testOwnData(t *testing.T, open Store) {
	s := open("ns", "o")
	data := []byte("abc")
	if _, err := s.Put(t.Context(), "a", data, 0); err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	it := wantValue(t, s, "a", "abc")
	it.Data[0] = 'Y'
	wantValue(t, s, "a", "abc")
}

func testCancelled(t *testing.T, open Store) {
	s := open("ns", "o")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		op   func() error
	}{
		{"get", func() error { _, err := s.Get(ctx, "a"); return err }},
		{"put", func() error { _, err := s.Put(ctx, "a", nil, 0); return err }},
		{"list", func() error { _, err := s.List(ctx, ""); return err }},
		{"watch", func() error { return s.Watch(ctx, "", func(sdk.Item) {}) }},
		{"acquire", func() error { _, err := s.Acquire(ctx, "l", time.Hour); return err }},
	} {
		wantErr(t, tt.name, tt.op(), context.Canceled)
	}
	if !absent(t, s, "a") {
		t.Error("a cancelled put took effect")
	}
}
