package state

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// linger is how long the writer lets a batch grow. A commit costs about as
	// much as ten rows.
	linger = 50 * time.Millisecond

	// writeRetry bounds the pause after a flush that failed. It is at least half of
	// that, by chance: a store that comes back does not find all its users at once.
	writeRetry = time.Second
)

// writer is a goroutine that calls flush soon after a poke, again while that
// fails, and a last time at the end.
type writer struct {
	flush func(context.Context) error
	limit time.Duration // of the last flush
	poked chan struct{} // holds at most one
	ended chan struct{}
	wg    sync.WaitGroup
}

func startWriter(limit time.Duration, flush func(context.Context) error) *writer {
	w := &writer{flush: flush, limit: limit, poked: make(chan struct{}, 1), ended: make(chan struct{})}
	w.wg.Go(w.run)
	return w
}

// poke says that there is something to write. It does not block.
func (w *writer) poke() {
	select {
	case w.poked <- struct{}{}:
	default:
	}
}

// close returns once the last flush is over. It is called once.
func (w *writer) close() {
	close(w.ended)
	w.wg.Wait()
}

func (w *writer) run() {
	defer w.last()
	for {
		select {
		case <-w.poked:
		case <-w.ended:
			return
		}
		for wait := linger; ; wait = writeRetry/2 + rand.N(writeRetry/2) {
			select {
			case <-time.After(wait):
			case <-w.ended:
				return
			}
			if w.flush(context.Background()) == nil {
				break
			}
		}
	}
}

func (w *writer) last() {
	ctx, cancel := context.WithTimeout(context.Background(), w.limit)
	defer cancel()
	// The guard has reported what can go wrong here.
	_ = w.flush(ctx)
}
