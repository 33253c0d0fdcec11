package serve_test

import (
	"context"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
	"spillway/sdk/plugintest"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

// FuzzHostSession is a plugin that answers a host with any valid frames in any order:
// for calls that are open, that are over and that never were. The call must end
// all the same, as an answer only if a vendor gave one, and leave nothing behind.
//
// It runs in a bubble: whoever waits for ever is found at once.
func FuzzHostSession(f *testing.F) {
	f.Add([]byte{1, 0, 0, 1, 1, 0, 0})                                                                    // one attempt at once
	f.Add([]byte{1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1})                                                  // a failed one, then another
	f.Add([]byte{2, 0, 0, 2, 1, 1, 0, 2, 0})                                                              // an attempt that hangs, dropped
	f.Add([]byte{1, 3, 0, 1, 1, 2, 0, 1, 1, 0, 3, 1, 9})                                                  // a relay with an attempt and events of its own
	f.Add([]byte{1, 4, 0, 2, 1, 2})                                                                       // the prompt is asked for
	f.Add([]byte{3, 5, 0, 5, 0, 6, 0, 0, 1, 2, 6, 0, 5})                                                  // state and watches
	f.Add([]byte{3, 2, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1})                                                     // finish without a reason, frames out of turn
	f.Add([]byte{1, 0, 0, 1, 1, 1, 1, 1, 0, 2, 7, 8, 9})                                                  // a changed prompt
	f.Add([]byte{0, 1, 0, 2, 0, 1, 1, 13, 0, 0, 2, 1, 1, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1}) // a plan
	f.Add([]byte{3, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 1, 1})                                                // reports, and answers nobody asked for
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) { hostAgainst(t, newScript(b)) })
	})
}

// patience is how long the caller waits; an attempt may hang as long.
const patience = time.Minute

func hostAgainst(t *testing.T, s *script) {
	p := &hostilePlugin{script: s, mute: s.yes()}
	m := sdk.Manifest{Name: "hostile", Judge: true, Operator: true, Plan: s.yes(), Hook: sdk.HookSpec{OnDown: []sdk.OnDown{sdk.OnDownBypass, sdk.OnDownFail, sdk.OnDownWait}[s.pick(3)]}}
	var outbox serve.Outbox
	session, err := serve.Open(t.Context(), dialled{p.serve}, m, serve.SessionOptions{
		Entry: m.Name, Epoch: 1, State: plugintest.NewMemory(), Outbox: &outbox,
		Record: func(sdk.Decision) {}, Report: func(sdk.Status) {}, Probe: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	remote := serve.NewRemote(m.Name, m.Hook, one{session}, &outbox)

	v := &vendors{}
	for range 1 + s.pick(3) { // a plan is for later calls
		p.call(t, remote, v)
		if s.yes() {
			time.Sleep(time.Second) // a plan may end, outcomes are sent
		}
	}
	ask, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	_, _ = session.Judge(ask, "v", sdk.Failure{Code: sdk.CodeServer})
	_ = session.Operate(ask, sdk.Order{Verb: sdk.VerbClear})
	_ = session.Ping(ask)

	session.Close()
	synctest.Wait()
	for _, u := range v.begun {
		if u.ctx.Err() == nil && !u.ended.Load() {
			t.Errorf("an attempt on %q goes on for nobody", u.route)
		}
	}
}

// models are what the vendors have: the name says what becomes of an attempt.
var models = []string{"fails", "answers", "hangs", "breaks"}

// call makes one call and checks how it ends.
func (p *hostilePlugin) call(t *testing.T, remote *serve.Remote, v *vendors) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := sdk.NewCall(v, "call", 0, sdk.Request{Provider: "v", Model: models[p.script.pick(len(models))], Stream: true})
	stream, err := remote.LLMStream(ctx, call, v.Reenter)
	if err != nil {
		return // a local fault
	}
	text, failure, faulted, finished := "", (*sdk.Failure)(nil), false, false
	for e, err := range stream.Events() {
		switch {
		case finished || faulted:
			t.Errorf("after the end: %+v, %v", e, err)
		case err != nil:
			faulted = true
		case e.Kind == sdk.KindTextDelta:
			text += e.Text
		case e.Kind == sdk.KindFinish:
			finished, failure = true, e.Failure
		}
	}
	if !finished && !faulted && ctx.Err() == nil {
		t.Error("the stream ended without a finish")
	}
	if took := time.Since(begun); took > patience+time.Second {
		t.Errorf("the call took %v", took)
	}
	if p.relayed.Load() {
		return // the plugin may answer what it likes
	}
	switch ok := failure == nil && !faulted; {
	case ok && text != whole:
		t.Errorf("%q is told as a success", text)
	case text != "" && text != whole && text != part:
		t.Errorf("got %q: answers were joined", text)
	}
}

// one is a source with one process.
type one struct{ *serve.Session }

func (o one) Acquire(context.Context, time.Duration) (*serve.Session, func(), error) {
	if err := o.Err(); err != nil {
		return nil, nil, err
	}
	return o.Session, func() {}, nil
}

// What the vendors say, whole and broken off.
const whole, part = "answer", "ans"

// vendors are what is below the hook.
type vendors struct {
	mu    sync.Mutex
	begun []*upstream
}

func (v *vendors) Reenter(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	u := &upstream{vendors: v, ctx: ctx, route: r.Model, quit: make(chan struct{})}
	return sdk.Hold(u, r.Dispatch.Visible), nil
}

func (v *vendors) Prompt(context.Context) (*sdk.Prompt, error) {
	return &sdk.Prompt{Messages: []sdk.Message{{Role: "user", Parts: []sdk.Part{{Text: "hello"}}}}}, nil
}

// upstream is one attempt.
type upstream struct {
	vendors *vendors
	ctx     context.Context
	route   string
	quit    chan struct{}
	once    sync.Once
	ended   atomic.Bool
}

func (u *upstream) Close() error {
	u.once.Do(func() { close(u.quit) })
	u.ended.Store(true)
	return nil
}

func (u *upstream) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		defer u.ended.Store(true)
		u.vendors.mu.Lock()
		u.vendors.begun = append(u.vendors.begun, u)
		u.vendors.mu.Unlock()
		last := sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}
		text := whole
		switch u.route {
		case "fails":
			yield(sdk.FailEvent(failure(sdk.CodeQuota)), nil)
			return
		case "hangs":
			select {
			case <-u.ctx.Done():
			case <-u.quit:
			}
			yield(sdk.FailEvent(failure(sdk.CodeAborted)), nil)
			return
		case "breaks":
			text, last = part, sdk.FailEvent(failure(sdk.CodeServer))
		}
		for _, e := range []sdk.Event{{Kind: sdk.KindStart}, {Kind: sdk.KindBlockStart, Block: sdk.BlockText}, {Kind: sdk.KindTextDelta, Text: text}, {Kind: sdk.KindBlockEnd}, last} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// hostilePlugin serves what its script says.
