package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// turn is one call that the plugin is asked about. A nil turn ignores frames:
// they are late.
type turn struct {
	g      *guest
	id     uint64
	call   *sdk.Call
	ctx    context.Context // the turn's life
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	spent    bool // next was used
	attempts []*attempt
	relay    *guestRelay
	relayUp  chan struct{} // closed when relay is set
	asked    bool          // OpenRelay was sent
	body     chan []byte   // an answer to NeedBody, capacity 1
	needed   bool          // NeedBody was sent and its answer not yet taken
}

func (g *guest) open(id uint64, o *wirepb.Open) {
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &turn{g: g, id: id, ctx: ctx, cancel: cancel, spent: o.NextSpent,
		relayUp: make(chan struct{}), body: make(chan []byte, 1)}
	t.call = sdk.NewCall(t, o.Id, int(o.Depth), viewFromWire(o.View))
	t.call.Past = convert(o.Past, attemptedFromWire)
	heard := g.heard()
	if o.Running != nil {
		t.call.Running = t.join(attemptedFromWire(o.Running))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns[id] != nil {
		return // the one that is open would never hear of the session's end
	}
	g.turns[id] = t
	go func() {
		t.await(heard)
		t.run()
	}()
}

// join makes an attempt that is under way the first of the turn.
func (t *turn) join(running sdk.Attempted) *sdk.Running {
	r := t.call.Request
	r.Provider, r.Model = running.Route.Provider, running.Route.Model
	a := t.attempt(r, false)
	a.state, a.joined = attemptRunning, true
	return &sdk.Running{Attempted: running, Stream: a}
}

func (g *guest) turn(id uint64) *turn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turns[id]
}

// run is the goroutine of an author's listener.
func (t *turn) run() {
	defer func() {
		t.cancel(context.Canceled)
		t.g.mu.Lock()
		delete(t.g.turns, t.id)
		t.g.mu.Unlock()
	}()
	var (
		s   sdk.Stream
		err error
	)
	perr := t.g.protect("llm/stream", func() { s, err = t.g.plugin.LLMStream(t.ctx, t.call, t.next) })
	switch {
	case perr != nil:
		t.fail(sdk.NewFailure(sdk.CodePlugin, "plugin.panic", perr.Error()))
	case err != nil:
		t.fail(failureOf(err))
	case s == nil:
		t.fail(sdk.NewFailure(sdk.CodePlugin, "plugin.stream", "the listener returned neither a stream nor an error"))
	default:
		if a, ok := sdk.Find[*attempt](s); ok && a.t == t {
			t.pass(a)
		} else {
			t.answer(s)
		}
	}
}

// failureOf is the failure that an author's error stands for.
func failureOf(err error) *sdk.Failure {
	if f, ok := errors.AsType[*sdk.Failure](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) {
		return sdk.NewFailure(sdk.CodeAborted, "plugin.error", err.Error())
	}
	return sdk.NewFailure(sdk.CodePlugin, "plugin.error", err.Error())
}

// pass hands an attempt over untouched.
func (t *turn) pass(a *attempt) {
	if a.joined { // returned unawaited: it is the answer, whatever comes
		a.AwaitVisible(t.ctx)
	}
	a.mu.Lock()
	state, failure := a.state, a.failure
	a.mu.Unlock()
	switch state {
	case attemptNew:
		if t.relaying() {
			t.answer(a)
			return
		}
		if err := a.order(wirepb.Attempt_AT_ONCE); err != nil {
			t.fail(failureOf(err))
		}
	case attemptFailed:
		t.fail(failure)
	case attemptCommitted: // the host has it already
	case attemptRunning, attemptRelayed:
		t.answer(a)
	}
}

// answer relays a stream that the plugin makes or changes.
func (t *turn) answer(s sdk.Stream) {
	defer s.Close()
	r, err := t.openRelay()
	if err != nil {
		return // the session or the caller is gone
	}
	perr := t.g.protect("stream", func() {
		for e, err := range s.Events() {
			if t.ctx.Err() != nil {
				return // the host knows better why the turn has ended
			}
			if err != nil {
				e = sdk.FailEvent(failureOf(err))
			}
			if r.sendEvent(e) != nil || e.Kind == sdk.KindFinish {
				return
			}
		}
		if t.ctx.Err() != nil {
			return
		}
		f := sdk.NewFailure(sdk.CodePlugin, "plugin.stream", "the listener's stream ended without a finish event")
		_ = r.sendEvent(sdk.FailEvent(f))
	})
	if perr != nil {
		_ = r.sendEvent(sdk.FailEvent(sdk.NewFailure(sdk.CodePlugin, "plugin.panic", perr.Error())))
	}
	r.close()
}

func (t *turn) fail(f *sdk.Failure) {
	if t.relaying() {
		t.answer(sdk.Fail(f))
		return
	}
	_ = t.g.link.send(t.ctx, &wirepb.ToHost{Call: t.id, Frame: &wirepb.ToHost_Finish{Finish: &wirepb.Finish{Failure: failureToWire(f)}}})
}

func (t *turn) next(_ context.Context, r sdk.Request) (sdk.Stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spent {
		return nil, ErrNext(t.g.plugin.Manifest().Name)
	}
	t.spent = true
	return t.attempt(r, false), nil
}

// ErrNext is sdk.ErrNextSpent with the name of the listener at fault.
func ErrNext(name string) error { return fmt.Errorf("plugin %q: %w", name, sdk.ErrNextSpent) }

// Reenter implements sdk.CallCore.
func (t *turn) Reenter(_ context.Context, r sdk.Request) (sdk.Stream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.attempt(r, true), nil
}

