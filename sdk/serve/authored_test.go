package serve_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"spillway/sdk"
)

// authored is an author's own stream: nothing but its events.
type authored func(yield func(sdk.Event, error) bool)

func (authored) Close() error                          { return nil }
func (a authored) Events() iter.Seq2[sdk.Event, error] { return iter.Seq2[sdk.Event, error](a) }

// TestFinishWithoutReason: an answer that an author ends as failed is a failure,
// also if he does not say why.
func TestFinishWithoutReason(t *testing.T) {
	for _, finish := range []sdk.Finish{sdk.FinishError, sdk.FinishAborted} {
		end := sdk.Event{Kind: sdk.KindFinish, Finish: finish}
		tests := []struct {
			name   string
			stream sdk.Stream
			text   string
		}{
			{"at once", sdk.Answer(end), ""},
			{"after content", sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: "half"}, end), "half"},
			{"of an own stream", authored(func(yield func(sdk.Event, error) bool) { yield(end, nil) }), ""},
		}
		for _, tt := range tests {
			t.Run(string(finish)+"/"+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newLosable(t, &hookPlugin{HookFunc: func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
						return tt.stream, nil
					}})
					text, f := h.ask(t.Context(), primary)
					checkAnswer(t, text, f, tt.text, sdk.CodePlugin, "without a reason")
				})
			})
		}
	}
}

// TestHeldAnswerIsBounded: an endless answer that shows nothing is given up
// before it fills the host's memory, whichever field it is large in.
func TestHeldAnswerIsBounded(t *testing.T) {
	const size, most = 32 << 10, 8 << 20
	pad := strings.Repeat("x", size)
	tests := []struct {
		name  string
		event sdk.Event
	}{
		{"text in no delta", sdk.Event{Kind: sdk.KindStart, Text: pad}},
		{"id", sdk.Event{Kind: sdk.KindStart, ID: pad}},
		{"signature", sdk.Event{Kind: sdk.KindBlockEnd, Signature: pad}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				given := 0
				h := newLosable(t, &hookPlugin{HookFunc: func(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
					return authored(func(yield func(sdk.Event, error) bool) {
						for yield(tt.event, nil) && given < 2*most {
							given += size
						}
					}), nil
				}})
				f := sdk.AwaitVisible(t.Context(), h.call(t.Context(), primary))
				if f == nil || f.Code != sdk.CodePlugin || !strings.Contains(f.Message, "too much before visible content") {
					t.Errorf("got %v, want PLUGIN", f)
				}
				if synctest.Wait(); given > most {
					t.Errorf("%d MB were taken", given>>20)
				}
			})
		})
	}
}
