package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// guestRelay is the slow path of one turn: events cross the process boundary.
// One attempt at a time is read; ranging over the next gives up the one before.
type guestRelay struct {
	stream grpc.BidiStreamingServer[wirepb.RelayToPlugin, wirepb.RelayToHost]
	done   chan struct{} // closed when the plugin's side is finished
	once   sync.Once

	sendMu sync.Mutex // the author's goroutine sends, but Close may come from any

	mu      sync.Mutex
	current *relayed
}

// relayed is the reading end of one attempt's events.
type relayed struct {
	attempt uint32
	events  chan *wirepb.RelayToPlugin
	quit    chan struct{} // closed when nobody reads any more
	once    sync.Once
}

func (r *relayed) stop() { r.once.Do(func() { close(r.quit) }) }

// Relay implements the service: the host opens it after OpenRelay.
func (s *Server) Relay(stream grpc.BidiStreamingServer[wirepb.RelayToPlugin, wirepb.RelayToHost]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	t := s.findTurn(first.Call)
	if t == nil {
		return status.Errorf(codes.NotFound, "no call %d", first.Call)
	}
	r := &guestRelay{stream: stream, done: make(chan struct{})}
	t.mu.Lock()
	if t.relay != nil {
		t.mu.Unlock()
		return status.Errorf(codes.AlreadyExists, "call %d is relayed already", first.Call)
	}
	t.relay = r
	close(t.relayUp)
	t.mu.Unlock()

	go r.read(t)
	select {
	case <-r.done:
	case <-stream.Context().Done():
		t.cancel(context.Canceled)
	}
	return nil
}

func (s *Server) findTurn(id uint64) *turn {
	if g := s.session.Load(); g != nil {
		return g.turn(id)
	}
	return nil
}

// read hands events to whoever ranges over their attempt. It waits when the
// author is slow, which is how gRPC's flow control reaches the vendor.
func (r *guestRelay) read(t *turn) {
	for {
		m, err := r.stream.Recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.cancel(context.Canceled)
			}
			return
		}
		r.mu.Lock()
		cur := r.current
		r.mu.Unlock()
		if cur == nil || cur.attempt != m.Attempt {
			continue // of an attempt that was given up
		}
		select {
		case cur.events <- m:
		case <-cur.quit:
		case <-r.stream.Context().Done():
			return
		}
	}
}

func (r *guestRelay) close() { r.once.Do(func() { close(r.done) }) }

func (r *guestRelay) send(m *wirepb.RelayToHost) error {
	r.sendMu.Lock()
	defer r.sendMu.Unlock()
	return r.stream.Send(m)
}

func (r *guestRelay) sendEvent(e sdk.Event) error {
	return pieces(e, func(w *wirepb.Event) error { return r.send(&wirepb.RelayToHost{Event: w}) })
}

func (r *guestRelay) drop(n uint32) error {
	return r.send(&wirepb.RelayToHost{Drop: &wirepb.Drop{Attempt: n}})
}

// relaying reports whether this turn is on the slow path already.
func (t *turn) relaying() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// openRelay puts the turn on the slow path and waits until the host has opened
// it.
func (t *turn) openRelay() (*guestRelay, error) {
	t.mu.Lock()
	first := !t.asked
	t.asked = true
	t.mu.Unlock()
	if first {
		if err := t.g.link.send(t.ctx, &wirepb.ToHost{Call: t.id, Frame: &wirepb.ToHost_OpenRelay{OpenRelay: &wirepb.OpenRelay{}}}); err != nil {
			return nil, err
		}
	}
	select {
	case <-t.relayUp:
		return t.relay, nil
	case <-t.ctx.Done():
		return nil, context.Cause(t.ctx)
	}
}

// Events implements sdk.Stream: the slow path.
func (a *attempt) Events() iter.Seq2[sdk.Event, error] {
	a.mu.Lock()
	held := a.held
	a.mu.Unlock()
	if held != nil {
		return held.Events()
	}
	return a.relayed
}

