package llm_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// terminal notes where calls arrive and answers from a script.
type terminal struct {
	visits  []string
	prompts []string
	answer  func(r sdk.Request) sdk.Stream
}

func (t *terminal) Dispatch(_ context.Context, c *llm.Call, r sdk.Request, p *llm.Payload) sdk.Stream {
	t.visits = append(t.visits, r.Route().String())
	if prompt, err := p.Prompt(); err == nil && len(prompt.Messages) > 0 {
		t.prompts = append(t.prompts, prompt.Messages[0].Parts[0].Text)
	}
	if t.answer != nil {
		return t.answer(r)
	}
	return sdk.AnswerText(r.Model, "from "+r.Route().String())
}

func run(t *testing.T, term *terminal, listeners ...llm.Listener) (string, *sdk.Failure) {
	t.Helper()
	w := llm.New(slog.New(slog.DiscardHandler), term, listeners...)
	s := w.Stream(t.Context(), &llm.Call{
		ID: "r", Request: sdk.Request{Provider: "a", Model: "1"}, Trace: llm.NewTrace(record.Request{}, nil, nil),
		Payload: llm.PromptPayload(&sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("hello")}}}}),
	})
	var text strings.Builder
	for e, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(e.Text)
		if e.Kind == sdk.KindFinish {
			return text.String(), e.Failure
		}
	}
	t.Fatal("no finish event")
	return "", nil
}

func listener(name string, f sdk.HookFunc) llm.Listener { return llm.Listener{Name: name, Hook: f} }

// note passes a call on and writes its name and depth down.
func note(name string, log *[]string) llm.Listener {
	return listener(name, func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		*log = append(*log, name+strings.Repeat("'", c.Depth))
		return next(ctx, c.Request)
	})
}

func TestOrder(t *testing.T) {
	var log []string
	term := &terminal{}
	text, f := run(t, term, note("one", &log), note("two", &log), note("three", &log))
	if text != "from a/1" || f != nil {
		t.Errorf("got %q, %v", text, f)
	}
	if d := cmp.Diff([]string{"one", "two", "three"}, log); d != "" {
		t.Error(d)
	}
}

// TestReentry: a further attempt runs the whole waterfall one level deeper, and
// the destination is chosen after the last listener.
func TestReentry(t *testing.T) {
	var log []string
	term := &terminal{answer: func(r sdk.Request) sdk.Stream {
		if r.Provider == "a" {
			return sdk.Fail(sdk.NewFailure(sdk.CodeQuota, "test", ""))
		}
		return sdk.AnswerText(r.Model, "from "+r.Route().String())
	}}
	mover := listener("mover", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		if err != nil || c.Depth > 0 {
			return s, err
		}
		if f := sdk.AwaitVisible(ctx, s); f == nil {
			return s, nil
		}
		r := c.Request
		r.Provider, r.Model = "b", "2"
		return c.Reenter(ctx, r)
	})
	text, f := run(t, term, note("first", &log), mover, note("last", &log))
	if text != "from b/2" || f != nil {
		t.Errorf("got %q, %v", text, f)
	}
	if d := cmp.Diff([]string{"first", "last", "first'", "last'"}, log); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a/1", "b/2"}, term.visits); d != "" {
		t.Error(d)
	}
}

// TestBadListeners: whatever a listener does reaches the caller as a failure
// that names it.
func TestBadListeners(t *testing.T) {
	tests := []struct {
		name    string
		hook    sdk.HookFunc
		code    sdk.Code
		message string
	}{
		{"next twice", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			_, _ = next(ctx, c.Request)
			return next(ctx, c.Request)
		}, sdk.CodePlugin, `plugin "bad": next: used twice`},
		{"panic", func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) { panic("boom") }, sdk.CodePlugin, "panic: boom"},
		{"nothing", func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) { return nil, nil }, sdk.CodePlugin, `plugin "bad" returned neither`},
		{"a failure", func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
			return nil, sdk.NewFailure(sdk.CodePolicy, "test", "not here")
		}, sdk.CodePolicy, "not here"},
		{"endless re-entry", func(ctx context.Context, c *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
			return c.Reenter(ctx, c.Request)
		}, sdk.CodePlugin, `plugin "bad": reenter: depth limit`},
		{"no finish", func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
			return sdk.Map(sdk.AnswerText("m", ""), func(e sdk.Event) sdk.Event {
				if e.Kind == sdk.KindFinish {
					return sdk.Event{}
				}
				return e
			}), nil
		}, sdk.CodeTransport, "without a finish event"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := &terminal{}
			_, f := run(t, term, listener("bad", tt.hook))
			if f == nil || f.Code != tt.code || !strings.Contains(f.Message, tt.message) {
				t.Errorf("got %v, want %s containing %q", f, tt.code, tt.message)
			}
		})
	}
}

