package state

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/state/statetest"
	"spillway/sdk"
)

// message is one of lua/update.lua.
func message(fields ...any) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = fmt.Sprint(f)
	}
	return strings.Join(texts, "\x00")
}

// TestHeard: what was heard without a gap is known, and for the rest the server has
// to be asked.
func TestHeard(t *testing.T) {
	now := time.Now()
	item := func(rev uint64, key, data string) sdk.Item {
		return sdk.Item{Key: key, Revision: rev, Data: []byte(data)}
	}
	type known struct {
		after  uint64
		items  []sdk.Item
		latest uint64
		ask    bool
	}
	for _, tt := range []struct {
		name  string
		heard []string // after a beginning at revision 10, told 8
		want  []known
	}{
		{"nothing yet", nil, []known{{after: 10, latest: 10}, {after: 12, latest: 12}, {after: 9, ask: true}}},
		{"in turn", []string{message(11, 8, 0, "a/1", "x"), message(15, 11, 0, "a/2", "y")}, []known{
			{after: 10, items: []sdk.Item{item(11, "a/1", "x"), item(15, "a/2", "y")}, latest: 15},
			{after: 11, items: []sdk.Item{item(15, "a/2", "y")}, latest: 15},
			{after: 15, latest: 15},
			{after: 9, ask: true},
		}},
		{"from before the beginning", []string{message(8, 7, 0, "a/1", "x"), message(11, 8, 0, "a/1", "y")}, []known{
			{after: 10, items: []sdk.Item{item(11, "a/1", "y")}, latest: 11},
		}},
		{"the last change of each", []string{message(11, 8, 0, "a/1", "x"), message(12, 11, 0, "a/2", ""), message(13, 12, 50, "a/1")}, []known{
			{after: 10, items: []sdk.Item{item(12, "a/2", ""), {Key: "a/1", Revision: 13, Deleted: true, Expires: now.Add(50 * time.Millisecond)}}, latest: 13},
		}},
		{"of another part", []string{message(11, 8, 0, "b/1", "x")}, []known{{after: 10, latest: 11}}},
		{"data with a NUL", []string{message(11, 8, 0, "a/1", "x\x00y")}, []known{{after: 10, items: []sdk.Item{item(11, "a/1", "x\x00y")}, latest: 11}}},
		{"a gap", []string{message(11, 8, 0, "a/1", "x"), message(14, 12, 0, "a/1", "y"), message(15, 14, 0, "a/1", "z")}, []known{
			{after: 10, ask: true}, {after: 13, ask: true},
			{after: 14, items: []sdk.Item{item(15, "a/1", "z")}, latest: 15},
		}},
		{"no message of ours", []string{"", "hello", message("x", 8, 0, "a/1", "y"), message(11, 8, -1, "a/1", "y"), message(11, 8)}, []known{{after: 10, latest: 10}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h heard
			h.begin(10, 8)
			for _, m := range tt.heard {
				if _, until, ok := h.add(m, now); !ok {
					h.begin(until, until)
				}
			}
			for _, want := range tt.want {
				got := known{after: want.after}
				var ok bool
				got.items, got.latest, ok = h.since("a/", want.after, now)
				got.ask = !ok
				if d := cmp.Diff(want, got, cmp.AllowUnexported(known{})); d != "" {
					t.Errorf("after %d (-want +got):\n%s", want.after, d)
				}
			}
			h.end()
			if _, _, ok := h.since("a/", 100, now); ok {
				t.Error("something is known after the end")
			}
		})
	}
}

// TestHeardIsFilled: what was missed can be had in one piece.
func TestHeardIsFilled(t *testing.T) {
	var h heard
	h.begin(10, 8)
	now := time.Now()
	h.add(message(11, 8, 0, "a/1", "x"), now)
	after, until, ok := h.add(message(14, 12, 0, "a/1", "z"), now)
	if after != 11 || until != 14 || ok {
		t.Fatalf("missed: got %d to %d, %t", after, until, ok)
	}
	if _, _, ok := h.since("a/", 11, now); ok {
		t.Error("something is known in spite of the gap")
	}
	// The server knew more by then than the message that showed the gap.
	h.fill([]sdk.Item{{Key: "a/2", Revision: 12}, {Key: "a/1", Revision: 15}}, 14)
	if _, _, ok := h.add(message(15, 14, 0, "a/1", "z"), now); !ok {
		t.Error("what was filled in counts as missed")
	}
	h.add(message(16, 15, 0, "a/3", ""), now)
	items, latest, ok := h.since("a/", 10, now)
	var got []string
	for _, it := range items {
		got = append(got, fmt.Sprint(it.Key, " ", it.Revision))
	}
	if d := cmp.Diff([]string{"a/2 12", "a/1 15", "a/3 16"}, got); d != "" || latest != 16 || !ok {
		t.Errorf("until %d, %t (-want +got):\n%s", latest, ok, d)
	}
}

// TestHeardIsBounded: who has fallen behind by more than is kept has to ask.
func TestHeardIsBounded(t *testing.T) {
	var h heard
	h.begin(0, 0)
	for i := range maxHeard + 2 {
		h.add(message(i+1, i, 0, "a/1", "x"), time.Now())
	}
	for after, want := range map[uint64]bool{1: false, 2: true, maxHeard + 1: true} {
		if _, _, ok := h.since("a/", after, time.Now()); ok != want || len(h.items) != maxHeard {
			t.Errorf("after %d: known %t, want %t; %d changes kept", after, ok, want, len(h.items))
		}
	}
}

