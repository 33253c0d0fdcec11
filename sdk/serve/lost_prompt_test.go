package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
)

// long takes several frames to cross.
var long = strings.Repeat("x", 1<<20)

// saying is a request with a prompt.
func saying(text string) sdk.Request {
	r := primary
	r.Prompt = &sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(text)}}}}
	return r
}

// asks is a listener that answers with the length of the prompt.
func asks(name string) sdk.HookFunc {
	return func(ctx context.Context, c *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
		p, err := c.Prompt(ctx)
		if err != nil {
			return nil, err
		}
		return sdk.AnswerText(name, fmt.Sprintf("%s got %d", name, len(p.Messages[0].Parts[0].Text))), nil
	}
}

// changes is a listener that passes a call on with another prompt, which it awaits
// or not.
func changes(await bool) sdk.HookFunc {
	return func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		r := c.Request
		r.Prompt = saying(long).Prompt
		s, err := next(ctx, r)
		if err == nil && await {
			if f := sdk.AwaitVisible(ctx, s); f != nil {
				return nil, f
			}
		}
		return s, err
	}
}

// TestLostWhilePromptCrosses: the process is lost while a prompt is on its way to
// it, or a changed one from it. The successor is asked, or without one the
// manifest decides; nothing has been sent upstream yet.
func TestLostWhilePromptCrosses(t *testing.T) {
	relaysChanged := func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := changes(false)(ctx, c, next)
		return sdk.Map(s, func(e sdk.Event) sdk.Event { return e }), err
	}
	hooks := []struct {
		name string
		hook sdk.HookFunc
	}{
		{"to the plugin", asks("first")},
		{"changed, passed on", changes(false)},
		{"changed, awaited", changes(true)},
		{"changed, relayed", relaysChanged},
	}
	losses := []struct {
		name string
		lose func(*wire)
	}{
		{"killed", func(w *wire) { w.cutAfter(len(long) / 4) }},
		{"frozen", func(w *wire) { w.freezeAfter(len(long) / 4) }},
	}
	ends := []struct {
		name      string
		onDown    sdk.OnDown
		successor bool
		text      string
		code      sdk.Code
	}{
		{"successor", sdk.OnDownFail, true, fmt.Sprint("second got ", len(long)), ""},
		{"bypass", sdk.OnDownBypass, false, "bypassed", ""},
		{"fail", sdk.OnDownFail, false, "", sdk.CodePlugin},
	}
	for _, hook := range hooks {
		for _, loss := range losses {
			for _, end := range ends {
				if hook.name == "changed, relayed" && end.successor {
					continue // a relay has one process
				}
				t.Run(hook.name+"/"+loss.name+"/"+end.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := sdk.Manifest{Hook: sdk.HookSpec{OnDown: end.onDown}}
						plugins := []sdk.Plugin{&hookPlugin{HookFunc: hook.hook, manifest: m}}
						if end.successor {
							plugins = append(plugins, &hookPlugin{HookFunc: asks("second"), manifest: m})
						}
						h := newLosable(t, plugins...)
						loss.lose(h.wire(0))
						text, f := h.ask(t.Context(), saying(long))
						checkAnswer(t, text, f, end.text, end.code, "")
						if got, want := h.remote.Bypassed(), end.name == "bypass"; (got == 1) != want {
							t.Errorf("%d calls count as bypassed", got)
						}
					})
				})
			}
		}
	}
}

// TestLostWhilePromptCrossesWithinRelay: the same while the answer flows: what
// the caller has stays, and the answer ends with PLUGIN.
func TestLostWhilePromptCrossesWithinRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			return sdk.Map(s, func(e sdk.Event) sdk.Event {
				if e.Text == "second" {
					_, _ = c.Prompt(ctx)
				}
				return e
			}), err
		}})
		h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
			return sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: "first"}, sdk.Event{Kind: sdk.KindTextDelta, Text: "second"})
		}
		h.wire(0).cutAfter(len(long) / 4)
		text, f := h.ask(t.Context(), saying(long))
		checkAnswer(t, text, f, "first", sdk.CodePlugin, "was lost in the middle of the answer")
	})
}

// TestCallerLeavesWhilePromptCrosses: however the caller's patience ends, the
// process that was being sent a prompt serves the other calls as before.
func TestCallerLeavesWhilePromptCrosses(t *testing.T) {
	leave := []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
	}{
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}},
		{"its own deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}},
		{"its own deadline, noticed late", func(ctx context.Context) (context.Context, context.CancelFunc) {
			due := time.Now().Add(time.Second)
			ctx, cancel := context.WithDeadline(ctx, due.Add(500*time.Millisecond))
			return lateContext{ctx, due}, cancel
		}},
	}
	hooks := []struct {
		name string
		hook sdk.HookFunc
	}{
		{"to the plugin", asks("plugin")},
		{"from the plugin", changes(false)},
	}
	for _, hook := range hooks {
		for _, tt := range leave {
			t.Run(hook.name+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newLosable(t, &hookPlugin{HookFunc: hook.hook})
					h.wire(0).pauseAfter(len(long)/4, 2*time.Second)
					ctx, cancel := tt.ctx(t.Context())
					defer cancel()
					text, f := h.ask(ctx, saying(long))
					checkAnswer(t, text, f, "", sdk.CodeAborted, "")
					time.Sleep(5 * time.Second)
					checkAlive(t, h)
				})
			})
		}
	}
}

// lateContext ends later than the deadline it names: the timer of a busy host.
type lateContext struct {
	context.Context
	due time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.due, true }

// TestImpatientPrompts: an author who asks for the prompt again and again while
// the host is busy with an attempt, and does not wait for it, gets it when he
// does.
func TestImpatientPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if err != nil {
				return nil, err
			}
			failed := make(chan *sdk.Failure, 1)
			go func() { failed <- sdk.AwaitVisible(ctx, s) }()
			<-busy
			for range 5 {
				short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
				_, err := c.Prompt(short)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					return nil, fmt.Errorf("the host was not busy: %w", err)
				}
			}
			if f := <-failed; f == nil {
				return nil, errors.New("the attempt did not fail")
			}
			for range 2 {
				if p, err := c.Prompt(ctx); err != nil || p.Messages[0].Parts[0].Text != "hello" {
					return nil, fmt.Errorf("prompt: %v, %w", p, err)
				}
			}
			return c.Reenter(ctx, to(c.Request, fallback))
		}})
		h.upstream = func(_ context.Context, r sdk.Request, n int) sdk.Stream {
			if n > 1 {
				return sdk.AnswerText(r.Model, "from b")
			}
			close(busy)
			time.Sleep(time.Second)
			return sdk.Fail(failure(sdk.CodeServer))
		}
		text, f := h.ask(t.Context(), saying("hello"))
		checkAnswer(t, text, f, "from b", "", "")
		checkAlive(t, h)
	})
}