// TestLazy: a listener that takes a handle and answers by itself sends nothing.
func TestLazy(t *testing.T) {
	term := &terminal{}
	text, _ := run(t, term, listener("idle", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		if _, err := next(ctx, c.Request); err != nil {
			return nil, err
		}
		return sdk.AnswerText("m", "cached"), nil
	}))
	if text != "cached" || len(term.visits) != 0 {
		t.Errorf("got %q, visits %v", text, term.visits)
	}
}

// TestPrompt: a listener reads its own copy, and a changed one travels on.
func TestPrompt(t *testing.T) {
	term := &terminal{}
	_, f := run(t, term,
		listener("vandal", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			p, err := c.Prompt(ctx)
			if err != nil {
				return nil, err
			}
			p.Messages[0].Parts[0].Text = "spoilt" // only the copy
			return next(ctx, c.Request)
		}),
		listener("editor", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			p, err := c.Prompt(ctx)
			if err != nil {
				return nil, err
			}
			p.Messages[0].Parts[0].Text += ", edited"
			r := c.Request
			r.Prompt = p
			return next(ctx, r)
		}))
	if d := cmp.Diff([]string{"hello, edited"}, term.prompts); d != "" || f != nil {
		t.Errorf("%s %v", d, f)
	}
}

func TestTrace(t *testing.T) {
	var stored []record.Request
	var notices []string
	tr := llm.NewTrace(record.Request{ID: "r"}, func(r record.Request) { stored = append(stored, r) },
		func(a record.Attempt, before *record.Attempt) {
			line := a.Route.String()
			if before != nil {
				line += " after " + before.Route.String() + " " + string(before.JudgedCode)
			}
			notices = append(notices, line)
		})
	n := tr.Begin(sdk.Request{Provider: "a", Model: "1"})
	tr.End(n, sdk.Outcome{Failure: sdk.NewFailure(sdk.CodeRateLimit, "x", "")}, &llm.Reply{Status: 429})
	tr.Decide(sdk.Decision{Attempt: n, Code: sdk.CodeQuota, Action: sdk.ActionFallback})
	n = tr.Begin(sdk.Request{Provider: "b", Model: "2", Dispatch: sdk.Dispatch{Kind: sdk.KindFallback}})
	tr.End(n, sdk.Outcome{Committed: true}, nil)
	if len(stored) != 0 {
		t.Error("stored before the end")
	}
	if tr.Reply(1).Status != 429 || tr.Reply(2) != nil || tr.Reply(0) != nil || tr.Reply(9) != nil {
		t.Error("replies")
	}
	tr.Finish(nil, true)
	tr.Decide(sdk.Decision{Attempt: 1, Code: sdk.CodeAuth}) // a late one is stored again
	if len(stored) != 2 || stored[0].Outcome != record.OKAfterFallback || stored[1].Attempts[0].JudgedCode != sdk.CodeAuth {
		t.Errorf("stored: %+v", stored)
	}
	if stored[0].Attempts[0].JudgedCode != sdk.CodeQuota {
		t.Error("a stored record changed afterwards")
	}
	if d := cmp.Diff([]string{"a/1", "b/2 after a/1 QUOTA"}, notices); d != "" {
		t.Error(d)
	}
	if tr.Reply(1) != nil {
		t.Error("a body is kept after the end")
	}
}

func TestOutcomes(t *testing.T) {
	aborted := sdk.NewFailure(sdk.CodeAborted, "", "")
	failed := sdk.NewFailure(sdk.CodeQuota, "", "")
	tests := []struct {
		kinds     []sdk.AttemptKind
		failure   *sdk.Failure
		committed bool
		want      record.Outcome
	}{
		{nil, nil, false, record.OK},
		{[]sdk.AttemptKind{sdk.KindPrimary}, nil, true, record.OK},
		{[]sdk.AttemptKind{sdk.KindPrimary, sdk.KindRetry}, nil, true, record.OKAfterRetry},
		{[]sdk.AttemptKind{sdk.KindPrimary, sdk.KindRetry, sdk.KindFailover}, nil, true, record.OKAfterFailover},
		{[]sdk.AttemptKind{sdk.KindFallback, sdk.KindRetry}, nil, true, record.OKAfterFallback},
		{[]sdk.AttemptKind{sdk.KindProbe}, nil, true, record.OK},
		{[]sdk.AttemptKind{sdk.KindPrimary}, failed, false, record.FailedClean},
		{[]sdk.AttemptKind{sdk.KindPrimary}, failed, true, record.FailedMidstream},
		{[]sdk.AttemptKind{sdk.KindPrimary}, aborted, true, record.Cancelled},
	}
	for _, tt := range tests {
		tr := llm.NewTrace(record.Request{}, nil, nil)
		for _, k := range tt.kinds {
			tr.Begin(sdk.Request{Dispatch: sdk.Dispatch{Kind: k}})
		}
		tr.Finish(tt.failure, tt.committed)
		if got := tr.Record().Outcome; got != tt.want {
			t.Errorf("%v, %v, committed %t: got %s, want %s", tt.kinds, tt.failure, tt.committed, got, tt.want)
		}
	}
}