func (t *turn) attempt(r sdk.Request, reenter bool) *attempt {
	a := &attempt{t: t, n: uint32(len(t.attempts) + 1), request: r, reenter: reenter,
		decided: make(chan struct{}), fetched: make(chan struct{}), closed: make(chan struct{})}
	t.attempts = append(t.attempts, a)
	return a
}

// Prompt implements sdk.CallCore.
func (t *turn) Prompt(ctx context.Context) (*sdk.Prompt, error) {
	t.mu.Lock()
	first := !t.needed
	t.needed = true
	t.mu.Unlock()
	if first { // one at a time: the host takes a turn's frames in turn
		if err := t.g.link.send(t.ctx, &wirepb.ToHost{Call: t.id, Frame: &wirepb.ToHost_NeedBody{NeedBody: &wirepb.NeedBody{}}}); err != nil {
			return nil, err
		}
	}
	select {
	case b := <-t.body:
		t.mu.Lock()
		t.needed = false
		t.mu.Unlock()
		p := new(sdk.Prompt)
		if err := json.Unmarshal(b, p); err != nil {
			return nil, fmt.Errorf("prompt: %w", err)
		}
		return p, nil
	case <-t.ctx.Done():
		return nil, context.Cause(t.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *turn) find(n uint32) *attempt {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n == 0 || int(n) > len(t.attempts) {
		return nil
	}
	return t.attempts[n-1]
}

func (t *turn) decided(n uint32, f *sdk.Failure) {
	if a := t.find(n); a != nil {
		a.decide(f)
	}
}

func (t *turn) cancelled(reason string) {
	if t != nil {
		t.cancel(fmt.Errorf("%w: %s", context.Canceled, reason))
	}
}

// attemptState is how far a handle has come.
type attemptState uint8

const (
	attemptNew attemptState = iota
	attemptRunning
	attemptFailed
	attemptCommitted
	attemptRelayed
)

// attempt is the handle an author gets from next and Reenter.
type attempt struct {
	t       *turn
	n       uint32
	request sdk.Request
	reenter bool
	joined  bool // it was under way when the turn began

	decided chan struct{} // closed when failed or committed
	fetched chan struct{} // closed when the host has the changed prompt
	closed  chan struct{} // closed by Close
	once    sync.Once     // guards closed
	mu      sync.Mutex
	state   attemptState
	failure *sdk.Failure
	heard   <-chan struct{} // what was before the end
	held    sdk.Stream      // set when the turn relays: awaits its events
}

var (
	_ sdk.Stream  = (*attempt)(nil)
	_ sdk.Awaiter = (*attempt)(nil)
)

func (a *attempt) frame(commit wirepb.Attempt_Commit) *wirepb.Attempt {
	return &wirepb.Attempt{
		Attempt: a.n, Reenter: a.reenter, Route: routeToWire(a.request.Route()),
		Dispatch: dispatchToWire(a.request.Dispatch), NewBody: a.request.Prompt != nil, Commit: commit,
	}
}

// order asks the host to make the attempt. With a changed prompt it waits until
// the host has fetched that, since the turn may be over afterwards.
func (a *attempt) order(commit wirepb.Attempt_Commit) error {
	err := a.t.g.link.send(a.t.ctx, &wirepb.ToHost{Call: a.t.id, Frame: &wirepb.ToHost_Attempt{Attempt: a.frame(commit)}})
	if err != nil || a.request.Prompt == nil {
		return err
	}
	select {
	case <-a.fetched:
		return nil
	case <-a.t.ctx.Done():
		return context.Cause(a.t.ctx)
	}
}

func (a *attempt) decide(f *sdk.Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state != attemptRunning {
		return
	}
	a.heard = a.t.g.heard()
	a.state, a.failure = attemptCommitted, f
	if f != nil {
		a.state = attemptFailed
	}
	close(a.decided)
}

// AwaitVisible implements sdk.Awaiter.
func (a *attempt) AwaitVisible(ctx context.Context) *sdk.Failure {
	if a.t.relaying() {
		return a.hold().AwaitVisible(ctx)
	}
	a.mu.Lock()
	first := a.state == attemptNew
	if first {
		a.state = attemptRunning
	}
	a.mu.Unlock()
	if first {
		if err := a.order(wirepb.Attempt_FIRST_VISIBLE); err != nil {
			return failureOf(err)
		}
	}
	select {
	case <-a.decided:
	case <-a.t.ctx.Done():
		return sdk.NewFailure(sdk.CodeAborted, "sdk.await", context.Cause(a.t.ctx).Error())
	case <-ctx.Done():
		a.Close()
		select { // the host answers a drop at once
		case <-a.decided:
		case <-a.t.ctx.Done():
			return sdk.NewFailure(sdk.CodeAborted, "sdk.await", context.Cause(ctx).Error())
		}
	}
	a.mu.Lock()
	failure, heard := a.failure, a.heard
	a.mu.Unlock()
	a.t.await(heard)
	return failure
}

// Close implements sdk.Stream. An attempt that has not begun never will; whoever
// reads a relayed one gives it up.
func (a *attempt) Close() error {
	a.once.Do(func() { close(a.closed) })
	a.mu.Lock()
	state := a.state
	if state == attemptNew {
		a.state, a.failure = attemptFailed, errClosed()
		close(a.decided)
	}
	a.mu.Unlock()
	if state == attemptRunning {
		return a.t.g.link.send(a.t.ctx, &wirepb.ToHost{Call: a.t.id, Frame: &wirepb.ToHost_Drop{Drop: &wirepb.Drop{Attempt: a.n}}})
	}
	return nil
}

func errClosed() *sdk.Failure {
	return sdk.NewFailure(sdk.CodeAborted, "sdk.close", "the call was given up")
}
