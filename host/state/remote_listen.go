package state

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// silence is how long the server may say nothing before it is asked
	// whether it is there, and then again before it is given up.
	silence = 2 * time.Second
	// listenRetry is also how often changes are looked for meanwhile; they
	// have to be seen within a second.
	listenRetry = 500 * time.Millisecond
)

// listen signals the changes of all processes until ctx ends. While nothing
// can be heard, watchers look for changes now and then.
func (r *remote) listen(ctx context.Context) {
	for {
		r.hear(ctx)
		r.signal.fire()
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenRetry):
		}
	}
}

// hear signals changes until the connection is lost, ctx ends, or the server
// will not let us listen. What is wrong with the server is left to the
// operations that somebody waits for.
func (r *remote) hear(ctx context.Context) {
	sub := r.client.Subscribe(ctx)
	defer sub.Close()
	defer context.AfterFunc(ctx, func() { sub.Close() })() // reading does not obey ctx
	if sub.Subscribe(ctx, r.channel) != nil {
		return
	}
	for asked := false; ; {
		message, err := sub.ReceiveTimeout(ctx, silence)
		switch {
		case isTimeout(err) && !asked:
			if sub.Ping(ctx) != nil {
				return
			}
			asked = true
			continue
		case err != nil:
			return
		}
		asked = false
		// A confirmed subscription counts as a change: of before it.
		if _, pong := message.(*redis.Pong); !pong {
			r.signal.fire()
		}
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
