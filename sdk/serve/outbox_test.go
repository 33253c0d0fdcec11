package serve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// sent takes the numbers of the outcomes that were given to a session.
func sent(l *link[*wirepb.ToPlugin]) (seqs []uint64) {
	for len(l.queue) > 0 {
		seqs = append(seqs, (<-l.queue).GetOutcome().Seq)
	}
	return seqs
}

// TestOutbox: an outcome goes to each process until one has acknowledged it.
func TestOutbox(t *testing.T) {
	var b Outbox
	check := func(what string, l *link[*wirepb.ToPlugin], want ...uint64) {
		t.Helper()
		if d := cmp.Diff(want, sent(l)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	b.Add(sdk.Outcome{}) // nobody is there
	first, second := newLink[*wirepb.ToPlugin](), newLink[*wirepb.ToPlugin]()
	b.attach(first, false)
	check("what waited", first, 1)
	b.Add(sdk.Outcome{})
	b.Add(sdk.Outcome{})
	check("what is new", first, 2, 3)
	b.ack(first, 2)
	b.attach(second, false)
	check("what the first did not acknowledge", second, 3)
	b.ack(first, 3) // late, but it did hear of it
	b.Add(sdk.Outcome{})
	check("to the second only", first)
	check("to the second", second, 4)
	b.ack(second, 100)
	if pending, dropped := b.Pending(); pending != 0 || dropped != 0 {
		t.Errorf("%d pending, %d dropped, want none", pending, dropped)
	}
}

// TestOutboxIsBounded: without a process the newest outcomes are kept; a queue
// that is full is filled on once there is room.
func TestOutboxIsBounded(t *testing.T) {
	var b Outbox
	const over = 10
	for range maxBacklog + over {
		b.Add(sdk.Outcome{})
	}
	if pending, dropped := b.Pending(); pending != maxBacklog || dropped != over {
		t.Errorf("%d pending, %d dropped, want %d and %d", pending, dropped, maxBacklog, over)
	}
	l := newLink[*wirepb.ToPlugin]()
	b.attach(l, false)
	next := uint64(over + 1)
	for next <= maxBacklog+over {
		got := sent(l)
		if len(got) == 0 || len(got) > queueLen {
			t.Fatalf("%d outcomes at once, want 1 to %d", len(got), queueLen)
		}
		for _, seq := range got {
			if seq != next {
				t.Fatalf("got %d, want %d", seq, next)
			}
			next++
		}
		b.ack(l, next-1)
	}
}
