package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// DryRun tells what a profile's plugins, with the overlays that o names, would
// have made of recorded requests. The plugins run as they do in earnest, with an
// empty memory before each request; the vendors answer as the record says. A
// route that the record does not know is assumed to answer.
//
// What the record cannot give is left out: waits take no time, and a canary draws
// other conversations. Requests that the caller gave up are skipped.
func DryRun(ctx context.Context, o Options, recorded []record.Request) ([]Replayed, error) {
	env := o.Env
	o.Known = Measurements(ctx, o)
	o.Env = func(name string) (string, bool) { // a missing key must hide no candidate
		if v, ok := env(name); ok && v != "" {
			return v, ok
		}
		return "a key", true
	}
	script := &replay{}
	o.Memory, o.Watch, o.terminal = true, false, script
	r, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var all []Replayed
	for _, rec := range recorded {
		if rec.Outcome == record.Cancelled || rec.Outcome == "" {
			continue
		}
		if err := r.forget(ctx); err != nil {
			return all, err
		}
		script.load(rec)
		call, stream := r.Call(ctx, Inbound{
			Route: rec.Head, Stream: rec.Stream, Shape: rec.Shape, Wants: rec.Wants, MaxTokens: rec.MaxTokens,
			Conversation: rec.Conversation, Payload: llm.PromptPayload(&sdk.Prompt{}),
		})
		var last *sdk.Failure
		for e, err := range stream.Events() {
			if err != nil {
				return all, fmt.Errorf("request %s: %w", rec.ID, err)
			}
			if e.Kind == sdk.KindFinish {
				last = e.Failure
			}
		}
		call.Trace.Finish(last, last == nil)
		now := call.Trace.Record()
		all = append(all, Replayed{
			ID: rec.ID, Started: rec.Started, Head: rec.Head,
			Before: pathOf(rec), After: pathOf(now), Assumed: script.guessed(), Same: same(rec, now),
		})
	}
	return all, nil
}

// Replayed is one recorded request, as it went and as it would go.
type Replayed struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Head    sdk.Route `json:"head"`
	Before  Path      `json:"before"`
	After   Path      `json:"after"`
	Assumed []string  `json:"assumed,omitempty"` // routes that the record does not know
	Same    bool      `json:"same"`
}

// Path is who was asked for a request, and how it ended.
type Path struct {
	Attempts []string       `json:"attempts"` // "provider/model CODE", or "provider/model ok"
	Outcome  record.Outcome `json:"outcome"`
}

func (p Path) String() string {
	if len(p.Attempts) == 0 {
		return "nothing sent: " + string(p.Outcome)
	}
	return strings.Join(p.Attempts, ", ")
}

// Served reports whether the caller got an answer.
func (p Path) Served() bool { return strings.HasPrefix(string(p.Outcome), string(record.OK)) }

func pathOf(rec record.Request) Path {
	p := Path{Outcome: rec.Outcome}
	for _, a := range rec.Attempts {
		word := string(a.Code)
		if a.JudgedCode != "" {
			word = string(a.JudgedCode)
		}
		if word == "" {
			word = "ok"
		}
		p.Attempts = append(p.Attempts, a.Route.String()+" "+word)
	}
	return p
}

// same reports whether the same routes were asked in the same order, retries
// aside, with the same end.
func same(a, b record.Request) bool {
	routes := func(rec record.Request) (list []sdk.Route) {
		for _, x := range rec.Attempts {
			list = append(list, x.Route)
		}
		return slices.Compact(list)
	}
	return slices.Equal(routes(a), routes(b)) && pathOf(a).Served() == pathOf(b).Served()
}

// forget makes the plugins forget what the request before has taught them.
func (r *Runtime) forget(ctx context.Context) error {
	for _, p := range r.Graph().Catalogue().Providers {
		if err := r.Operate(ctx, sdk.Order{Verb: sdk.VerbClear, Target: p.Name}); err != nil {
			return err
		}
	}
	return nil
}

// replay answers as a record says: a terminal.
type replay struct {
	mu      sync.Mutex
	known   map[sdk.Route][]*sdk.Failure // nil: it answered
	assumed []string
}

// load takes the vendors' answers out of a record. A route that was passed over
// because it was out fails as it would have failed then.
func (r *replay) load(rec record.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.assumed = map[sdk.Route][]*sdk.Failure{}, nil
	for _, a := range rec.Attempts {
		var f *sdk.Failure
		if a.Code != "" {
			f = recordedFailure(a)
		}
		r.known[a.Route] = append(r.known[a.Route], f)
		r.out(a.Skipped)
	}
	r.out(rec.Skipped)
}

func (r *replay) out(skipped []sdk.Skip) {
	for _, s := range skipped {
		if _, ok := r.known[s.Route]; !ok && slices.Contains([]string{"circuit open", "vendor out", "no usable key", "rate limited", "probe under way"}, s.Reason) {
			f := sdk.NewFailure(sdk.CodeOverloaded, "dry-run", "it was out: "+s.Reason)
			r.known[s.Route] = []*sdk.Failure{f}
		}
	}
}

func recordedFailure(a record.Attempt) *sdk.Failure {
	f := sdk.NewFailure(a.Code, a.Rule, a.Message)
	f.Scope, f.Cause, f.Phase, f.Status, f.RetryAfter = a.Scope, a.Cause, a.Phase, a.Status, time.Duration(a.RetryAfter)
	if a.JudgedCode != "" {
		f.Code, f.Scope, f.Rule = a.JudgedCode, a.JudgedScope, a.DecidedBy
	}
	if !a.ResetAt.IsZero() {
		f.ResetAt = time.Now().Add(a.ResetAt.Sub(a.Sent))
	}
	return f
}

// guessed are the routes that no record knows and that were asked.
func (r *replay) guessed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.assumed
}

// answer is what a route says next; its last answer is repeated.
func (r *replay) answer(at sdk.Route) *sdk.Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, ok := r.known[at]
	switch {
	case !ok:
		r.assumed = append(r.assumed, at.String())
		return nil
	case len(list) > 1:
		r.known[at] = list[1:]
	}
	return list[0]
}

// Dispatch implements llm.Terminal. Delays take no time.
func (r *replay) Dispatch(_ context.Context, c *llm.Call, req sdk.Request, _ *llm.Payload) sdk.Stream {
	n := c.Trace.Begin(req)
	o := sdk.Outcome{
		Call: c.ID, Attempt: n, Route: req.Route(), Key: req.Dispatch.Key, Kind: req.Dispatch.Kind, Tag: req.Dispatch.Tag,
		Started: time.Now(), Finish: sdk.FinishStop,
	}
	f := r.answer(req.Route())
	if f == nil {
		o.Committed = true
		c.Trace.End(n, o, nil)
		c.Trace.Decided()
		return sdk.AnswerText(req.Model, "as recorded")
	}
	failure := *f
	failure.Attempt = n
	o.Failure, o.Finish = &failure, sdk.FinishError
	c.Trace.End(n, o, nil)
	return sdk.Fail(&failure)
}
