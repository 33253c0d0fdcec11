package serve

import (
	"context"
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

	once   sync.Once
	mu     sync.Mutex
	closed bool
	cancel context.CancelFunc // of the Relay call
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
	})
}

// Events implements sdk.Stream.
func (r *relay) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		r.mu.Lock()
		r.cancel = cancel
		if r.closed {
			cancel()
		}
		r.mu.Unlock()

		given, ended := r.pump(ctx, cancel, yield)
		r.over()
		switch {
		case ended:
		case ctx.Err() != nil && r.session.Err() == nil:
			yield(sdk.FailEvent(aborted(ctx)), nil)
		case given:
			f := sdk.NewFailure(sdk.CodePlugin, "plugin.lost", "plugin \""+r.ask.remote.name+"\" was lost in the middle of the answer")
			yield(sdk.FailEvent(f), nil)
		default:
			r.again(yield)
		}
	}
}

// pump reads the relay. ended: the consumer has what it wanted; given: it got
// something.
func (r *relay) pump(ctx context.Context, cancel context.CancelFunc, yield func(sdk.Event, error) bool) (given, ended bool) {
	stream, err := r.session.client.Relay(ctx)
	if err != nil {
		return false, false
	}
	if err := stream.Send(&wirepb.RelayToPlugin{Call: r.turn.id}); err != nil {
		return false, false
	}
	p := &relayedAttempts{relay: r, stream: stream,
		idle: time.AfterFunc(r.ask.remote.spec.Decide, func() { r.stalled(ctx, cancel) })}
	defer p.wait(cancel)
	for {
		m, err := stream.Recv()
		if err != nil {
			return given, false
		}
		switch {
		case m.Attempt != nil:
			p.start(ctx, m.Attempt)
		case m.Drop != nil:
			r.turn.drop(m.Drop.Attempt)
		case m.Event != nil:
			p.progress()
			e := eventFromWire(m.Event)
			given = true
			if !yield(e, nil) || e.Kind == sdk.KindFinish {
				return true, true
			}
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
func (r *relay) again(yield func(sdk.Event, error) bool) {
	if r.ask.remote.spec.OnDown == sdk.OnDownFail {
		yield(sdk.FailEvent(r.ask.remote.down()), nil)
		return
	}
	r.ask.remote.bypassed.Add(1)
	req := r.ask.call.Request
	req.Dispatch.Kind, req.Dispatch.Reason = sdk.KindRetry, "plugin lost"
	s, err := r.ask.call.Reenter(r.ctx, req)
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
}

// progress restarts the decision timer if the plugin holds the turn.
func (p *relayedAttempts) progress() {
	p.relay.turn.mu.Lock()
	defer p.relay.turn.mu.Unlock()
	if p.relay.turn.stream == nil {
		p.idle.Reset(p.relay.ask.remote.spec.Decide)
	}
}

func (p *relayedAttempts) start(ctx context.Context, o *wirepb.Attempt) {
	p.stop()
	p.idle.Stop()
	r := p.relay
	s, req := r.ask.dispatch(ctx, r.session, r.turn, o)
	r.turn.running(o.Attempt, s)
	if rep, ok := sdk.Find[sdk.Reporter](s); ok {
		rep.OnOutcome(func(out sdk.Outcome) {
			out.Kind, out.Tag = req.Dispatch.Kind, req.Dispatch.Tag
			r.ask.remote.outbox.Add(out)
		})
	}
	p.wg.Go(func() {
		for e, err := range s.Events() {
			m := &wirepb.RelayToPlugin{Attempt: o.Attempt}
			if err != nil {
				m.Fault = err.Error()
			} else {
				m.Event = eventToWire(e)
			}
			if p.stream.Send(m) != nil {
				break
			}
		}
		r.turn.running(0, nil)
		p.idle.Reset(r.ask.remote.spec.Decide)
	})
}

// stop gives up the running attempt and waits for its goroutine, so that one
// goroutine at a time sends on the relay.
func (p *relayedAttempts) stop() {
	p.relay.turn.mu.Lock()
	s := p.relay.turn.stream
	p.relay.turn.mu.Unlock()
	if s != nil {
		s.Close()
	}
	p.wg.Wait()
}

// wait ends the relay. Cancelling comes first: a send to a plugin that does not
// read ends only so.
func (p *relayedAttempts) wait(cancel context.CancelFunc) {
	cancel()
	p.stop()
	p.idle.Stop()
}
