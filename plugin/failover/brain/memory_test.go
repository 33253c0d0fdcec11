package brain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"spillway/sdk"
)

// keysOf is the healthy key of each of n conversations.
func keysOf(p sdk.Provider, n int) []string {
	b := New(moment(0), Policy{})
	keys := make([]string, n)
	for i := range keys {
		t := Turn{conversation: sdk.ConversationHash(fmt.Sprintf("conversation-%d", i))}
		keys[i] = b.pick(moment(0), &t, &p, sdk.Route{Provider: p.Name, Model: "1"}, nil, false).key
	}
	return keys
}

// TestKeysOfConversations: they are evenly spread, and a key that goes takes no
// other key's conversations along.
func TestKeysOfConversations(t *testing.T) {
	const n = 10_000
	for size := 2; size <= 6; size++ {
		p := sdk.Provider{Name: "a"}
		for i := range size {
			p.Keys = append(p.Keys, fmt.Sprintf("k_%x", sdk.ConversationHash(fmt.Sprint(i))))
		}
		all := keysOf(p, n)
		count := map[string]int{}
		for _, k := range all {
			count[k]++
		}
		for _, k := range p.Keys {
			if even := n / size; count[k] < even*9/10 || count[k] > even*11/10 {
				t.Errorf("%d keys: %s has %d conversations, want about %d", size, k, count[k], even)
			}
		}
		gone := p.Keys[size/2]
		fewer := p
		fewer.Keys = slices.DeleteFunc(slices.Clone(p.Keys), func(k string) bool { return k == gone })
		slices.Reverse(fewer.Keys) // their order is no matter
		for i, k := range keysOf(fewer, n) {
			if all[i] != gone && k != all[i] {
				t.Fatalf("%d keys: conversation %d went from %s to %s although %s is gone", size, i, all[i], k, gone)
			}
		}
	}
}

// TestCanaryOfConversations: the share is kept, and all requests of a
// conversation use the canary or none does.
func TestCanaryOfConversations(t *testing.T) {
	const n = 10_000
	w := newWorld()
	p := *w.b.policy
	p.Canary = Canary{Share: 0.1, Priority: []sdk.Route{{Provider: "c", Model: "9"}}}
	w.b = New(w.now, p)
	canary := 0
	for i := range n {
		var turn Turn
		q := query(w.now, 0)
		q.Conversation = fmt.Sprintf("conversation-%d", i)
		w.b.Start(w.now, &turn, q, worldCat, nil)
		first := turn.canary
		q.Draw, q.Head = 0.05, worldRoutes[3]
		if w.b.Start(w.now, &turn, q, worldCat, nil); turn.canary != first {
			t.Fatalf("conversation %d: canary %v, then %v", i, first, turn.canary)
		}
		if first {
			canary++
		}
	}
	if canary < n*9/100 || canary > n*11/100 {
		t.Errorf("%d of %d conversations are canaries, want about a tenth", canary, n)
	}
}

func TestPace(t *testing.T) {
	w := newWorld()
	r := worldRoutes[0]
	for i := range 60 {
		w.b.learn(r, time.Duration(i%20+1)*time.Second)
		want := min(time.Duration(i+1), 20) * time.Second
		if i >= 19 {
			want = 19 * time.Second
		}
		if got := w.b.pace(r); got != want {
			t.Fatalf("after %d answers: got %v, want %v", i+1, got, want)
		}
	}
	if w.b.learn(r, 0); w.b.strides[r].n != 60 {
		t.Error("an answer without content was learned from")
	}
}

// TestTalksAreBounded: the oldest conversations make room.
func TestTalksAreBounded(t *testing.T) {
	w := newWorld()
	var turn Turn
	for i := range maxTalks + 10 {
		q := query(w.now, 0)
		q.Conversation = fmt.Sprint(i)
		w.b.Start(w.now, &turn, q, worldCat, nil)
		w.b.Committed(w.now, &turn)
	}
	if len(w.b.talks) != maxTalks {
		t.Errorf("%d conversations are kept, want %d", len(w.b.talks), maxTalks)
	}
	if _, ok := w.b.talks[sdk.ConversationHash("9")]; ok {
		t.Error("the oldest ones are kept")
	}
	if _, ok := w.b.talks[sdk.ConversationHash(fmt.Sprint(maxTalks+9))]; !ok {
		t.Error("the newest one is not kept")
	}
}
