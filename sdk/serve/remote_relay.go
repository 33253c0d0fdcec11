package serve

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"google.golang.org/grpc"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// relay is the answer of a plugin that sees or makes events. The plugin must
// live to the end of it; lost before its first event, the call is made again,
// after that it ends with a failure.
type relay struct {
	ask     *ask
	session *Session
	turn    *hostTurn
	ctx     context.Context // the call's
	release func()          // gives the process back

	once   sync.Once
	mu     sync.Mutex
	closed bool
	cancel context.CancelFunc // set while it is ranged over
}

var _ sdk.Stream = (*relay)(nil)

// Close implements sdk.Stream.
func (r *relay) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.cancel != nil {
		r.cancel()
	}
	r.over()
	return nil
}

// over tells the plugin that the turn has ended and forgets it.
func (r *relay) over() {
	r.once.Do(func() {
		r.session.cancelTurn(r.turn, "the relay has ended")
		r.session.forget(r.turn)
		r.release()
	})
}

// Events implements sdk.Stream.
func (r *relay) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		life, cancel := context.WithCancel(r.ctx) // ends with the call, the loop, or Close
		defer cancel()
		r.mu.Lock()
		r.cancel = cancel
		if r.closed {
			cancel()
		}
		r.mu.Unlock()

		given, ended := r.pump(life, yield)
		r.over()
		switch {
		case ended:
		case life.Err() != nil:
			yield(sdk.FailEvent(aborted(life)), nil)
		case given:
			f := sdk.NewFailure(sdk.CodePlugin, "plugin.lost", fmt.Sprintf("plugin %q was lost in the middle of the answer", r.ask.remote.name))
			yield(sdk.FailEvent(f), nil)
		default:
			r.again(life, yield)
		}
	}
}

// pump reads the relay. ended: the consumer has what it wanted; given: it got
// something.
func (r *relay) pump(life context.Context, yield func(sdk.Event, error) bool) (given, ended bool) {
	ctx, cancel := context.WithCancel(life) // ends this Relay call
	crosses, left := crossing(ctx)
	defer left()
	stream, err := r.session.client.Relay(crosses)
	if err != nil {
		cancel()
		return false, false
	}
	p := &relayedAttempts{relay: r, stream: stream, idle: time.AfterFunc(r.ask.remote.spec.Decide, func() { r.stalled(ctx, cancel) })}
	defer p.wait(cancel)
	if stream.Send(&wirepb.RelayToPlugin{Call: r.turn.id}) != nil {
		return false, false
	}
	p.wg.Go(func() { r.bodies(ctx, cancel) })
	for {
		m, err := stream.Recv()
		if err != nil {
			return given, false
		}
		switch {
		case m.Attempt != nil:
			if !p.start(ctx, m.Attempt) {
				return given, false
			}
		case m.Drop != nil:
			r.turn.drop(m.Drop.Attempt)
		case m.Event != nil:
			e := eventFromWire(m.Event)
			given = true
			p.clock(func() { p.consuming = true })
			if !yield(e, nil) || e.Kind == sdk.KindFinish {
				return true, true
			}
			p.clock(func() { p.consuming = false })
		}
	}
}

// bodies sends the prompt to an author who asks for it while the answer flows.
func (r *relay) bodies(ctx context.Context, cancel context.CancelFunc) {
	for {
		select {
		case f := <-r.turn.inbox:
			if f.GetNeedBody() != nil && r.ask.sendBody(ctx, r.session, r.turn) != nil {
				cancel()
			}
		case <-ctx.Done():
			return
		}
	}
}

// stalled ends the relay of a plugin that neither reads an attempt nor gives an
// event.
func (r *relay) stalled(ctx context.Context, cancel context.CancelFunc) {
	if err := r.session.Ping(ctx); err != nil && ctx.Err() == nil {
		r.session.Abandon(err)
	}
	cancel()
}

