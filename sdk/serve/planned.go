package serve

import (
	"context"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// planned makes the attempt that the plan of s orders for the call, if it orders
// one. done is true when its stream is the call's answer. Else t is the turn that
// the plugin was given while the attempt ran, nil if it was given none.
func (a *ask) planned(ctx context.Context, s *Session) (stream sdk.Stream, t *hostTurn, done bool) {
	if a.call.Depth > 0 || a.spent || len(a.past) > 0 {
		return nil, nil, false
	}
	class, ok := sdk.RequestClassOf(&a.call.Request)
	if !ok {
		return nil, nil, false
	}
	run, cancel := context.WithCancel(ctx) // lives as long as the answer
	w := &planned{class: class, request: a.call.Request, call: a.call, ctx: ctx, run: run, cancel: cancel}
	if !s.standing.order(w) {
		cancel()
		return nil, nil, false
	}
	a.remote.planned.Add(1)
	a.spent = true
	stream, err := a.next(run, w.request)
	if err != nil {
		stream = sdk.Fail(failureOf(err))
	}
	failure := sdk.AwaitVisible(run, stream)
	if s.standing.finish(w, failure == nil) {
		if t := s.standing.heard(w); t != nil {
			s.commit(t)
		}
		return a.adopt(stream, w.request, true), nil, true
	}
	dropped := ctx.Err() == nil && run.Err() != nil
	cancel()
	stream.Close()
	if w.turn != nil { // no other comes any more
		<-w.told // soon: neither a caller nor a process that is gone is waited for
		t = s.standing.heard(w)
	}
	a.failed(ctx, s, t, runningAttempt, sdk.Attempted{
		Route: w.request.Route(), Key: w.request.Dispatch.Key, Kind: w.request.Dispatch.Kind, Tag: w.request.Dispatch.Tag,
		Started: w.started, Failure: failure, Planned: true,
	}, dropped)
	return nil, t, false
}

// runningAttempt is the number of an attempt that a turn begins with.
const runningAttempt = 1

// commit ends a turn whose attempt has shown content.
func (s *Session) commit(t *hostTurn) {
	s.link.offer(&wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Committed{Committed: &wirepb.Committed{Attempt: runningAttempt}}})
	s.forget(t)
}

// join gives the plugin a turn for each attempt that its plan has left. It waits
// for room in the queue, so the reading goroutine does not run it.
func (s *Session) join(left []*planned) {
	for _, w := range left {
		t := s.newTurn()
		t.running(runningAttempt, w.cancel)
		if !s.standing.enter(w, t) {
			s.forget(t)
			continue
		}
		running := sdk.Attempted{
			Route: w.request.Route(), Key: w.request.Dispatch.Key, Kind: w.request.Dispatch.Kind, Tag: w.request.Dispatch.Tag,
			Started: w.started, Planned: true,
		}
		open := openToWire(w.call, true)
		open.Running = attemptedToWire(running)
		err := s.link.send(w.ctx, &wirepb.ToPlugin{Call: t.id, Frame: &wirepb.ToPlugin_Open{Open: open}})
		shown := s.standing.tell(w, err != nil)
		switch {
		case err != nil:
			s.forget(t)
		case shown:
			s.commit(t)
		}
	}
}
