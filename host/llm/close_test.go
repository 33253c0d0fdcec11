package llm_test

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// TestCloseDoesNotWait: whoever gives up what next returned goes on at once,
// while the listener that runs at this moment takes its time, and the rest of the
// chain is told to end.
func TestCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stubborn = time.Minute
		var told time.Duration // when the stubborn listener's context ended
		began := time.Now()
		impatient := listener("impatient", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if err != nil {
				return nil, err
			}
			go sdk.AwaitVisible(ctx, s)
			time.Sleep(time.Second)
			if err := s.Close(); err != nil {
				return nil, err
			}
			return sdk.AnswerText("m", "own"), nil
		})
		rest := listener("stubborn", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			context.AfterFunc(ctx, func() { told = time.Since(began) })
			time.Sleep(stubborn)
			return nil, ctx.Err()
		})
		text, f := run(t, &terminal{}, impatient, rest)
		if text != "own" || f != nil {
			t.Errorf("got %q, %v", text, f)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %s, want the second after which it was given up", took)
		}
		if synctest.Wait(); told != time.Second {
			t.Errorf("the rest of the chain was told after %s", told)
		}
		time.Sleep(stubborn) // it ends within the test
	})
}

// TestClosedAnswerIsFreed: what a listener closes is ended for good, also if it
// had begun to answer, or answers only later.
func TestClosedAnswerIsFreed(t *testing.T) {
	asked, decides := make(chan struct{}), make(chan struct{})
	tests := []struct {
		name   string
		before func() // the rest of the chain answers
		use    func(context.Context, sdk.Stream)
	}{
		{"after visible content", func() {}, func(ctx context.Context, s sdk.Stream) {
			if f := sdk.AwaitVisible(ctx, s); f != nil {
				t.Error(f)
			}
			s.Close()
		}},
		{"before the rest of the chain has answered", func() { close(asked); <-decides }, func(ctx context.Context, s sdk.Stream) {
			var wg sync.WaitGroup
			wg.Go(func() { sdk.AwaitVisible(ctx, s) })
			<-asked
			s.Close()
			close(decides)
			wg.Wait()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			freed := make(chan struct{})
			term := &terminal{answer: func(sdk.Request) sdk.Stream {
				tt.before()
				return sdk.Hold(&endless{freed: sync.OnceFunc(func() { close(freed) })}, 0)
			}}
			text, f := run(t, term, listener("closes", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, err := next(ctx, c.Request)
				if err != nil {
					return nil, err
				}
				tt.use(ctx, s)
				return sdk.AnswerText("m", "own"), nil
			}))
			if text != "own" || f != nil {
				t.Errorf("got %q, %v", text, f)
			}
			select {
			case <-freed:
			case <-time.After(5 * time.Second):
				t.Error("the answer's source is still open")
			}
		})
	}
}

// endless says one word after the other until it is closed or left.
type endless struct{ freed func() }

func (s *endless) Close() error { s.freed(); return nil }
func (s *endless) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		defer s.freed()
		for yield(sdk.Event{Kind: sdk.KindTextDelta, Text: "word "}, nil) {
		}
	}
}

// TestAnswerOutlivesItsListener: what a listener returned is not ended with the
// listener's turn.
func TestAnswerOutlivesItsListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := &ctxTerminal{}
		awaits := listener("awaits", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if err != nil {
				return nil, err
			}
			if f := sdk.AwaitVisible(ctx, s); f != nil {
				return nil, f
			}
			return s, nil
		})
		w := llm.New(slog.New(slog.DiscardHandler), term, awaits)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := w.Stream(ctx, &llm.Call{ID: "r", Trace: llm.NewTrace(record.Request{}, nil, nil), Payload: llm.PromptPayload(&sdk.Prompt{})})
		time.Sleep(time.Hour)
		if err := term.ctx.Err(); err != nil {
			t.Errorf("the attempt's context: %v", err)
		}
		for e := range s.Events() {
			if e.Failure != nil {
				t.Error(e.Failure)
			}
		}
		cancel()
		if term.ctx.Err() == nil {
			t.Error("the caller's end does not reach the attempt")
		}
	})
}

// ctxTerminal keeps the context of its last attempt.
type ctxTerminal struct{ ctx context.Context }

func (t *ctxTerminal) Dispatch(ctx context.Context, _ *llm.Call, _ sdk.Request, _ *llm.Payload) sdk.Stream {
	t.ctx = ctx
	return sdk.AnswerText("m", "x")
}

// TestFinishWithoutReason: an answer that a listener ends as failed is a failure
// for whoever comes before it, also if it does not say why.
func TestFinishWithoutReason(t *testing.T) {
	for _, finish := range []sdk.Finish{sdk.FinishError, sdk.FinishAborted} {
		for _, text := range []string{"", "half"} {
			var heard *sdk.Failure
			first := listener("first", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
				s, err := next(ctx, c.Request)
				if err == nil {
					heard = sdk.AwaitVisible(ctx, s)
				}
				return s, err
			})
			author := listener("author", func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
				return sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: text}, sdk.Event{Kind: sdk.KindFinish, Finish: finish}), nil
			})
			got, f := run(t, &terminal{}, first, author)
			if got != text || f == nil || f.Code != sdk.CodePlugin {
				t.Errorf("%s after %q: got %q, %v, want PLUGIN", finish, text, got, f)
			}
			if (heard != nil) != (text == "") {
				t.Errorf("%s after %q: the listener before heard %v", finish, text, heard)
			}
		}
	}
}
