package serve_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
)

// TestGivenUpAttemptEndsAtOnce: an author who stops waiting for an attempt is
// answered at once and may make another, whether the attempt has not begun, the
// rest of the chain still decides about it, or the vendor is silent. Nothing of
// it runs on.
func TestGivenUpAttemptEndsAtOnce(t *testing.T) {
	silent := func(ctx context.Context) sdk.Stream { // waits in the stream, not before
		return sdk.Hold(authored(func(func(sdk.Event, error) bool) { <-ctx.Done() }), 0)
	}
	deciding := func(ctx context.Context) sdk.Stream {
		<-ctx.Done()
		return sdk.AnswerText("m", "late")
	}
	tests := []struct {
		name     string
		patience time.Duration
		rest     func(context.Context) sdk.Stream
	}{
		{"no patience, the rest of the chain decides", 0, deciding},
		{"no patience, the vendor is silent", 0, silent},
		{"some patience, the rest of the chain decides", time.Second, deciding},
		{"some patience, the vendor is silent", time.Second, silent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
					s, err := next(ctx, c.Request)
					if err != nil {
						return nil, err
					}
					short, cancel := context.WithTimeout(ctx, tt.patience)
					defer cancel()
					if f := sdk.AwaitVisible(short, s); f == nil || f.Code != sdk.CodeAborted {
						return nil, errors.New("was not given up")
					}
					return c.Reenter(ctx, to(c.Request, fallback))
				}}
				h := newLosable(t, p)
				running := 0 // read after synctest.Wait only
				h.upstream = func(ctx context.Context, r sdk.Request, _ int) sdk.Stream {
					if r.Route() == fallback {
						return sdk.AnswerText(r.Model, "from b")
					}
					running++
					context.AfterFunc(ctx, func() { running-- })
					return tt.rest(ctx)
				}
				began := time.Now()
				text, f := h.ask(t.Context(), primary)
				checkAnswer(t, text, f, "from b", "", "")
				if took := time.Since(began); took != tt.patience {
					t.Errorf("took %s, want the author's patience of %s", took, tt.patience)
				}
				if synctest.Wait(); running != 0 {
					t.Error("the attempt goes on")
				}
			})
		})
	}
}

// TestGivenUpAttemptBlocksNobody: a listener further down that does not heed its
// context delays the call that it belongs to, and no other.
func TestGivenUpAttemptBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stubborn = time.Minute
		p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, _ := next(ctx, c.Request)
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if f := sdk.AwaitVisible(short, s); f != nil {
				return sdk.AnswerText("own", "given up"), nil
			}
			return s, nil
		}}
		h := newLosable(t, p)
		h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
			if r.Route() == primary.Route() {
				time.Sleep(stubborn)
			}
			return sdk.AnswerText(r.Model, "answered")
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			text, f := h.ask(t.Context(), primary)
			checkAnswer(t, text, f, "given up", "", "")
		})
		time.Sleep(2 * time.Second) // the attempt was given up
		began := time.Now()
		if err := h.wire(0).session.Ping(t.Context()); err != nil {
			t.Errorf("the session does not answer: %v", err)
		}
		text, f := h.ask(t.Context(), to(primary, fallback))
		checkAnswer(t, text, f, "answered", "", "")
		if took := time.Since(began); took != 0 {
			t.Errorf("another call waited %s", took)
		}
		wg.Wait()
	})
}

// TestLeftRelayedAttemptEnds: an author who stops reading an attempt's events
// ends it.
func TestLeftRelayedAttemptEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		p := &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			if err != nil {
				return nil, err
			}
			for e := range s.Events() {
				if e.Kind == sdk.KindTextDelta {
					break
				}
			}
			<-ended
			return sdk.AnswerText("own", "read enough"), nil
		}}
		h := newLosable(t, p)
		h.upstream = func(ctx context.Context, _ sdk.Request, _ int) sdk.Stream {
			return sdk.Hold(authored(func(yield func(sdk.Event, error) bool) {
				defer close(ended)
				for ctx.Err() == nil && yield(sdk.Event{Kind: sdk.KindTextDelta, Text: "word "}, nil) {
					time.Sleep(100 * time.Millisecond)
				}
			}), 0)
		}
		text, f := h.ask(t.Context(), primary)
		checkAnswer(t, text, f, "read enough", "", "")
	})
}

// TestLostAfterGivingUp: a process is lost right after it has given an attempt up.
// Its successor is not told that the caller has ended the call, and where there is
// none the call goes on without a plugin.
func TestLostAfterGivingUp(t *testing.T) {
	for _, tt := range []struct {
		name       string
		successors []sdk.Plugin
		text       string
	}{
		{"a successor", []sdk.Plugin{&hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
			if len(c.Past) != 1 || c.Past[0].Failure.Code != sdk.CodePlugin {
				return nil, fmt.Errorf("past: %+v", c.Past)
			}
			return c.Reenter(ctx, to(c.Request, fallback))
		}}}, "from b"},
		{"nobody", nil, "bypassed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				givenUp := make(chan struct{})
				h := newLosable(t, append([]sdk.Plugin{&hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
					s, err := next(ctx, c.Request)
					if err != nil {
						return nil, err
					}
					none, cancel := context.WithCancel(ctx)
					cancel()
					sdk.AwaitVisible(none, s)
					close(givenUp)
					<-ctx.Done()
					return nil, ctx.Err()
				}}}, tt.successors...)...)
				h.upstream = func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
					if r.Route() == fallback {
						return sdk.AnswerText(r.Model, "from b")
					}
					if n > 1 {
						return sdk.AnswerText(r.Model, "bypassed")
					}
					<-ctx.Done()
					return sdk.Fail(sdk.NewFailure(sdk.CodeAborted, "caller", "the caller is gone"))
				}
				go func() {
					<-givenUp
					h.wire(0).cut()
				}()
				text, f := h.ask(t.Context(), primary)
				checkAnswer(t, text, f, tt.text, "", "")
			})
		})
	}
}
