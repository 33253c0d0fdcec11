package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

// LLMStream implements sdk.Hook.
func (p *Plugin) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	s := p.settings.Load()
	if f := s.refuses(call.Request.Wants); f != nil {
		return nil, f
	}
	dispatch := next
	if len(call.Past) > 0 { // a predecessor may have used next
		dispatch = call.Reenter
	}
	past := make([]sdk.Attempted, len(call.Past))
	last := sdk.Failure{}
	for i, a := range call.Past {
		f := s.classifier.Refine(a.Route.Provider, *a.Failure)
		a.Failure = &f
		past[i] = a
		if last = f; a.Committed {
			last = sdk.Failure{} // its outcome says so
		}
	}

	fl := &flight{}
	var step brain.Step
	p.think(func(now brain.Instant) {
		q, cat := p.query(ctx, s, now, call), catalogue(p.host.Catalogue(), call.Request.Own)
		if r := call.Running; r != nil {
			p.brain.Join(now, &fl.turn, q, cat, &r.Attempted)
			step = brain.Step{Route: r.Route, Key: r.Key, Kind: r.Kind, Tag: r.Tag}
			return
		}
		step = p.brain.Start(now, &fl.turn, q, cat, past)
	})
	if last.Attempt > 0 {
		p.host.Record(decision(call.ID, last, step))
	}
	p.moved(step.Changes)
	p.learn(call)
	for running := call.Running; !step.Stopped(); running = nil {
		release, err := p.lease(ctx, fl, step)
		if errors.Is(err, sdk.ErrHeld) {
			p.think(func(now brain.Instant) { step = p.brain.Refused(now, &fl.turn) })
			p.moved(step.Changes)
			continue
		}
		attempt, cancel := context.WithCancel(ctx)
		var stream sdk.Stream
		if running != nil {
			stream = running.Stream
		} else if stream, err = dispatch(attempt, order(call, step, s)); err != nil {
			cancel()
			release()
			return nil, err
		}
		dispatch = call.Reenter
		tag := step.Tag
		p.fly(fl, cancel)
		if running != nil {
			p.moveNow(fl) // its target may have gone out before this turn began
		}
		failure := sdk.AwaitVisible(attempt, stream)
		moved := p.land(fl)
		if failure == nil {
			p.committed(fl, tag, moved != nil)
			release()
			return stream, nil // its context ends with the call's
		}
		cancel()
		ended, goesOn := s.classifier.Refine(step.Route.Provider, *failure), false
		p.think(func(now brain.Instant) {
			if moved == nil {
				step = p.brain.Failed(now, &fl.turn, ended, rand.Float64())
			} else if stop, unsent := p.brain.Unsent(now, &fl.turn, ended, ctx.Err() != nil); unsent {
				step = stop
			} else {
				step, goesOn = *moved, true
			}
		})
		if !goesOn {
			last = ended
			p.host.Record(decision(call.ID, last, step))
		}
		p.moved(step.Changes)
		release()
	}
	if last.Attempt == 0 {
		p.host.Record(decision(call.ID, last, step))
	}
	return nil, final(step)
}

// catalogue is c as a caller sees it: to a provider that takes callers' own
// credentials its one is the only key.
func catalogue(c sdk.Catalogue, own map[string]string) sdk.Catalogue {
	if !slices.ContainsFunc(c.Providers, func(p sdk.Provider) bool { return p.Passthrough }) {
		return c
	}
	c.Providers = slices.Clone(c.Providers)
	for i := range c.Providers {
		if p := &c.Providers[i]; p.Passthrough && own[p.Name] != "" {
			p.Keys = []string{own[p.Name]}
		}
	}
	return c
}

// maxProved bounds the answers whose end is awaited to be told.
const maxProved = 1024

// proof is what the begin of an attempt's answer has moved, once.
func (p *Plugin) proof(tag string) []sdk.Change {
	p.mu.Lock()
	defer p.mu.Unlock()
	changes := p.proved[tag]
	delete(p.proved, tag)
	return changes
}

// query is what the brain needs to know of a call.
func (p *Plugin) query(ctx context.Context, s *settings, now brain.Instant, call *sdk.Call) brain.Query {
	r := call.Request
	q := brain.Query{
		Head: r.Route(), Shape: r.Shape, Wants: r.Wants, Stream: r.Stream, Buffer: s.policyOf(r.Wants) == streamBuffer, MaxTokens: r.MaxTokens,
		Conversation: r.Conversation, Began: now.Mono, Draw: rand.Float64(),
	}
	for _, a := range call.Past {
		if a.Committed {
			continue // its time to the first content is over
		}
		q.Began = min(q.Began, a.Started.Sub(p.born))
	}
	if r := call.Running; r != nil {
		q.Began = min(q.Began, r.Started.Sub(p.born))
	}
	if at, ok := ctx.Deadline(); ok {
		q.Deadline = at.Sub(p.born)
	}
	return q
}

