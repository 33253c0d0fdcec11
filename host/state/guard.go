package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"spillway/sdk"
)

// settle is how long after the last failure a successful write ends an outage.
// A full or contended file lets some writes through; without it each of them
// would look like a recovery.
const settle = 2 * time.Second

// guard runs the operations of a store. It bounds each, turns the store's
// troubles into sdk.ErrUnavailable, and reports an outage when it begins and
// when it ends.
type guard struct {
	log   *slog.Logger
	limit time.Duration // of what a plugin waits for
	bulk  time.Duration // of records, which only people and the writer wait for

	mu    sync.Mutex
	since time.Time // when the present outage began, zero if there is none
	last  time.Time // its latest failure
}

// read runs an operation that changes nothing.
func (g *guard) read(ctx context.Context, limit time.Duration, op func(context.Context) error) error {
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = op(inner)
	}
	switch {
	case err == nil, isAnswer(err):
		return err
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Cause(ctx)
	case ctx.Err() != nil: // the caller was in more of a hurry than we are: no outage
		return fmt.Errorf("%w: %w", sdk.ErrUnavailable, ctx.Err())
	}
	g.failed(err)
	return fmt.Errorf("%w: %v", sdk.ErrUnavailable, err)
}

// write runs an operation that changes something. One that fails for want of
// time may have taken effect all the same.
func (g *guard) write(ctx context.Context, limit time.Duration, op func(context.Context) error) error {
	err := g.read(ctx, limit, op)
	if err == nil {
		g.wrote()
	}
	return err
}

// isAnswer reports whether err is an answer of a working store.
func isAnswer(err error) bool {
	return errors.Is(err, sdk.ErrNotFound) || errors.Is(err, sdk.ErrConflict) || errors.Is(err, sdk.ErrHeld)
}

func (g *guard) failed(err error) {
	now := time.Now()
	g.mu.Lock()
	fresh := g.since.IsZero()
	if fresh {
		g.since = now
	}
	g.last = now
	g.mu.Unlock()
	if fresh {
		g.log.Warn("state store unavailable, going on without it", "err", err)
	}
}

func (g *guard) wrote() {
	now := time.Now()
	g.mu.Lock()
	over := !g.since.IsZero() && now.Sub(g.last) >= settle
	took := now.Sub(g.since)
	if over {
		g.since = time.Time{}
	}
	g.mu.Unlock()
	if over {
		g.log.Info("state store available again", "took", took.Round(time.Millisecond).String())
	}
}