type hostilePlugin struct {
	script  *script
	mute    bool // does not answer pings by itself, and stays when the script is over
	relayed atomic.Bool
}

func (p *hostilePlugin) serve(method string, e *end) {
	switch method {
	case wirepb.Plugin_Session_FullMethodName:
		p.session(e)
	case wirepb.Plugin_Relay_FullMethodName:
		p.relay(e)
	case wirepb.Plugin_Body_FullMethodName:
		p.body(e)
	}
}

func (p *hostilePlugin) session(e *end) {
	call := uint64(0)
	for {
		in := new(wirepb.ToPlugin)
		if e.RecvMsg(in) != nil {
			return
		}
		if in.Call != 0 {
			call = in.Call
		}
		if ping := in.GetPing(); ping != nil && !p.mute {
			_ = e.SendMsg(&wirepb.ToHost{Frame: &wirepb.ToHost_Pong{Pong: &wirepb.Pong{Id: ping.Id}}})
			continue
		}
		if p.script.over() && !p.mute {
			return
		}
		for range p.script.pick(4) {
			f := p.frame(call)
			if f.GetOpenRelay() != nil {
				p.relayed.Store(true)
			}
			if e.SendMsg(f) != nil {
				return
			}
		}
	}
}

func (p *hostilePlugin) attempt() *wirepb.Attempt {
	s := p.script
	a := &wirepb.Attempt{
		Route:   &wirepb.Route{Provider: "v", Model: models[s.pick(len(models))]},
		Attempt: uint32(s.pick(4)), Commit: wirepb.Attempt_Commit(s.pick(3)), Reenter: s.yes(), NewBody: s.yes(),
	}
	if s.yes() {
		a.Dispatch = &wirepb.Dispatch{Visible: uint32(s.pick(256)), Total: -1, Delay: math.MinInt64, Skipped: []*wirepb.Skip{{}}}
	}
	return a
}

