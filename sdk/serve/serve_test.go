package serve_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// hookPlugin is a plugin made of one function.
type hookPlugin struct {
	sdk.HookFunc
	manifest sdk.Manifest
	outcomes chan sdk.Outcome
	settings chan string
}

func (p *hookPlugin) Manifest() sdk.Manifest {
	m := p.manifest
	m.Name, m.Version = "under-test", "1"
	return m
}

func (p *hookPlugin) Outcome(o sdk.Outcome) {
	if p.outcomes != nil {
		p.outcomes <- o
	}
}

func (p *hookPlugin) Settings(c sdk.Config, changed []string) error {
	if strings.Contains(string(c.JSON), "bad") {
		return sdk.Faults{{Path: "x", Value: "bad", Message: "must be good", Allowed: "good"}}
	}
	p.settings <- strings.Join(changed, ",")
	return nil
}

func (p *hookPlugin) Judge(_ context.Context, provider string, f sdk.Failure) sdk.Failure {
	f.Code, f.Rule = sdk.CodeQuota, "judged for "+provider
	return f
}

func failure(c sdk.Code) *sdk.Failure { return sdk.NewFailure(c, "test", string(c)+" of the test") }

var (
	primary  = sdk.Request{Provider: "a", Model: "m1"}
	fallback = sdk.Route{Provider: "b", Model: "m2"}
)

func to(r sdk.Request, route sdk.Route) sdk.Request {
	r.Provider, r.Model = route.Provider, route.Model
	return r
}

// TestTurns is what a listener can do with a call, each over the real wire.
func TestTurns(t *testing.T) {
	script := plugintest.Script{
		"a/m1": {{Failure: failure(sdk.CodeQuota)}},
		"b/m2": {{Text: "from b"}},
		"c/m3": {{Text: "part", Failure: failure(sdk.CodeServer)}},
	}
	tests := []struct {
		name    string
		hook    sdk.HookFunc
		want    string
		failure sdk.Code
		message string // part of the failure's message
	}{
		{
			name: "pass on untouched",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				return next(ctx, to(c.Request, fallback))
			},
			want: "from b",
		},
		{
			name: "pass on a failing call",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				return next(ctx, c.Request)
			},
			failure: sdk.CodeQuota, message: "QUOTA of the test",
		},
		{
			name: "await, then re-enter elsewhere",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, err := next(ctx, c.Request)
				if err != nil {
					return nil, err
				}
				if f := sdk.AwaitVisible(ctx, s); f == nil || f.Code != sdk.CodeQuota || f.Attempt != 1 {
					return nil, errors.New("the failure of the first attempt did not arrive")
				}
				if s, err = c.Reenter(ctx, to(c.Request, fallback)); err != nil {
					return nil, err
				}
				if f := sdk.AwaitVisible(ctx, s); f != nil {
					return nil, f
				}
				return s, nil
			},
			want: "from b",
		},
		{
			name: "return the failure",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, c.Request)
				return nil, sdk.AwaitVisible(ctx, s)
			},
			failure: sdk.CodeQuota,
		},
		{
			name: "return the failed handle",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, c.Request)
				sdk.AwaitVisible(ctx, s)
				return s, nil
			},
			failure: sdk.CodeQuota,
		},
		{
			name: "a failure after content passes through",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, to(c.Request, sdk.Route{Provider: "c", Model: "m3"}))
				if f := sdk.AwaitVisible(ctx, s); f != nil {
					return nil, errors.New("failed before content")
				}
				return s, nil
			},
			want: "part", failure: sdk.CodeServer,
		},
		{
			name: "answer by itself",
			hook: func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
				return sdk.AnswerText("none", "cached"), nil
			},
			want: "cached",
		},
		{
			name: "rewrite events",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, err := next(ctx, to(c.Request, fallback))
				return sdk.Map(s, func(e sdk.Event) sdk.Event {
					e.Text = strings.ToUpper(e.Text)
					return e
				}), err
			},
			want: "FROM B",
		},
		{
			name: "read one answer, return another",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, to(c.Request, fallback))
				if text, f := plugintest.Collect(s); text != "from b" || f != nil {
					return nil, errors.New("read " + text)
				}
				return c.Reenter(ctx, to(c.Request, fallback))
			},
			want: "from b",
		},
		{
			name: "failover on the slow path",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, c.Request)
				upper := func(s sdk.Stream) sdk.Stream {
					return sdk.Map(s, func(e sdk.Event) sdk.Event { e.Text = strings.ToUpper(e.Text); return e })
				}
				m := upper(s)
				if f := sdk.AwaitVisible(ctx, m); f == nil {
					return m, nil
				}
				s, err := c.Reenter(ctx, to(c.Request, fallback))
				return upper(s), err
			},
			want: "FROM B",
		},
		{
			name: "peek, then give the whole",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, to(c.Request, fallback))
				events, whole := sdk.Peek(s, 2)
				if len(events) != 2 || events[0].Kind != sdk.KindStart {
					return nil, errors.New("peeked at something else")
				}
				return whole, nil
			},
			want: "from b",
		},
		{
			name: "next twice names the plugin",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				if _, err := next(ctx, c.Request); err != nil {
					return nil, err
				}
				return next(ctx, c.Request)
			},
			failure: sdk.CodePlugin, message: `plugin "under-test": next: used twice`,
		},
		{
			name: "an answer that was committed cannot be read",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, _ := next(ctx, to(c.Request, fallback))
				if f := sdk.AwaitVisible(ctx, s); f != nil {
					return nil, f
				}
				for _, err := range s.Events() {
					if !errors.Is(err, sdk.ErrCommitted) {
						panic("read a committed answer")
					}
				}
				return s, nil
			},
			want: "from b",
		},
		{
			name:    "panic",
			hook:    func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) { panic("boom") },
			failure: sdk.CodePlugin, message: "panic: boom",
		},
		{
			name:    "nothing returned",
			hook:    func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) { return nil, nil },
			failure: sdk.CodePlugin, message: "neither a stream nor an error",
		},
		{
			name: "change what is said",
			hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				p, err := c.Prompt(ctx)
				if err != nil {
					return nil, err
				}
				p.Messages[0].Parts[0].Text += " (checked)"
				r := to(c.Request, sdk.Route{Provider: "echo"})
				r.Prompt = p
				return next(ctx, r)
			},
			want: "hello (checked)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vendors := script.Upstream()
			h := plugintest.Start(t, &hookPlugin{HookFunc: tt.hook}, plugintest.Options{
				Upstream: func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
					if r.Provider == "echo" {
						return sdk.AnswerText("echo", r.Prompt.Messages[0].Parts[0].Text)
					}
					return vendors(ctx, r, n)
				},
			})
			r := primary
			r.Prompt = &sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("hello")}}}}
			text, f := h.Ask(t.Context(), r)
			if text != tt.want {
				t.Errorf("text: got %q, want %q (failure %v)", text, tt.want, f)
			}
			var code sdk.Code
			var message string
			if f != nil {
				code, message = f.Code, f.Message
			}
			if code != tt.failure || !strings.Contains(message, tt.message) {
				t.Errorf("failure: got %v, want %q containing %q", f, tt.failure, tt.message)
			}
		})
	}
}