// TestHeardExpires: what has expired is absent.
func TestHeardExpires(t *testing.T) {
	var h heard
	h.begin(0, 0)
	now := time.Now()
	h.add(message(1, 0, 50, "a/1", "x"), now)
	for at, want := range map[time.Duration]int{49 * time.Millisecond: 1, 50 * time.Millisecond: 0} {
		if items, _, _ := h.since("", 0, now.Add(at)); len(items) != want {
			t.Errorf("after %v: %d items, want %d", at, len(items), want)
		}
	}
}

// TestWatchersDoNotAsk: however many watch, a change costs the server its one
// script, and a lease does not reach them at all.
func TestWatchersDoNotAsk(t *testing.T) {
	server := statetest.NewRedis(t)
	const channel = "{" + testPrefix + "}:v1:changes"
	_, writer, _ := machine(t, server.URL(""), patience)
	mustPut(t, writer, "warm", "up") // scripts are known from here on
	var all []<-chan sdk.Item
	for range 5 {
		_, n, _ := machine(t, server.URL(""), patience)
		all = append(all, watchAll(t, n), watchAll(t, n))
	}
	eventually(t, "subscriptions", func() bool {
		return server.Client.PubSubNumSub(t.Context(), channel).Val()[channel] == 6
	})
	everybody := func(key string) {
		t.Helper()
		mustPut(t, writer, key, "v")
		for _, changes := range all {
			hears(t, changes, key, patience)
		}
	}
	everybody("first") // watchers have asked for what was before it
	server.Do("CONFIG", "RESETSTAT")
	everybody("second")
	lease, err := writer.Acquire(t.Context(), "probe", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	everybody("third")
	if got := server.Scripts(); got != 4 {
		t.Errorf("%d scripts were run, want 4", got)
	}
}

// TestStorm: of many changes at once few are told, and all are heard of.
func TestStorm(t *testing.T) {
	const writers, each = 5, 40
	server := statetest.NewRedis(t)
	var all []<-chan sdk.Item
	var spaces []*Namespace
	for range writers {
		_, n, _ := machine(t, server.URL(""), patience)
		spaces = append(spaces, n)
		all = append(all, watchAll(t, n))
	}
	mustPut(t, spaces[0], "warm", "up")
	server.Do("CONFIG", "RESETSTAT")
	began := time.Now()
	var wg sync.WaitGroup
	for w, n := range spaces {
		wg.Go(func() {
			for i := range each {
				if _, err := n.Put(t.Context(), fmt.Sprint(w), fmt.Append(nil, i), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	bursts := 1 + int(time.Since(began)/(200*time.Millisecond))
	for _, changes := range all {
		last := map[string]string{}
		eventually(t, "the last change of each", func() bool {
			for len(changes) > 0 {
				it := <-changes
				last[it.Key] = string(it.Data)
			}
			for w := range writers {
				if last[fmt.Sprint(w)] != fmt.Sprint(each-1) {
					return false
				}
			}
			return true
		})
	}
	if n, most := server.Calls("publish"), 8*bursts+writers; n > most {
		t.Errorf("%d messages of %d changes, want at most %d", n, writers*each, most)
	}
}

// TestToldIsLost: a server that has forgotten what it told, or was told something by
// somebody else, loses no change.
func TestToldIsLost(t *testing.T) {
	server := statetest.NewRedis(t)
	_, writer, _ := machine(t, server.URL(""), patience)
	_, n, _ := machine(t, server.URL(""), patience)
	changes := watchAll(t, n)
	for i, spoil := range [][]any{
		{"DEL", "{" + testPrefix + "}:v1:told"},
		{"PUBLISH", "{" + testPrefix + "}:v1:changes", "noise"},
		{"SET", "{" + testPrefix + "}:v1:told", "7"},
	} {
		key := fmt.Sprint(i)
		mustPut(t, writer, key, "v")
		hears(t, changes, key, patience)
		server.Do(spoil...)
		mustPut(t, writer, key+" again", "v")
		hears(t, changes, key+" again", patience)
	}
}

func FuzzReadChange(f *testing.F) {
	for _, seed := range []string{message(11, 8, 0, "a/1", "x"), message(13, 12, 50, "a/1"), message(11, 8, 0, "a", "x\x00y"), "11", ""} {
		f.Add(seed)
	}
	now := time.Now()
	f.Fuzz(func(t *testing.T, text string) {
		it, before, ok := readChange(text, now)
		if !ok {
			return
		}
		left := int64(0)
		if !it.Expires.IsZero() {
			left = it.Expires.Sub(now).Milliseconds()
		}
		fields := []any{it.Revision, before, left, it.Key}
		if !it.Deleted {
			fields = append(fields, string(it.Data))
		}
		again, _, ok := readChange(message(fields...), now)
		if d := cmp.Diff(it, again); !ok || d != "" {
			t.Errorf("written and read again (-want +got):\n%s", d)
		}
	})
}