// again makes the call once more for a plugin that was lost before it gave
// anything: through the waterfall, whose listeners hear of it as of any
// attempt.
func (r *relay) again(life context.Context, yield func(sdk.Event, error) bool) {
	if r.ask.remote.spec.OnDown == sdk.OnDownFail {
		yield(sdk.FailEvent(r.ask.remote.down()), nil)
		return
	}
	r.ask.remote.bypassed.Add(1)
	req := r.ask.remote.limits.bound(r.ask.call.Request)
	req.Dispatch.Kind, req.Dispatch.Reason = sdk.KindRetry, "plugin lost"
	s, err := r.ask.call.Reenter(life, req)
	if err != nil {
		yield(sdk.FailEvent(failureOf(err)), nil)
		return
	}
	for e, err := range s.Events() {
		if !yield(e, err) || err != nil {
			return
		}
	}
}

// relayedAttempts runs the attempts that a plugin orders on a relay, one at a
// time, each in a goroutine of its own: the relay must be read meanwhile.
type relayedAttempts struct {
	relay  *relay
	stream grpc.BidiStreamingClient[wirepb.RelayToPlugin, wirepb.RelayToHost]
	idle   *time.Timer // runs while the plugin holds the turn
	wg     sync.WaitGroup
	pumps  sync.WaitGroup // the one that runs an attempt

	mu         sync.Mutex // guards what follows, and the timer
	attempting bool
	consuming  bool
}

// clock changes what the decision timer depends on: it runs while the plugin
// holds the turn, not while an attempt is under way or the consumer takes its
// time.
func (p *relayedAttempts) clock(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	if p.attempting || p.consuming {
		p.idle.Stop()
	} else {
		p.idle.Reset(p.relay.ask.remote.spec.Decide)
	}
}

// start runs an attempt. It reports false if the plugin was lost before it had
// said what to send.
func (p *relayedAttempts) start(ctx context.Context, o *wirepb.Attempt) bool {
	p.stop()
	p.clock(func() { p.attempting = true })
	r := p.relay
	run, cancel := context.WithCancel(ctx)
	r.turn.running(o.Attempt, cancel)
	s, req := r.ask.dispatch(run, r.session, r.turn, o)
	if s == nil {
		cancel()
		return false
	}
	r.ask.remote.limits.learn(&req)
	if rep, ok := sdk.Find[sdk.Reporter](s); ok {
		rep.OnOutcome(func(out sdk.Outcome) {
			out.Kind, out.Tag = req.Dispatch.Kind, req.Dispatch.Tag
			r.ask.remote.outbox.Add(out)
		})
	}
	p.pumps.Go(func() {
		defer cancel()
		for e, err := range s.Events() {
			if !p.give(o.Attempt, e, err) {
				break
			}
		}
		r.turn.running(0, nil)
		p.clock(func() { p.attempting = false })
	})
	return true
}

// give sends one event of an attempt to the plugin.
func (p *relayedAttempts) give(attempt uint32, e sdk.Event, err error) bool {
	if err != nil {
		return p.stream.Send(&wirepb.RelayToPlugin{Attempt: attempt, Fault: err.Error()}) == nil
	}
	return pieces(e, func(w *wirepb.Event) error {
		return p.stream.Send(&wirepb.RelayToPlugin{Attempt: attempt, Event: w})
	}) == nil
}

// stop gives up the running attempt and waits for its goroutine, so that one
// goroutine at a time sends on the relay.
func (p *relayedAttempts) stop() {
	p.relay.turn.mu.Lock()
	cancel := p.relay.turn.cancel
	p.relay.turn.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	p.pumps.Wait()
}

// wait ends the relay. Cancelling comes first: a send to a plugin that does not
// read ends only so.
func (p *relayedAttempts) wait(cancel context.CancelFunc) {
	cancel()
	p.stop()
	p.wg.Wait()
	p.idle.Stop()
}
