package serve

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// Outbox keeps the outcomes of one plugin's attempts until a process of it has
// acknowledged them, so that none is lost when a process is. It outlives
// sessions. All methods are safe for concurrent use and none waits.
//
// A clean end of an attempt that a plan ordered teaches little: those are
// collected for up to batchWait, for a plugin that takes batches. Everything else
// is sent at once, after what was collected before it, and so is what a turn tells.
type Outbox struct {
	mu      sync.Mutex
	seq     uint64
	pending []*wirepb.Outcome // the last of all numbers, without a gap
	sent    uint64            // highest number given to sink
	sink    *link[*wirepb.ToPlugin]
	batches bool // sink takes Outcomes
	due     bool // a timer runs that sends what was collected
	dropped uint64
}

const (
	// batchWait is for how long an outcome may be collected: short beside the time
	// in which anything that it says changes.
	batchWait = 100 * time.Millisecond
	// maxBatch bounds a batch, and with maxBatchSize its frame.
	maxBatch     = 256
	maxBatchSize = MaxFrame / 4
)

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
	if !b.batches || !o.Planned || o.Failure != nil || len(b.unsent()) >= maxBatch {
		b.flush()
		return
	}
	if !b.due {
		b.due = true
		time.AfterFunc(batchWait, func() {
			b.mu.Lock()
			b.due = false
			b.mu.Unlock()
			b.send()
		})
	}
}

// Pending counts outcomes that no process has acknowledged, and Dropped those
// that were given up because there were too many.
func (b *Outbox) Pending() (pending int, dropped uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending), b.dropped
}

// send gives what was collected to the present session.
func (b *Outbox) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

// attach makes a new session the receiver, which gets everything pending.
func (b *Outbox) attach(l *link[*wirepb.ToPlugin], batches bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sink, b.batches, b.sent = l, batches, 0
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

// unsent are the pending ones that sink has not been given.
func (b *Outbox) unsent() []*wirepb.Outcome {
	return b.pending[max(len(b.pending)-int(b.seq-b.sent), 0):]
}

func (b *Outbox) flush() {
	if b.sink == nil {
		return
	}
	for rest := b.unsent(); len(rest) > 0; rest = b.unsent() {
		f := &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Outcome{Outcome: rest[0]}}
		if n := batch(rest); b.batches && n > 1 {
			rest = rest[:n]
			f.Frame = &wirepb.ToPlugin_Outcomes{Outcomes: &wirepb.Outcomes{Outcomes: append([]*wirepb.Outcome(nil), rest...)}}
		} else {
			rest = rest[:1]
		}
		if !b.sink.offer(f) {
			return
		}
		b.sent = rest[len(rest)-1].Seq
	}
}

// batch is how many of list one frame takes.
func batch(list []*wirepb.Outcome) int {
	size := 0
	for i, o := range list[:min(len(list), maxBatch)] {
		if size += proto.Size(o); size > maxBatchSize {
			return i
		}
	}
	return min(len(list), maxBatch)
}