// TestOutcome: a spliced attempt's outcome arrives once, with the tag of its
// dispatch, and is acknowledged.
func TestOutcome(t *testing.T) {
	p := &hookPlugin{outcomes: make(chan sdk.Outcome, 4)}
	p.HookFunc = func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		r := to(c.Request, fallback)
		r.Dispatch = sdk.Dispatch{Kind: sdk.KindFallback, Tag: "permit 7"}
		return next(ctx, r)
	}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: plugintest.Script{"b/m2": {{Text: "x"}}}.Upstream()})
	if _, f := h.Ask(t.Context(), primary); f != nil {
		t.Fatal(f)
	}
	o := <-p.outcomes
	got := []any{o.Seq, o.Attempt, o.Route, o.Kind, o.Tag, o.Committed, o.Finish, o.Failure}
	want := []any{uint64(1), 1, fallback, sdk.KindFallback, "permit 7", true, sdk.FinishStop, (*sdk.Failure)(nil)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for !h.Acknowledged() {
		if err := h.Session().Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSettingsAndJudge(t *testing.T) {
	p := &hookPlugin{settings: make(chan string, 1), manifest: sdk.Manifest{Judge: true}}
	h := plugintest.Start(t, p, plugintest.Options{})
	if err := h.Session().Settings(t.Context(), sdk.Config{JSON: []byte(`{"x":"good"}`)}, []string{"x", "y[0]"}); err != nil {
		t.Fatal(err)
	}
	if got := <-p.settings; got != "x,y[0]" {
		t.Errorf("changed: got %q", got)
	}
	err := h.Session().Settings(t.Context(), sdk.Config{JSON: []byte(`{"x":"bad"}`)}, []string{"x"})
	if want := "x: must be good, got bad (allowed: good)"; err == nil || err.Error() != want {
		t.Errorf("faults: got %v, want %q", err, want)
	}
	f, err := h.Session().Judge(t.Context(), "kimi", sdk.Failure{Code: sdk.CodeRateLimit, Message: "usage limit"})
	if err != nil || f.Code != sdk.CodeQuota || f.Rule != "judged for kimi" {
		t.Errorf("judge: got %+v, %v", f, err)
	}
}

// TestCancel: the caller leaves while an attempt runs; the attempt and the
// author's turn end.
func TestCancel(t *testing.T) {
	ended := make(chan error, 1)
	p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, _ := next(ctx, c.Request)
		f := sdk.AwaitVisible(ctx, s)
		ended <- f
		return nil, f
	}}
	upstream := make(chan struct{})
	h := plugintest.Start(t, p, plugintest.Options{Upstream: func(ctx context.Context, _ sdk.Request, _ int) sdk.Stream {
		close(upstream)
		<-ctx.Done()
		return sdk.Fail(sdk.NewFailure(sdk.CodeAborted, "test", "cancelled"))
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, f := h.Ask(ctx, primary); f == nil || f.Code != sdk.CodeAborted {
			t.Errorf("caller: got %v, want ABORTED", f)
		}
	})
	<-upstream
	cancel()
	wg.Wait()
	if f, ok := errors.AsType[*sdk.Failure](<-ended); !ok || f.Code != sdk.CodeAborted {
		t.Errorf("author: got %v, want ABORTED", f)
	}
}

// TestGiveUp: an author stops waiting for one attempt and makes another.
func TestGiveUp(t *testing.T) {
	p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, _ := next(ctx, c.Request)
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if f := sdk.AwaitVisible(short, s); f == nil || f.Code != sdk.CodeAborted {
			return nil, errors.New("was not given up")
		}
		return c.Reenter(ctx, to(c.Request, fallback))
	}}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: plugintest.Script{
		"a/m1": {{After: make(chan struct{})}},
		"b/m2": {{Text: "from b"}},
	}.Upstream()})
	if text, f := h.Ask(t.Context(), primary); text != "from b" {
		t.Errorf("got %q, %v", text, f)
	}
}

