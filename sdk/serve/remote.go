package serve

import (
	"context"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// Source supplies the process that serves a hook at this moment.
type Source interface {
	// Acquire returns a live session, waiting up to wait for one. release is
	// called once when the turn is over, which is long before the answer's end.
	Acquire(ctx context.Context, wait time.Duration) (s *Session, release func(), err error)
}

// maxAsks is how many processes one turn asks: the one that is lost, and two
// successors. After that the plugin counts as down for this call.
const maxAsks = 3

// Remote is a plugin in another process as a listener of the host's waterfall.
type Remote struct {
	name     string
	spec     sdk.HookSpec
	source   Source
	outbox   *Outbox
	bypassed atomic.Uint64
	planned  atomic.Uint64
	limits   limits
}

var _ sdk.Hook = (*Remote)(nil)

// NewRemote returns the listener of the plugin that source supplies. Outcomes
// go to outbox.
func NewRemote(name string, spec sdk.HookSpec, source Source, outbox *Outbox) *Remote {
	if spec.OnDown == "" {
		spec.OnDown = sdk.OnDownBypass
	}
	if spec.Wait <= 0 {
		spec.Wait = defaultWait
	}
	if spec.Decide <= 0 {
		spec.Decide = defaultDecide
	}
	return &Remote{name: name, spec: spec, source: source, outbox: outbox}
}

// Bypassed counts the calls that went on without the plugin because it was
// down.
func (r *Remote) Bypassed() uint64 { return r.bypassed.Load() }

// Planned counts the calls whose first attempt was made without asking, by the
// plugin's plan.
func (r *Remote) Planned() uint64 { return r.planned.Load() }

// LLMStream implements sdk.Hook: it does what the plugin's plan says, or asks the
// plugin and does what it says.
func (r *Remote) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if call.Depth > r.spec.MaxDepth || !r.listensTo(call.Request.Route()) {
		return next(ctx, call.Request)
	}
	a := &ask{remote: r, call: call, next: next, past: call.Past}
	wait := time.Duration(0)
	if r.spec.OnDown == sdk.OnDownWait {
		wait = r.spec.Wait
	}
	for range maxAsks {
		s, release, err := r.source.Acquire(ctx, wait)
		if err != nil {
			break
		}
		stream, t, done := a.planned(ctx, s)
		if !done {
			stream, done = a.run(ctx, s, t)
		}
		if a.relay != nil {
			a.relay.release = release // it needs the process to the answer's end
			return stream, nil
		}
		release()
		if done {
			return stream, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return a.without(ctx)
}

func (r *Remote) listensTo(route sdk.Route) bool {
	if len(r.spec.Models) == 0 {
		return true
	}
	for _, glob := range r.spec.Models {
		if ok, _ := path.Match(glob, route.String()); ok {
			return true
		}
	}
	return false
}

// hostTurn is one turn as the session's reading goroutine sees it.
type hostTurn struct {
	id    uint64
	inbox chan *wirepb.ToHost // capacity 2: an order, and a NeedBody before it

	mu      sync.Mutex
	attempt uint32             // the running attempt's number, 0 if none
	cancel  context.CancelFunc // of the running attempt
	dropped uint32             // the attempt given up last; it may not have begun
}

// drop gives up the running attempt. It is called by the reading goroutine.
func (t *hostTurn) drop(n uint32) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped = n
	if n == t.attempt && t.cancel != nil {
		t.cancel()
	}
}

// running makes attempt n the one that drop gives up.
func (t *hostTurn) running(n uint32, cancel context.CancelFunc) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attempt, t.cancel = n, cancel
	if cancel != nil && n == t.dropped {
		cancel()
	}
}

// ask is one turn's conversation, with as many processes as it takes.
type ask struct {
	remote *Remote
	call   *sdk.Call
	next   sdk.Next
	spent  bool // next was used
	past   []sdk.Attempted
	unseen int // of past, how many at the end no process has been told about
	relay  *relay
}

// begin opens the turn on s.
func (a *ask) begin(ctx context.Context, s *Session) (*hostTurn, error) {
	t := s.newTurn()
	open := openToWire(a.call, a.spent)
	open.Past = convert(a.past, attemptedToWire)
	a.remote.outbox.send() // what has ended before comes before
	if err := s.link.send(ctx, &wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Open{Open: open}}); err != nil {
		s.forget(t)
		return nil, err
	}
	a.unseen = 0
	for i := range a.past {
		a.past[i].Planned = false // whoever else hears of it hears it again
	}
	return t, nil
}

