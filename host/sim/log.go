package sim

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// maxCalls is how many calls a vendor's log keeps; the oldest go first.
	maxCalls = 10_000
	// keptBody is how much of a request's body is kept, where it is at all.
	keptBody = 1 << 20
)

// Call is one request that a vendor got. Header and Body are shared by all
// copies: read them only.
type Call struct {
	Vendor       string    `json:"vendor"`
	N            int       `json:"n"` // 1 for the vendor's first
	Time         time.Time `json:"time"`
	Method       string    `json:"method"`
	Path         string    `json:"path"`
	Model        string    `json:"model,omitempty"`
	Stream       bool      `json:"stream,omitempty"`
	Key          string    `json:"key,omitempty"` // fingerprint, "" if none was given
	RequestBytes int64     `json:"request_bytes"`
	Step         string    `json:"step,omitempty"` // the step played, "" for a request that takes none

	// End is zero while the answer is under way. The three below are set with it.
	End     time.Time `json:"end,omitzero"`
	Status  int       `json:"status,omitempty"` // 0 if none was sent
	Written int64     `json:"written"`          // bytes of body
	Gone    bool      `json:"gone,omitempty"`   // the client left before the answer was complete

	Header http.Header `json:"-"` // with Options.KeepRequests, without credentials
	Body   []byte      `json:"-"` // likewise, its first megabyte
}

type callLog struct {
	keep bool

	mu      sync.Mutex // guards the three below
	calls   []*Call
	total   int
	changed chan struct{} // closed and replaced at every change
}

func newCallLog(keep bool) *callLog {
	return &callLog{keep: keep, changed: make(chan struct{})}
}

// add numbers c and puts it in the log. From then on it belongs to the log.
func (l *callLog) add(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	c.N = l.total
	if len(l.calls) == maxCalls {
		l.calls = append(l.calls[:0], l.calls[1:]...)
	}
	l.calls = append(l.calls, c)
	l.announce()
}

// update changes a call of the log.
func (l *callLog) update(c *Call, change func(*Call)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(c)
	l.announce()
}

func (l *callLog) announce() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *callLog) snapshot() ([]Call, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	calls := make([]Call, len(l.calls))
	for i, c := range l.calls {
		calls[i] = *c
	}
	return calls, l.changed
}

// Calls returns the vendor's log, oldest first: the last 10 000 calls.
func (e *Endpoint) Calls() []Call {
	calls, _ := e.log.snapshot()
	return calls
}

// Wait returns when the vendor has got n calls, ended or not.
func (e *Endpoint) Wait(ctx context.Context, n int) ([]Call, error) {
	return e.Until(ctx, func(calls []Call) bool { return len(calls) >= n })
}

// Until returns when the vendor's log meets a condition.
func (e *Endpoint) Until(ctx context.Context, condition func([]Call) bool) ([]Call, error) {
	for {
		calls, changed := e.log.snapshot()
		if condition(calls) {
			return calls, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls, context.Cause(ctx)
		}
	}
}
