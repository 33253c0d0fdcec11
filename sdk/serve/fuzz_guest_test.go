package serve_test

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"spillway/sdk"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

// FuzzPluginSession is a host that sends a plugin any valid frames in any order.
// The plugin's process must not die of it, and answers within the limits of the
// wire and for calls that were opened; when the host is gone nothing of it stays.
func FuzzPluginSession(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 1, 1, 0, 1, 1})                      // opened, ended, committed
	f.Add([]byte{9, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 0})             // the same call twice
	f.Add([]byte{9, 4, 0, 0, 2, 0, 0, 13, 0, 0, 1, 2})            // a relay
	f.Add([]byte{9, 3, 0, 0, 14, 0, 1, 0, 1})                     // a prompt
	f.Add([]byte{20, 9, 5, 0, 5, 0, 0, 5, 1, 6, 1, 6, 0, 6, 2})   // state: replies and changes
	f.Add([]byte{20, 9, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0})   // the rest
	f.Add([]byte{20, 1, 4, 0, 0, 2, 0, 0, 3, 4, 0, 0, 13, 3, 12}) // a relay that is cancelled
	f.Fuzz(func(t *testing.T, b []byte) {
		synctest.Test(t, func(t *testing.T) { pluginAgainst(t, newScript(b)) })
	})
}

func pluginAgainst(t *testing.T, s *script) {
	ctx, cancel := context.WithCancel(t.Context())
	server := serve.NewServer(&busyPlugin{}, slog.New(slog.DiscardHandler))
	ours, theirs := streamPair(ctx)
	h := &hostileHost{script: s, server: server, ctx: ctx, opened: map[uint64]bool{}}
	var session sync.WaitGroup
	session.Go(func() {
		defer theirs.closeOut()
		_ = server.Session(&grpc.GenericServerStream[wirepb.ToPlugin, wirepb.ToHost]{ServerStream: theirs})
	})
	session.Go(func() {
		for {
			out := new(wirepb.ToHost)
			if ours.RecvMsg(out) != nil {
				return
			}
			h.check(t, out)
		}
	})
	for !s.over() {
		if h.step(ours) != nil {
			break
		}
		if s.pick(3) == 0 {
			synctest.Wait() // all that this leads to, before the next frame
		}
	}
	ours.closeOut() // the host is gone
	session.Wait()
	cancel() // and its other calls
	synctest.Wait()
}

// busyPlugin uses the whole of what a plugin may do; the model's name says what.
type busyPlugin struct{ host sdk.Live[sdk.Host] }

func (*busyPlugin) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "busy", Version: "1", Judge: true, Operator: true, Plan: true}
}

func (p *busyPlugin) Configure(ctx context.Context, h sdk.Host, _ sdk.Config) error {
	p.host.Store(&h)
	h.Plan(sdk.Plan{TTL: time.Second, Rules: make([]sdk.Rule, sdk.MaxRules)})
	return h.State().Watch(ctx, "", func(sdk.Item) {})
}

func (*busyPlugin) Settings(sdk.Config, []string) error          { return sdk.Faults{{Path: "\xff"}} }
func (*busyPlugin) Catalogue(sdk.Catalogue)                      {}
func (*busyPlugin) Outcome(sdk.Outcome)                          {}
func (*busyPlugin) Drain(context.Context)                        {}
func (*busyPlugin) Operate(_ context.Context, o sdk.Order) error { panic(o.Target) }
func (*busyPlugin) Judge(_ context.Context, _ string, f sdk.Failure) sdk.Failure {
	f.Message += "\xff"
	return f
}

func (p *busyPlugin) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if call.Running != nil {
		if f := sdk.AwaitVisible(ctx, call.Running.Stream); f == nil {
			return call.Running.Stream, nil
		}
	}
	s, err := next(ctx, call.Request)
	if err != nil {
		return nil, err
	}
	switch call.Request.Model {
	case "await":
		if f := sdk.AwaitVisible(ctx, s); f != nil {
			if s, err = call.Reenter(ctx, call.Request); err != nil {
				return nil, err
			}
			if f = sdk.AwaitVisible(ctx, s); f != nil {
				return nil, f
			}
		}
	case "map":
		return sdk.Map(s, func(e sdk.Event) sdk.Event { e.Text += "\xff"; return e }), nil
	case "prompt":
		r := call.Request
		if r.Prompt, err = call.Prompt(ctx); err != nil {
			return nil, err
		}
		return call.Reenter(ctx, r)
	case "state":
		if h := p.host.Load(); h != nil {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err = (*h).State().Get(ctx, "k")
			_, listErr := (*h).State().List(ctx, "k")
			if err == nil && listErr != nil {
				return nil, listErr
			}
			(*h).Record(sdk.Decision{Call: call.ID})
		}
		return nil, err
	case "panic":
		panic(call.ID)
	}
	return s, nil
}

// hostileHost sends what its script says.
type hostileHost struct {
	script *script
	server *serve.Server
	ctx    context.Context

	mu     sync.Mutex
	opened map[uint64]bool
	last   uint64
}

// check is what holds of every frame of a plugin.
func (h *hostileHost) check(t *testing.T, f *wirepb.ToHost) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := proto.Size(f); n > serve.MaxFrame {
		t.Errorf("a frame of %d bytes", n)
	}
	if f.Call != 0 && !h.opened[f.Call] {
		t.Errorf("a frame for call %d, which was never opened: %v", f.Call, f)
	}
}