// TestStalled: a listener that never decides delays its own call by the
// decision time, and no other.
func TestStalled(t *testing.T) {
	p := &hookPlugin{
		manifest: sdk.Manifest{Hook: sdk.HookSpec{Decide: 20 * time.Millisecond}},
		HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			if c.Request.Conversation == "stuck" {
				<-ctx.Done()
			}
			return next(ctx, to(c.Request, fallback))
		},
	}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: plugintest.Script{
		"a/m1": {{Text: "bypassed"}}, "b/m2": {{Text: "asked"}},
	}.Upstream()})
	stuck := primary
	stuck.Conversation = "stuck"
	if text, _ := h.Ask(t.Context(), stuck); text != "bypassed" {
		t.Errorf("stuck: got %q", text)
	}
	if text, _ := h.Ask(t.Context(), primary); text != "asked" {
		t.Errorf("next: got %q", text)
	}
}

func TestState(t *testing.T) {
	var host sdk.Host
	p := &statePlugin{hookPlugin: hookPlugin{}, host: &host}
	plugintest.Start(t, p, plugintest.Options{})
	ctx := t.Context()
	st := host.State()
	if _, err := st.Get(ctx, "k"); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("get absent: %v", err)
	}
	rev, err := st.Put(ctx, "k", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.CompareAndSwap(ctx, "k", rev+1, []byte("2"), 0); !errors.Is(err, sdk.ErrConflict) {
		t.Errorf("swap at a wrong revision: %v", err)
	}
	if _, err := st.Put(ctx, "k", make([]byte, sdk.MaxStateValue+1), 0); !errors.Is(err, sdk.ErrTooLarge) {
		t.Errorf("put too much: %v", err)
	}
	changes := make(chan sdk.Item, 1)
	watch, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = st.Watch(watch, "w/", func(i sdk.Item) { changes <- i }) })
	for seen := false; !seen; { // the watch may begin after the first writes
		if _, err := st.Put(ctx, "w/x", []byte("y"), 0); err != nil {
			t.Fatal(err)
		}
		select {
		case i := <-changes:
			seen = i.Key == "w/x" && string(i.Data) == "y"
		default:
		}
	}
	stop()
	wg.Wait()
	l, err := st.Acquire(ctx, "lease", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Acquire(ctx, "lease", time.Minute); !errors.Is(err, sdk.ErrHeld) {
		t.Errorf("acquire a held lease: %v", err)
	}
	if err := st.Release(ctx, l); err != nil {
		t.Error(err)
	}
	if again, err := st.Acquire(ctx, "lease", time.Minute); err != nil || again.Generation != l.Generation+1 {
		t.Errorf("acquire again: %+v, %v", again, err)
	}
}