// hold awaits an attempt of a turn that is on the slow path.
func (a *attempt) hold() sdk.Awaiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held == nil {
		a.held = sdk.Hold(relaySource{a}, a.request.Dispatch.Visible)
	}
	return a.held.(sdk.Awaiter)
}

// relaySource is an attempt seen as nothing but its relayed events.
type relaySource struct{ a *attempt }

func (s relaySource) Events() iter.Seq2[sdk.Event, error] { return s.a.relayed }
func (s relaySource) Close() error                        { return s.a.Close() }

func (a *attempt) relayed(yield func(sdk.Event, error) bool) {
	a.mu.Lock()
	state := a.state
	if state == attemptNew {
		a.state = attemptRelayed
	}
	a.mu.Unlock()
	switch state {
	case attemptNew:
	case attemptCommitted, attemptRunning:
		yield(sdk.Event{}, sdk.ErrCommitted)
		return
	case attemptFailed:
		yield(sdk.FailEvent(a.failure), nil)
		return
	case attemptRelayed:
		yield(sdk.Event{}, sdk.ErrConsumed)
		return
	}
	r, err := a.t.openRelay()
	if err != nil {
		yield(sdk.Event{}, err)
		return
	}
	mine := &relayed{attempt: a.n, events: make(chan *wirepb.RelayToPlugin, 16), quit: make(chan struct{})}
	defer mine.stop()
	r.mu.Lock()
	if r.current != nil {
		r.current.stop()
	}
	r.current = mine
	r.mu.Unlock()
	if err := r.send(&wirepb.RelayToHost{Attempt: a.frame(wirepb.Attempt_AT_ONCE)}); err != nil {
		yield(sdk.Event{}, err)
		return
	}
	for {
		select {
		case m := <-mine.events:
			if m.Fault != "" {
				yield(sdk.Event{}, errors.New(m.Fault))
				return
			}
			e := eventFromWire(m.Event)
			if !yield(e, nil) {
				if e.Kind != sdk.KindFinish {
					_ = r.drop(a.n)
				}
				return
			}
			if e.Kind == sdk.KindFinish {
				return
			}
		case <-a.closed:
			_ = r.drop(a.n)
			yield(sdk.FailEvent(errClosed()), nil)
			return
		case <-mine.quit:
			yield(sdk.Event{}, sdk.ErrConsumed)
			return
		case <-a.t.ctx.Done():
			yield(sdk.Event{}, context.Cause(a.t.ctx))
			return
		}
	}
}

// Body implements the service: a prompt arrives, or a changed one is fetched.
func (s *Server) Body(stream grpc.BidiStreamingServer[wirepb.BodyPart, wirepb.BodyPart]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	t := s.findTurn(first.Call)
	if t == nil {
		return status.Errorf(codes.NotFound, "no call %d", first.Call)
	}
	if first.Attempt != 0 {
		a := t.find(first.Attempt)
		if a == nil || a.request.Prompt == nil {
			return status.Errorf(codes.NotFound, "no new prompt for attempt %d", first.Attempt)
		}
		b, err := json.Marshal(a.request.Prompt)
		if err != nil {
			return status.Error(codes.Internal, err.Error())
		}
		defer a.gone()
		return sendBody(b, func(p []byte) error { return stream.Send(&wirepb.BodyPart{Data: p}) })
	}
	b, err := receiveBody(first.Data, stream.Recv)
	if err != nil {
		return err
	}
	select {
	case t.body <- b:
	default: // an answer nobody asked for
	}
	return nil
}

// gone notes that the host has the changed prompt.
func (a *attempt) gone() {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.fetched:
	default:
		close(a.fetched)
	}
}

func sendBody(b []byte, send func([]byte) error) error {
	for len(b) > 0 {
		n := min(len(b), bodyPart)
		if err := send(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func receiveBody(b []byte, recv func() (*wirepb.BodyPart, error)) ([]byte, error) {
	for {
		p, err := recv()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b)+len(p.Data) > MaxBody {
			return nil, fmt.Errorf("prompt: more than %d bytes", MaxBody)
		}
		b = append(b, p.Data...)
	}
}
