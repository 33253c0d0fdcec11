package serve

import (
	"sync"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// Outbox keeps the outcomes of one plugin's attempts until a process of it has
// acknowledged them, so that none is lost when a process is. It outlives
// sessions. All methods are safe for concurrent use and none waits.
type Outbox struct {
	mu      sync.Mutex
	seq     uint64
	pending []*wirepb.Outcome
	sent    uint64 // highest number given to sink
	sink    *link[*wirepb.ToPlugin]
	dropped uint64
}

// Add numbers o and sends it to the present session, if there is one.
func (b *Outbox) Add(o sdk.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	o.Seq = b.seq
	if len(b.pending) == maxBacklog {
		// Health is a matter of the last minutes: the oldest outcome is the one
		// that matters least.
		b.pending = append(b.pending[:0], b.pending[1:]...)
		b.dropped++
	}
	b.pending = append(b.pending, outcomeToWire(o))
	b.flush()
}

// Pending counts outcomes that no process has acknowledged, and Dropped those
// that were given up because there were too many.
func (b *Outbox) Pending() (pending int, dropped uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending), b.dropped
}

// attach makes a new session the receiver, which gets everything pending.
func (b *Outbox) attach(l *link[*wirepb.ToPlugin]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink, b.sent = l, 0
	b.flush()
}

// ack forgets everything up to seq. A full queue stopped flush; an
// acknowledgement means there is room again.
func (b *Outbox) ack(l *link[*wirepb.ToPlugin], seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for n < len(b.pending) && b.pending[n].Seq <= seq {
		n++
	}
	b.pending = append(b.pending[:0], b.pending[n:]...)
	if b.sink == l {
		b.flush()
	}
}

func (b *Outbox) flush() {
	if b.sink == nil {
		return
	}
	for _, o := range b.pending {
		if o.Seq <= b.sent {
			continue
		}
		if !b.sink.offer(&wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Outcome{Outcome: o}}) {
			return
		}
		b.sent = o.Seq
	}
}