// newTurn is a turn with a number of its own.
func (s *Session) newTurn() *hostTurn {
	t := &hostTurn{inbox: make(chan *wirepb.ToHost, 2)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	t.id = s.last
	s.turns[t.id] = t
	return t
}

func openToWire(c *sdk.Call, spent bool) *wirepb.Open {
	return &wirepb.Open{Id: c.ID, Depth: uint32(c.Depth), View: viewToWire(c.Request), NextSpent: spent}
}

func (s *Session) forget(t *hostTurn) {
	s.mu.Lock()
	delete(s.turns, t.id)
	s.mu.Unlock()
}

// run holds one process's turn until it is decided: t, which the plugin has been
// given already, or else a new one. done is false when the process was lost and
// another should be asked.
func (a *ask) run(ctx context.Context, s *Session, t *hostTurn) (stream sdk.Stream, done bool) {
	if t == nil {
		var err error
		if t, err = a.begin(ctx, s); err != nil {
			return nil, false
		}
	}
	keep := false // a relay keeps the turn open
	defer func() {
		if !keep {
			s.forget(t)
		}
		if !done {
			a.unseen = len(a.past) // whoever knew of them is gone
		}
	}()
	timer := time.NewTimer(a.remote.spec.Decide)
	defer timer.Stop()
	for {
		timer.Reset(a.remote.spec.Decide)
		var f *wirepb.ToHost
		select {
		case f = <-t.inbox:
		case <-s.link.ended:
			return nil, false
		case <-timer.C:
			return a.stalled(ctx, s, t)
		case <-ctx.Done():
			s.cancelTurn(t, "the caller is gone")
			return sdk.Fail(aborted(ctx)), true
		}
		switch m := f.Frame.(type) {
		case *wirepb.ToHost_Attempt:
			stream, done := a.attempt(ctx, s, t, m.Attempt)
			if done {
				return stream, true
			}
			if s.Err() != nil {
				return nil, false // the attempt is in past: the successor hears of it
			}
		case *wirepb.ToHost_Finish:
			f := failureFromWire(m.Finish.Failure)
			if f == nil {
				f = sdk.NewFailure(sdk.CodePlugin, "plugin.finish", fmt.Sprintf("plugin %q ended the call without a reason", a.remote.name))
			}
			return sdk.Fail(f), true
		case *wirepb.ToHost_OpenRelay:
			keep = true
			a.relay = &relay{ask: a, session: s, turn: t, ctx: ctx}
			return sdk.Hold(a.relay, a.call.Request.Dispatch.Visible), true
		case *wirepb.ToHost_NeedBody:
			switch err := a.sendBody(ctx, s, t); {
			case err != nil && ctx.Err() != nil:
				s.cancelTurn(t, "the caller is gone")
				return sdk.Fail(aborted(ctx)), true
			case s.gone(err):
				return nil, false
			case err != nil:
				s.cancelTurn(t, "the prompt could not be sent")
				return sdk.Fail(sdk.NewFailure(sdk.CodePlugin, "plugin.body", err.Error())), true
			}
		}
	}
}

func aborted(ctx context.Context) *sdk.Failure {
	return sdk.NewFailure(sdk.CodeAborted, "caller", context.Cause(ctx).Error())
}

// stalled decides about a plugin that holds the turn too long: if it still
// answers pings only this call goes on without it, else it counts as lost and
// its supervisor kills it.
func (a *ask) stalled(ctx context.Context, s *Session, t *hostTurn) (sdk.Stream, bool) {
	if err := s.Ping(ctx); err != nil && ctx.Err() == nil {
		s.Abandon(fmt.Errorf("%w; %w", errStalled, err))
		return nil, false
	}
	s.cancelTurn(t, "no decision in time")
	stream, err := a.without(ctx)
	if err != nil {
		return sdk.Fail(failureOf(err)), true
	}
	return stream, true
}

func (s *Session) cancelTurn(t *hostTurn, reason string) {
	s.link.offer(&wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Cancel{Cancel: &wirepb.Cancel{Reason: reason}}})
}

// dispatch makes the stream of an ordered attempt; nil if the process was lost
// before it had said what to send.
func (a *ask) dispatch(ctx context.Context, s *Session, t *hostTurn, o *wirepb.Attempt) (sdk.Stream, sdk.Request) {
	r := patch(a.call.Request, o)
	if o.NewBody {
		p, err := a.fetchBody(ctx, s, t, o.Attempt)
		if err != nil && ctx.Err() != nil {
			return sdk.Fail(aborted(ctx)), r
		}
		if s.gone(err) {
			return nil, r
		}
		if err != nil {
			return sdk.Fail(sdk.NewFailure(sdk.CodePlugin, "plugin.body", err.Error())), r
		}
		r.Prompt = p
	}
	var stream sdk.Stream
	var err error
	switch {
	case o.Reenter:
		stream, err = a.call.Reenter(ctx, r)
	case a.spent:
		err = ErrNext(a.remote.name)
	default:
		a.spent = true
		stream, err = a.next(ctx, r)
	}
	if err != nil {
		stream = sdk.Fail(failureOf(err))
	}
	return stream, r
}

// dropRule is that of attempts which the plugin itself gave up.
const dropRule = "plugin.drop"

