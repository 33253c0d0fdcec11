package agent

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"spillway/host"
	"spillway/sdk"
)

const (
	firstBackoff = time.Second
	lastBackoff  = 8 * time.Second
)

// patience is what may be waited for one message of the user, by the agent and
// all that are nested in it.
type patience struct {
	mu   sync.Mutex
	left time.Duration
	next time.Duration // the most that the next wait takes if no time is named
}

type patienceKey struct{}

// withPatience begins a budget, unless an agent further up has.
func withPatience(ctx context.Context, all time.Duration) context.Context {
	if _, ok := ctx.Value(patienceKey{}).(*patience); ok {
		return ctx
	}
	return context.WithValue(ctx, patienceKey{}, &patience{left: all, next: firstBackoff})
}

func patienceOf(ctx context.Context) *patience { return ctx.Value(patienceKey{}).(*patience) }

// take is how long to wait after f before the model is asked again, taken from
// the budget. ok is false if that would not help, or takes longer than is left.
func (p *patience) take(f *sdk.Failure, now time.Time) (wait time.Duration, ok bool) {
	named, should := host.Retry(f, now)
	if !should {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait = named; wait == 0 {
		wait = rand.N(p.next) + time.Millisecond // never none at all
		p.next = min(2*p.next, lastBackoff)
	}
	if wait > p.left {
		return 0, false
	}
	p.left -= wait
	return wait, true
}

// served begins the back-off anew. What was waited stays spent.
func (p *patience) served() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = firstBackoff
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