// refuses is the failure of a request that names what these settings do not
// have.
func (s *settings) refuses(w sdk.Wants) *sdk.Failure {
	unknown := func(kind, name string, known []string) *sdk.Failure {
		there := "there is none"
		if len(known) > 0 {
			there = "there are: " + strings.Join(known, ", ")
		}
		return sdk.NewFailure(sdk.CodeInvalidRequest, "failover.wants", fmt.Sprintf("no %s %q in the failover settings (%s)", kind, name, there))
	}
	if _, ok := s.policy.Budgets[w.Budget]; !ok && w.Budget != "" {
		return unknown("budget", w.Budget, slices.Sorted(maps.Keys(s.policy.Budgets)))
	}
	if known := []string{streamFail, streamBuffer, streamResume}; w.Stream != "" && !slices.Contains(known, w.Stream) {
		return unknown("stream policy", w.Stream, known)
	}
	if _, ok := s.policy.Contracts[w.Contract]; !ok && w.Contract != "" {
		return unknown("contract", w.Contract, slices.Sorted(maps.Keys(s.policy.Contracts)))
	}
	return nil
}

// Policies for a stream that breaks after content has come.
const (
	streamFail   = "fail"   // what was produced stays, then the error
	streamBuffer = "buffer" // nothing is handed out before all of it is there
	streamResume = "resume" // what was produced stays, and a new generation goes on openly
)

// policyOf is the policy of a request's stream: its own, else that of the
// settings.
func (s *settings) policyOf(w sdk.Wants) string { return cmp.Or(w.Stream, s.stream, streamFail) }

// committed notes that the answer of a flight has begun. One that was moved on in
// the same moment has begun all the same: the attempt that was to follow it is
// given back.
func (p *Plugin) committed(fl *flight, tag string, moved bool) {
	var changes []sdk.Change
	p.think(func(now brain.Instant) {
		if moved {
			changes = p.brain.Failed(now, &fl.turn, *sdk.NewFailure(sdk.CodeAborted, "failover.moved", "not sent"), 0).Changes
		} else {
			changes = p.brain.Committed(now, &fl.turn)
			if len(changes) > 0 && len(p.proved) < maxProved {
				p.proved[tag] = changes
			}
		}
	})
	p.moved(changes)
}

// order is the request of a step's attempt.
func order(call *sdk.Call, step brain.Step, s *settings) sdk.Request {
	r := call.Request
	r.Provider, r.Model = step.Route.Provider, step.Route.Model
	visible := s.visible
	if visible == 0 {
		visible = r.Dispatch.Visible
	}
	kind := step.Kind
	if resumes(call) {
		kind = sdk.KindResume
	}
	policy := s.policyOf(r.Wants)
	r.Dispatch = sdk.Dispatch{
		Kind: kind, Reason: step.Reason, Key: step.Key, Delay: step.Delay, Tag: step.Tag, Skipped: step.Skipped,
		Limits: step.Limits, Visible: visible, Buffer: policy == streamBuffer, Resume: policy == streamResume,
	}
	return r
}

// resumes reports whether the call goes on with an answer that broke.
func resumes(call *sdk.Call) bool {
	return slices.ContainsFunc(call.Past, func(a sdk.Attempted) bool { return a.Committed })
}

// decision is what the record says of a failure and the step that followed.
func decision(call string, f sdk.Failure, step brain.Step) sdk.Decision {
	d := sdk.Decision{
		Call: call, Attempt: f.Attempt, Code: f.Code, Scope: f.Scope, Rule: f.Rule,
		Action: step.Action, Reason: step.Reason, Changes: step.Changes, Skipped: step.Skipped,
		Delay: step.Delay, Left: step.Left,
	}
	if !step.Stopped() {
		d.Target = &step.Route
	}
	return d
}

// final is the caller's error: the first cause, with the earliest moment at
// which a repetition makes sense as its hint.
func final(step brain.Step) *sdk.Failure {
	f := *step.Failure
	if f.Class() != sdk.ClassCaller {
		f.RetryAfter, f.ResetAt, f.HintSource = 0, step.RetryAt, "failover"
	}
	return &f
}