func (p *hostilePlugin) frame(open uint64) *wirepb.ToHost {
	s := p.script
	kind, call := s.pick(15), []uint64{open, open, open, 0, open + 1, math.MaxUint64}[s.pick(6)]
	id := []uint64{open + 1, 0, open + 2, math.MaxUint64}[s.pick(4)]
	f := &wirepb.ToHost{Call: call}
	switch kind {
	case 0, 1:
		f.Frame = &wirepb.ToHost_Attempt{Attempt: p.attempt()}
	case 2:
		f.Frame = &wirepb.ToHost_Finish{Finish: &wirepb.Finish{Failure: p.failure()}}
	case 3:
		f.Frame = &wirepb.ToHost_OpenRelay{OpenRelay: &wirepb.OpenRelay{}}
	case 4:
		f.Frame = &wirepb.ToHost_NeedBody{NeedBody: &wirepb.NeedBody{}}
	case 5, 6:
		f.Frame = &wirepb.ToHost_Service{Service: &wirepb.Service{
			Id: id, Op: wirepb.Service_Op(s.pick(12)), Key: []string{"", "k", "\x00"}[s.pick(3)], Data: make([]byte, s.pick(2)*(sdk.MaxStateValue+1)),
			Revision: id, Ttl: []int64{0, -1, 1e9, math.MaxInt64, math.MinInt64}[s.pick(5)],
		}}
	case 7:
		f.Frame = &wirepb.ToHost_Decision{Decision: &wirepb.Decision{Changes: []*wirepb.CircuitChange{{}}, Skipped: []*wirepb.Skip{{}}}}
	case 8:
		f.Frame = &wirepb.ToHost_Status{Status: &wirepb.Status{Targets: []*wirepb.TargetStatus{{}}, Orders: []*wirepb.Order{{}}}}
	case 9:
		f.Frame = &wirepb.ToHost_Drop{Drop: &wirepb.Drop{Attempt: uint32(s.pick(4))}}
	case 10:
		f.Frame = &wirepb.ToHost_Ack{Ack: &wirepb.Ack{Seq: id}}
	case 11:
		f.Frame = &wirepb.ToHost_Judged{Judged: &wirepb.Judged{Id: id, Failure: p.failure()}}
	case 12:
		f.Frame = &wirepb.ToHost_Pong{Pong: &wirepb.Pong{Id: id}}
	case 13:
		f.Frame = &wirepb.ToHost_Plan{Plan: p.plan()}
	case 14: // a frame of a newer version: nothing that this one knows
	}
	return f
}

// plan is for the callers' requests, with limits and keys of any kind.
func (p *hostilePlugin) plan() *wirepb.Plan {
	s := p.script
	anything := func() int64 { return []int64{0, 1, 1e9, math.MaxInt64, math.MinInt64}[s.pick(5)] }
	plan := &wirepb.Plan{Ttl: anything()}
	for range s.pick(70) { // more than a plan may have, too
		plan.Rules = append(plan.Rules, &wirepb.Rule{
			Class:     &wirepb.RequestClass{Route: &wirepb.Route{Provider: "v", Model: models[s.pick(len(models))]}, Stream: true},
			MaxPrompt: anything(), Keys: []string{"k", ""}[:s.pick(3)], Own: s.yes(),
			Content: &wirepb.ContentLimit{Base: anything(), PerPrompt: anything(), Pace: anything(), PerOutput: anything(), Assumed: anything(), Least: anything(), Most: anything()},
		})
	}
	if len(plan.Rules) > 0 && s.yes() {
		plan.Rules[0].Dispatch, plan.Rules[0].Content, plan.Rules[0].Class = &wirepb.Dispatch{Visible: uint32(s.pick(256)), Delay: anything()}, nil, nil
	}
	return plan
}

func (p *hostilePlugin) failure() *wirepb.Failure {
	if p.script.yes() {
		return nil
	}
	return &wirepb.Failure{Code: []string{"", "QUOTA", "none of ours"}[p.script.pick(3)], Attempt: math.MinInt32, RetryAfter: math.MinInt64, ResetAt: math.MaxInt64}
}

func (p *hostilePlugin) relay(e *end) {
	if e.RecvMsg(new(wirepb.RelayToPlugin)) != nil {
		return
	}
	go func() { // reads what attempts give, or lets it lie
		for !p.mute && e.RecvMsg(new(wirepb.RelayToPlugin)) == nil {
		}
	}()
	for !p.script.over() {
		m := &wirepb.RelayToHost{}
		switch p.script.pick(5) {
		case 0:
			m.Event = &wirepb.Event{Kind: uint32(p.script.pick(256)), Index: int32(p.script.pick(256)) - 128, Text: part}
		case 1:
			m.Event = &wirepb.Event{Kind: uint32(sdk.KindFinish), Failure: p.failure()}
		case 2:
			m.Attempt = p.attempt()
		case 3:
			m.Drop = &wirepb.Drop{Attempt: uint32(p.script.pick(4))}
		case 4: // nothing in it
		}
		if e.SendMsg(m) != nil {
			return
		}
	}
	if p.mute {
		<-e.ctx.Done()
	}
}

func (p *hostilePlugin) body(e *end) {
	for range p.script.pick(3) {
		_ = e.SendMsg(&wirepb.BodyPart{Data: []byte([]string{`{"messages":[`, `{}`, `]}`, `null`, ``}[p.script.pick(5)])})
	}
	if p.mute {
		<-e.ctx.Done()
	}
}