type statePlugin struct {
	hookPlugin
	host *sdk.Host
}

func (p *statePlugin) Configure(_ context.Context, h sdk.Host, _ sdk.Config) error {
	*p.host = h
	return nil
}

// TestMany runs calls at once, half of them failing over.
func TestMany(t *testing.T) {
	p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		if err != nil {
			return nil, err
		}
		if f := sdk.AwaitVisible(ctx, s); f != nil {
			return c.Reenter(ctx, to(c.Request, fallback))
		}
		return s, nil
	}}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: plugintest.Script{
		"a/m1": {{Failure: failure(sdk.CodeServer)}}, "b/m2": {{Text: "b"}}, "c/m3": {{Text: "c"}},
	}.Upstream()})
	var wg sync.WaitGroup
	for i := range 64 {
		r, want := primary, "b"
		if i%2 == 0 {
			r, want = to(primary, sdk.Route{Provider: "c", Model: "m3"}), "c"
		}
		wg.Go(func() {
			for range 20 {
				if text, f := h.Ask(t.Context(), r); text != want {
					t.Errorf("got %q, %v, want %q", text, f, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestGivenUpRelay: an author stops waiting for an answer that crosses to it.
func TestGivenUpRelay(t *testing.T) {
	p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		if err != nil {
			return nil, err
		}
		short, cancel := context.WithTimeout(ctx, 300*time.Microsecond)
		defer cancel()
		if f := sdk.AwaitVisible(short, sdk.Map(s, func(e sdk.Event) sdk.Event { return e })); f == nil {
			return nil, errors.New("was not given up")
		}
		return sdk.AnswerText("x", "gave up"), nil
	}}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: func(ctx context.Context, _ sdk.Request, _ int) sdk.Stream {
		<-ctx.Done()
		return sdk.Fail(failure(sdk.CodeAborted))
	}})
	for range 20 {
		if text, f := h.Ask(t.Context(), primary); text != "gave up" {
			t.Fatalf("got %q, %v", text, f)
		}
	}
}

// TestClosedHandle: a handle that is closed before it has begun never begins.
func TestClosedHandle(t *testing.T) {
	p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		if err == nil {
			s.Close()
		}
		return s, err
	}}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: func(context.Context, sdk.Request, int) sdk.Stream {
		t.Error("the vendor was asked")
		return sdk.AnswerText("m", "x")
	}})
	if _, f := h.Ask(t.Context(), primary); f == nil || f.Code != sdk.CodeAborted {
		t.Errorf("got %v, want ABORTED", f)
	}
}

// TestInvalidText: text that is no UTF-8 ends nobody's session.
func TestInvalidText(t *testing.T) {
	const bad = "caf\xe9"
	var host sdk.Host
	p := &statePlugin{host: &host}
	p.HookFunc = func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		host.Record(sdk.Decision{Call: c.ID, Reason: bad, Rule: bad})
		host.Report(sdk.Status{Targets: []sdk.TargetStatus{{Target: bad, Reason: bad}}})
		host.Probe(bad)
		if _, err := host.State().Put(ctx, bad, nil, 0); err == nil {
			return nil, errors.New("a bad key was taken")
		}
		r := c.Request
		r.Dispatch = sdk.Dispatch{Reason: bad, Tag: bad, Key: bad, Skipped: []sdk.Skip{{Reason: bad}}}
		return next(ctx, r)
	}
	h := plugintest.Start(t, p, plugintest.Options{Upstream: func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
		return sdk.AnswerText(r.Model, "fine")
	}})
	text, f := h.Ask(t.Context(), sdk.Request{Provider: bad, Model: bad, Conversation: bad, Effort: bad})
	if text != "fine" || f != nil {
		t.Errorf("got %q, %v", text, f)
	}
	if err := h.Session().Ping(t.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}
