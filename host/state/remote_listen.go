package state

import (
	"context"
	"errors"
	"net"
	"strconv"
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
	defer r.heard.end()
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
		switch message := message.(type) {
		case *redis.Subscription: // counts as a change: of before it
			if r.begin(ctx) != nil {
				return
			}
			r.signal.fire()
		case *redis.Message:
			if after, until, ok := r.heard.add(message.Payload, time.Now()); !ok {
				r.fill(ctx, after, until)
			}
			r.signal.fire()
		}
	}
}

// fill asks, once for all watchers, for what was missed between two revisions. If
// that fails they ask themselves.
func (r *remote) fill(ctx context.Context, after, until uint64) {
	items, _, err := r.ask(ctx, itemRoot, after)
	if err != nil {
		r.heard.begin(until, until)
		return
	}
	r.heard.fill(items, until)
}

// begin asks for the revision after which every change will be heard.
func (r *remote) begin(ctx context.Context) error {
	values, err := r.client.MGet(ctx, r.at.name(latest), r.at.name(told)).Result()
	if err != nil {
		return err
	}
	var revs [2]uint64
	for i, v := range values {
		if text, ok := v.(string); ok {
			if revs[i], err = strconv.ParseUint(text, 10, 64); err != nil {
				return err
			}
		}
	}
	r.heard.begin(revs[0], revs[1])
	return nil
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