// attempt makes an ordered attempt in the caller's goroutine. done is true when
// its stream is the call's answer.
func (a *ask) attempt(ctx context.Context, s *Session, t *hostTurn, o *wirepb.Attempt) (sdk.Stream, bool) {
	started := time.Now()
	if o.Commit == wirepb.Attempt_AT_ONCE {
		stream, r := a.dispatch(ctx, s, t, o)
		if stream == nil {
			return nil, false
		}
		return a.adopt(stream, r, false), true
	}
	run, cancel := context.WithCancel(ctx) // lives as long as the answer
	t.running(o.Attempt, cancel)
	stream, r := a.dispatch(run, s, t, o)
	if stream == nil {
		cancel()
		return nil, false
	}
	failure := sdk.AwaitVisible(run, stream)
	t.running(0, nil)
	dropped := ctx.Err() == nil && run.Err() != nil
	if failure == nil && !dropped {
		s.link.offer(&wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Committed{Committed: &wirepb.Committed{Attempt: o.Attempt}}})
		return a.adopt(stream, r, false), true
	}
	cancel()
	stream.Close()
	a.failed(ctx, s, t, o.Attempt, sdk.Attempted{
		Route: r.Route(), Key: r.Dispatch.Key, Kind: r.Dispatch.Kind, Tag: r.Dispatch.Tag,
		Started: started, Failure: failure,
	}, dropped)
	return nil, false
}

// failed adds an attempt that showed nothing to the past, and tells the plugin
// whose turn it was made in, if any, as its number n. dropped says that the plugin
// itself gave it up, perhaps when content had come.
func (a *ask) failed(ctx context.Context, s *Session, t *hostTurn, n uint32, at sdk.Attempted, dropped bool) {
	if at.Failure == nil {
		at.Failure = sdk.NewFailure(sdk.CodeAborted, dropRule, "given up by the plugin")
	}
	told := at.Failure
	if dropped && told.Code == sdk.CodeAborted {
		// Whoever comes after must not take it for the caller's end.
		given := *told
		given.Code, given.Rule, given.Message = sdk.CodePlugin, dropRule, "given up by the plugin"
		at.Failure, at.Planned = &given, false
	}
	a.past = append(a.past, at)
	a.unseen++
	if t == nil {
		return
	}
	a.remote.outbox.send() // what has ended before comes before
	ended := &wirepb.Ended{Attempt: n, Failure: failureToWire(told)}
	if s.link.send(ctx, &wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Ended{Ended: ended}}) == nil {
		a.unseen--
		a.past[len(a.past)-1].Planned = false
	}
}

// adopt makes stream the call's answer. Its outcome goes to the outbox.
func (a *ask) adopt(stream sdk.Stream, r sdk.Request, planned bool) sdk.Stream {
	a.remote.limits.learn(&r)
	rep, ok := sdk.Find[sdk.Reporter](stream)
	if !ok {
		return stream // answered by a listener, nothing was sent upstream
	}
	kind, tag, conversation := r.Dispatch.Kind, r.Dispatch.Tag, r.Conversation // the rest of r need not live on
	rep.OnOutcome(func(o sdk.Outcome) {
		o.Kind, o.Tag, o.Planned, o.Conversation = kind, tag, planned, conversation
		a.remote.outbox.Add(o)
	})
	return stream
}

// without goes on as the manifest says for a plugin that is down, within the limits
// that the plugin sets. Attempts that no process heard of become outcomes for the
// next one.
func (a *ask) without(ctx context.Context) (sdk.Stream, error) {
	for _, p := range a.past[len(a.past)-a.unseen:] {
		a.remote.outbox.Add(sdk.Outcome{
			Call: a.call.ID, Attempt: p.Failure.Attempt, Route: p.Route, Key: p.Key, Kind: p.Kind, Tag: p.Tag,
			Failure: p.Failure, Started: p.Started, Took: time.Since(p.Started), Stream: a.call.Request.Stream,
		})
	}
	if ctx.Err() != nil {
		return sdk.Fail(aborted(ctx)), nil
	}
	if a.remote.spec.OnDown == sdk.OnDownFail {
		return sdk.Fail(a.remote.down()), nil
	}
	a.remote.bypassed.Add(1)
	for _, p := range a.past {
		if p.Failure.Rule != dropRule || p.Failure.Acted {
			return sdk.Fail(p.Failure), nil
		}
	}
	if a.spent && len(a.past) > 0 { // given up before anybody had failed
		return a.call.Reenter(ctx, a.remote.limits.bound(a.call.Request))
	}
	if a.spent {
		return sdk.Fail(a.remote.down()), nil
	}
	return a.next(ctx, a.remote.limits.bound(a.call.Request))
}

func (r *Remote) down() *sdk.Failure {
	return sdk.NewFailure(sdk.CodePlugin, "plugin.down", fmt.Sprintf("plugin %q is down", r.name))
}
