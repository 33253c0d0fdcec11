package serve_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// TestLimitsWithoutPlugin: a call that goes on without its plugin has the longest
// limits that the plugin has set for its kind, and those that it came with.
func TestLimitsWithoutPlugin(t *testing.T) {
	long := sdk.Limits{Connect: time.Second, FirstContent: 9 * time.Second, Idle: 3 * time.Second, Total: time.Minute}
	short := sdk.Limits{Connect: time.Second, FirstContent: time.Second, Idle: 2 * time.Second, Total: time.Minute}
	passes := func(l *sdk.Limits, relayed bool) sdk.HookFunc {
		return func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			r := c.Request
			r.Dispatch.Limits = *l
			s, err := next(ctx, r)
			if relayed {
				s = sdk.Map(s, func(e sdk.Event) sdk.Event { return e })
			}
			return s, err
		}
	}
	tests := []struct {
		name    string
		relayed bool
		before  []sdk.Limits // of streams that the plugin has sent
		whole   bool         // the call that goes on without it is none
		own     sdk.Limits   // of that call
		want    sdk.Limits
	}{
		{name: "none known"},
		{name: "known", before: []sdk.Limits{long}, want: long},
		{name: "cut short since", before: []sdk.Limits{long, short}, want: long},
		{name: "longer since", before: []sdk.Limits{short, long}, want: long},
		{name: "known of a relay", relayed: true, before: []sdk.Limits{long}, want: long},
		{name: "another kind", before: []sdk.Limits{long}, whole: true},
		{
			name: "its own", before: []sdk.Limits{long}, own: sdk.Limits{FirstContent: 30 * time.Second},
			want: sdk.Limits{Connect: time.Second, FirstContent: 30 * time.Second, Idle: 3 * time.Second, Total: time.Minute},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var order, got sdk.Limits
				h := newLosable(t, &hookPlugin{HookFunc: passes(&order, tt.relayed)})
				h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
					got = r.Dispatch.Limits
					return sdk.AnswerText(r.Model, "ok")
				}
				r := primary
				r.Stream = true
				for _, order = range tt.before {
					text, f := h.ask(t.Context(), r)
					checkAnswer(t, text, f, "ok", "", "")
				}
				h.wire(0).cut()
				synctest.Wait()
				r.Stream, r.Dispatch.Limits = !tt.whole, tt.own
				text, f := h.ask(t.Context(), r)
				checkAnswer(t, text, f, "ok", "", "")
				if d := cmp.Diff(tt.want, got); d != "" || h.remote.Bypassed() != 1 {
					t.Errorf("%d bypassed, limits (-want +got):\n%s", h.remote.Bypassed(), d)
				}
			})
		})
	}
}

// TestLimitsOfPlan: what a plan orders is as good as an answer to a question.
func TestLimitsOfPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newLosable(t, &planner{plan: planFor(primary)})
		var got time.Duration
		h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
			got = r.Dispatch.Limits.FirstContent
			return sdk.AnswerText(r.Model, "ok")
		}
		synctest.Wait()
		for n := range 2 {
			text, f := h.ask(t.Context(), primary)
			checkAnswer(t, text, f, "ok", "", "")
			if got != 10*time.Second {
				t.Errorf("call %d: %s for the first content", n, got)
			}
			h.wire(0).cut()
			synctest.Wait()
		}
		if h.remote.Planned() != 1 || h.remote.Bypassed() != 1 {
			t.Errorf("%d planned, %d bypassed", h.remote.Planned(), h.remote.Bypassed())
		}
	})
}

// TestLimitsOfLostRelay: a call that is made again since its plugin was lost before
// the first event has limits, too.
func TestLimitsOfLostRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := sdk.Limits{FirstContent: 9 * time.Second}
		stop := stops(0)
		h := newLosable(t, &hookPlugin{HookFunc: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
			return stop(ctx, c, func(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
				r.Dispatch.Limits = limits
				return next(ctx, r)
			})
		}})
		var got sdk.Limits
		h.upstream = func(_ context.Context, r sdk.Request, n int) sdk.Stream {
			if n == 1 {
				h.wire(0).cutAfter(64) // when the plugin has been told of content
				return sdk.AnswerText(r.Model, "part")
			}
			got = r.Dispatch.Limits
			return sdk.AnswerText(r.Model, "again")
		}
		text, f := h.ask(t.Context(), primary)
		checkAnswer(t, text, f, "again", "", "")
		if got != limits {
			t.Errorf("limits %+v, want %+v", got, limits)
		}
	})
}
