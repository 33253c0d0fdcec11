package serve_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
	"spillway/sdk/serve"
)

// mapped is a listener that looks at every event and changes none.
func mapped(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	s, err := next(ctx, c.Request)
	return sdk.Map(s, func(e sdk.Event) sdk.Event { return e }), err
}

// TestRelayOfLongEvents: an event of any size crosses, both ways, in pieces
// below the limit on a frame and cut between runes.
func TestRelayOfLongEvents(t *testing.T) {
	tests := []struct {
		name string
		kind sdk.EventKind
		text string
	}{
		{"text", sdk.KindTextDelta, strings.Repeat("x", serve.MaxFrame+1)},
		{"runes of three bytes", sdk.KindReasoningDelta, strings.Repeat("界", serve.MaxFrame/2)},
		{"runes of four bytes, shifted", sdk.KindToolCallDelta, "a" + strings.Repeat("😀", serve.MaxFrame/4)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newLosable(t, &hookPlugin{HookFunc: mapped})
				h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
					return sdk.Answer(sdk.Event{Kind: sdk.KindStart}, sdk.Event{Kind: tt.kind, Index: 7, Text: tt.text})
				}
				var got strings.Builder
				for e, err := range h.call(t.Context(), primary).Events() {
					if err != nil || e.Failure != nil {
						t.Fatalf("after %d of %d bytes: %v, %v", got.Len(), len(tt.text), err, e.Failure)
					}
					if e.Text != "" && (e.Kind != tt.kind || e.Index != 7) {
						t.Errorf("a piece is of kind %d and index %d", e.Kind, e.Index)
					}
					got.WriteString(e.Text)
				}
				if got.String() != tt.text {
					t.Errorf("got %d bytes, want the %d that were sent", got.Len(), len(tt.text))
				}
			})
		})
	}
}

// TestRelayToSlowConsumer: what the consumer takes is not the plugin's time,
// wherever in the answer it pauses and however much of it is under way.
func TestRelayToSlowConsumer(t *testing.T) {
	tests := []struct {
		name   string
		events int
		size   int
		gap    time.Duration // between the vendor's events
	}{
		{"the vendor sends at once", 20, 8, 0},
		{"the vendor ends during a pause", 4, 8, 100 * time.Millisecond},
		{"flow control holds the vendor", 60, 60 << 10, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newLosable(t, &hookPlugin{HookFunc: mapped})
				h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
					return sdk.Hold(authored(func(yield func(sdk.Event, error) bool) {
						for range tt.events {
							if !yield(sdk.Event{Kind: sdk.KindTextDelta, Text: strings.Repeat("x", tt.size)}, nil) {
								return
							}
							time.Sleep(tt.gap)
						}
						yield(sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}, nil)
					}), 0)
				}
				n := 0
				for e, err := range h.call(t.Context(), primary).Events() {
					if err != nil || e.Failure != nil {
						t.Fatalf("after %d events: %v, %v", n, err, e.Failure)
					}
					n++
					time.Sleep(3 * time.Second)
				}
				if want := tt.events + 1; n != want {
					t.Errorf("got %d events, want %d", n, want)
				}
			})
		})
	}
}

// TestRelayFromSlowVendor: the decision timer does not run while an attempt
// does.
func TestRelayFromSlowVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newLosable(t, &hookPlugin{HookFunc: mapped})
		h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
			return sdk.Map(sdk.AnswerText("m", "slow"), func(e sdk.Event) sdk.Event {
				time.Sleep(10 * time.Second)
				return e
			})
		}
		text, f := h.ask(t.Context(), primary)
		checkAnswer(t, text, f, "slow", "", "")
	})
}

// TestRelayIsLeft: a caller who leaves ends the vendor's attempt, be it the one
// that the plugin ordered or the one that is made for a lost plugin.
func TestRelayIsLeft(t *testing.T) {
	tests := []struct {
		name  string
		lost  bool
		leave func(sdk.Stream, context.CancelFunc)
	}{
		{"cancelled", false, func(_ sdk.Stream, cancel context.CancelFunc) { cancel() }},
		{"closed", false, func(s sdk.Stream, _ context.CancelFunc) { s.Close() }},
		{"cancelled after the plugin was lost", true, func(_ sdk.Stream, cancel context.CancelFunc) { cancel() }},
		{"closed after the plugin was lost", true, func(s sdk.Stream, _ context.CancelFunc) { s.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newLosable(t, &hookPlugin{HookFunc: mapped})
				running := 0 // bubble-wide order: read after synctest.Wait only
				h.upstream = func(ctx context.Context, _ sdk.Request, _ int) sdk.Stream {
					running++
					<-ctx.Done()
					running--
					return sdk.Fail(failure(sdk.CodeAborted))
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := h.call(ctx, primary)
				told := make(chan *sdk.Failure, 1)
				go func() { told <- sdk.AwaitVisible(t.Context(), s) }()
				synctest.Wait()
				if tt.lost {
					h.wire(0).cut()
					synctest.Wait()
				}
				if running != 1 {
					t.Fatalf("%d attempts run, want 1", running)
				}
				tt.leave(s, cancel)
				synctest.Wait()
				if running != 0 {
					t.Error("the attempt goes on")
				}
				if f := <-told; f == nil || f.Code != sdk.CodeAborted {
					t.Errorf("got %v, want ABORTED", f)
				}
			})
		})
	}
}

// TestPromptWithinRelay: an author may ask what is said while the answer flows.
func TestPromptWithinRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			s, err := next(ctx, c.Request)
			return sdk.Map(s, func(e sdk.Event) sdk.Event {
				if e.Kind == sdk.KindTextDelta {
					p, err := c.Prompt(ctx)
					if err != nil {
						panic(err)
					}
					e.Text += " to " + p.Messages[0].Parts[0].Text
				}
				return e
			}), err
		}})
		h.upstream = func(context.Context, sdk.Request, int) sdk.Stream {
			return sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: "one"}, sdk.Event{Kind: sdk.KindTextDelta, Text: ", two"})
		}
		text, f := h.ask(t.Context(), saying("hello"))
		checkAnswer(t, text, f, "one to hello, two to hello", "", "")
	})
}
