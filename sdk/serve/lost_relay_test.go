package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"spillway/sdk"
)

// stops is a listener that lets n events of the answer through and then waits
// for the end of its turn.
func stops(n int) sdk.HookFunc {
	return func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		seen := 0
		return sdk.Map(s, func(e sdk.Event) sdk.Event {
			if seen++; seen > n {
				<-ctx.Done()
			}
			return e
		}), err
	}
}

// TestRelayOfLostPlugin: a plugin does not bring a relayed answer to its end.
// Before the first event the call is made again as the manifest says; after it
// the answer ends with PLUGIN. ABORTED is for a caller who left.
func TestRelayOfLostPlugin(t *testing.T) {
	kill := func(h *losable, _ context.CancelFunc) { h.wire(0).cut() }
	stall := func(*losable, context.CancelFunc) {}
	freeze := func(h *losable, _ context.CancelFunc) { h.wire(0).freeze() }
	leave := func(_ *losable, leave context.CancelFunc) { leave() }
	const lost, down = "was lost in the middle of the answer", `plugin "under-test" is down`
	tests := []struct {
		name    string
		onDown  sdk.OnDown
		events  int
		happens func(*losable, context.CancelFunc)
		text    string
		code    sdk.Code
		message string
	}{
		{"killed before the first event", sdk.OnDownBypass, 0, kill, "again", "", ""},
		{"killed before the first event, must not be missed", sdk.OnDownFail, 0, kill, "", sdk.CodePlugin, down},
		{"killed in the middle", sdk.OnDownBypass, 3, kill, "part", sdk.CodePlugin, lost},
		{"stalls before the first event", sdk.OnDownBypass, 0, stall, "again", "", ""},
		{"stalls before the first event, must not be missed", sdk.OnDownFail, 0, stall, "", sdk.CodePlugin, down},
		{"stalls in the middle", sdk.OnDownBypass, 3, stall, "part", sdk.CodePlugin, lost},
		{"frozen before the first event", sdk.OnDownBypass, 0, freeze, "again", "", ""},
		{"frozen in the middle", sdk.OnDownBypass, 3, freeze, "part", sdk.CodePlugin, lost},
		{"the caller leaves before the first event", sdk.OnDownBypass, 0, leave, "", sdk.CodeAborted, "context canceled"},
		{"the caller leaves in the middle", sdk.OnDownBypass, 3, leave, "part", sdk.CodeAborted, "context canceled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &hookPlugin{HookFunc: stops(tt.events), manifest: sdk.Manifest{Hook: sdk.HookSpec{OnDown: tt.onDown}}}
				h := newLosable(t, p)
				h.upstream = func(_ context.Context, r sdk.Request, n int) sdk.Stream {
					if n > 1 {
						return sdk.AnswerText(r.Model, "again")
					}
					return sdk.AnswerText(r.Model, "part")
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var text string
				var f *sdk.Failure
				var wg sync.WaitGroup
				wg.Go(func() { text, f = h.ask(ctx, primary) })
				synctest.Wait() // the plugin has stopped
				tt.happens(h, cancel)
				wg.Wait()
				checkAnswer(t, text, f, tt.text, tt.code, tt.message)
			})
		})
	}
}

// TestRelayPastItsDeadline: a caller whose own deadline passes leaves, also when the
// host notices after the plugin could have.
func TestRelayPastItsDeadline(t *testing.T) {
	for events, text := range map[int]string{0: "", 3: "part"} {
		t.Run(fmt.Sprint(events), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newLosable(t, &hookPlugin{HookFunc: stops(events)})
				h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream { return sdk.AnswerText(r.Model, "part") }
				due := time.Now().Add(50 * time.Millisecond)
				ctx, cancel := context.WithDeadline(t.Context(), due.Add(50*time.Millisecond))
				defer cancel()
				got, f := h.ask(lateContext{ctx, due}, primary)
				checkAnswer(t, got, f, text, sdk.CodeAborted, "deadline exceeded")
				checkAlive(t, h)
			})
		})
	}
}

// TestRelayOfAbandonedPlugin: a plugin whose session was ended under it, as at a
// stop, may still say on the relay that its turn was cancelled. That is no word
// about the caller, who is there.
func TestRelayOfAbandonedPlugin(t *testing.T) {
	tests := []struct {
		name  string
		given []sdk.Event
		text  string
		code  sdk.Code
	}{
		{"before the first event", nil, "bypassed", ""},
		{"in the middle", []sdk.Event{{Kind: sdk.KindTextDelta, Text: "part"}}, "part", sdk.CodePlugin},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, _ *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
					return authored(func(yield func(sdk.Event, error) bool) {
						for _, e := range tt.given {
							yield(e, nil)
						}
						<-ctx.Done()
						yield(sdk.Event{}, ctx.Err())
					}), nil
				}})
				var text string
				var f *sdk.Failure
				var wg sync.WaitGroup
				wg.Go(func() { text, f = h.ask(t.Context(), primary) })
				synctest.Wait()
				h.wire(0).session.Abandon(errors.New("does not answer"))
				wg.Wait()
				checkAnswer(t, text, f, tt.text, tt.code, "")
			})
		})
	}
}

// checkAnswer compares what a caller was told. code is empty for a success;
// message is part of the failure's.
func checkAnswer(t *testing.T, text string, f *sdk.Failure, want string, code sdk.Code, message string) {
	t.Helper()
	if text != want {
		t.Errorf("text: got %q, want %q", text, want)
	}
	got := sdk.Failure{}
	if f != nil {
		got = *f
	}
	if got.Code != code || !strings.Contains(got.Message, message) {
		t.Errorf("failure: got %v, want %q with %q", f, code, message)
	}
}