func (h *hostileHost) step(e *end) error {
	s := h.script
	h.mu.Lock()
	call := []uint64{h.last, h.last, 0, h.last + 1, math.MaxUint64}[s.pick(5)]
	h.mu.Unlock()
	id := []uint64{0, 1, 2, 3, 4, 5, math.MaxUint64}[s.pick(7)]
	failing := &wirepb.Failure{Code: []string{"QUOTA", "", "none of ours"}[s.pick(3)], RetryAfter: math.MinInt64}
	f := &wirepb.ToPlugin{Call: call}
	switch s.pick(18) {
	case 0, 1:
		asks := []string{"await", "map", "prompt", "state", "pass", "panic"}
		f.Call = h.last + uint64(s.pick(2))
		h.mu.Lock()
		h.last, h.opened[f.Call] = f.Call, true
		h.mu.Unlock()
		open := &wirepb.Open{
			Id: "call", Depth: math.MaxUint32, NextSpent: s.yes(), Past: []*wirepb.Attempted{{}},
			View: &wirepb.View{Route: &wirepb.Route{Model: asks[s.pick(len(asks))]}},
		}
		if s.yes() {
			open.Running = &wirepb.Attempted{Started: math.MinInt64, Planned: true}
		}
		f.Frame = &wirepb.ToPlugin_Open{Open: open}
	case 2:
		f.Frame = &wirepb.ToPlugin_Ended{Ended: &wirepb.Ended{Attempt: uint32(id), Failure: failing}}
	case 3:
		f.Frame = &wirepb.ToPlugin_Committed{Committed: &wirepb.Committed{Attempt: uint32(id)}}
	case 4:
		f.Frame = &wirepb.ToPlugin_Cancel{Cancel: &wirepb.Cancel{Reason: "reason"}}
	case 5:
		r := &wirepb.Reply{Id: id, Error: []string{"", "not_found", "else"}[s.pick(3)]}
		if s.yes() {
			r.Items = []*wirepb.Item{{}}
		}
		f.Frame = &wirepb.ToPlugin_Reply{Reply: r}
	case 6:
		c := &wirepb.Change{Id: id}
		if s.yes() {
			c.Item = &wirepb.Item{Key: "k"}
		}
		f.Frame = &wirepb.ToPlugin_Change{Change: c}
	case 7:
		f.Frame = &wirepb.ToPlugin_Catalogue{Catalogue: &wirepb.Catalogue{Providers: []*wirepb.Provider{{Models: []*wirepb.Model{{}}}}}}
	case 8:
		f.Frame = &wirepb.ToPlugin_Settings{Settings: &wirepb.Settings{Revision: id, Config: []byte("{")}}
	case 9:
		f.Frame = &wirepb.ToPlugin_Configure{Configure: &wirepb.Configure{Revision: id}}
	case 10:
		f.Frame = &wirepb.ToPlugin_Judge{Judge: &wirepb.Judge{Id: id}}
	case 11:
		f.Frame = &wirepb.ToPlugin_Order{Order: &wirepb.Order{Id: id, Target: strings.Repeat("x", int(id%4)<<20)}}
	case 12:
		f.Frame = &wirepb.ToPlugin_Outcome{Outcome: &wirepb.Outcome{Seq: id, Failure: failing}}
	case 13:
		h.stream(func(e *end) {
			_ = h.server.Relay(&grpc.GenericServerStream[wirepb.RelayToPlugin, wirepb.RelayToHost]{ServerStream: e})
		}, &wirepb.RelayToPlugin{Call: call}, h.relayed)
		return nil
	case 14:
		h.stream(func(e *end) {
			_ = h.server.Body(&grpc.GenericServerStream[wirepb.BodyPart, wirepb.BodyPart]{ServerStream: e})
		}, &wirepb.BodyPart{Call: call, Attempt: uint32(s.pick(3))}, h.part)
		return nil
	case 16:
		f.Frame = &wirepb.ToPlugin_Outcomes{Outcomes: &wirepb.Outcomes{Outcomes: []*wirepb.Outcome{{Seq: id}, {}, {Seq: id, Planned: true}}}}
	case 17:
		f.Frame = &wirepb.ToPlugin_Hello{Hello: &wirepb.Hello{Features: []string{"plan", "else"}[s.pick(2):]}}
	case 15:
		f.Frame = &wirepb.ToPlugin_Drain{Drain: &wirepb.Drain{}}
	}
	return e.SendMsg(f)
}

// stream opens a further call of the plugin's and sends first and some more.
func (h *hostileHost) stream(serve func(*end), first proto.Message, more func() proto.Message) {
	ours, theirs := streamPair(h.ctx)
	go func() {
		defer theirs.closeOut()
		serve(theirs)
	}()
	go func() {
		for ours.RecvMsg(new(wirepb.RelayToHost)) == nil {
		}
	}()
	messages := []proto.Message{first}
	for range h.script.pick(5) {
		messages = append(messages, more())
	}
	leaves := h.script.yes()
	go func() {
		for _, m := range messages {
			if ours.SendMsg(m) != nil {
				return
			}
		}
		if leaves {
			ours.closeOut()
		}
	}()
}

func (h *hostileHost) relayed() proto.Message {
	s := h.script
	m := &wirepb.RelayToPlugin{Attempt: uint32(s.pick(4)), Fault: []string{"", "fault"}[s.pick(2)]}
	if s.yes() {
		m.Event = &wirepb.Event{Kind: uint32(s.pick(12)), Text: "text"}
	}
	return m
}

func (h *hostileHost) part() proto.Message {
	return &wirepb.BodyPart{Data: []byte([]string{`{}`, `{"messages":[`, ``, `null`}[h.script.pick(4)])}
}
