package plugintest

import (
	"context"
	"iter"
	"sync"
	"time"

	"spillway/sdk"
)

// attempt is one dispatch to the scripted upstream: lazy, awaitable, and able
// to report its outcome, as a host's own streams are.
type attempt struct {
	call    *call
	ctx     context.Context
	cancel  context.CancelFunc
	request sdk.Request

	mu      sync.Mutex
	started time.Time
	number  int
	inner   sdk.Stream
	outcome *sdk.Outcome
	wait    []func(sdk.Outcome)
}

var (
	_ sdk.Stream   = (*attempt)(nil)
	_ sdk.Awaiter  = (*attempt)(nil)
	_ sdk.Reporter = (*attempt)(nil)
)

func (c *call) dispatch(ctx context.Context, r sdk.Request) sdk.Stream {
	ctx, cancel := context.WithCancel(ctx)
	return &attempt{call: c, ctx: ctx, cancel: cancel, request: r}
}

// start makes the attempt, once.
func (a *attempt) start() sdk.Stream {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inner == nil {
		a.call.mu.Lock()
		a.call.attempts++
		a.number = a.call.attempts
		a.call.mu.Unlock()
		a.started = time.Now()
		a.inner = sdk.Hold(a.call.host.upstream(a.ctx, a.request, a.number), a.request.Dispatch.Visible)
	}
	return a.inner
}

func (a *attempt) AwaitVisible(ctx context.Context) *sdk.Failure {
	f := sdk.AwaitVisible(ctx, a.start())
	if f != nil {
		f.Attempt = a.number
		a.end(sdk.Outcome{Failure: f, Finish: sdk.FinishError})
	}
	return f
}

func (a *attempt) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		o := sdk.Outcome{Finish: sdk.FinishAborted, Failure: sdk.NewFailure(sdk.CodeAborted, "plugintest", "the consumer left")}
		defer func() { a.end(o) }()
		for e, err := range a.start().Events() {
			if err == nil && a.request.Dispatch.Visible.Shows(e) && !o.Committed {
				o.Committed, o.FirstContent = true, time.Since(a.started)
			}
			if e.Kind == sdk.KindFinish {
				o.Finish, o.Failure = e.Finish, e.Failure
				if e.Failure != nil {
					e.Failure.Attempt = a.number
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (a *attempt) Close() error {
	a.cancel()
	a.mu.Lock()
	inner := a.inner
	a.mu.Unlock()
	if inner != nil {
		inner.Close()
	}
	return nil
}

func (a *attempt) end(o sdk.Outcome) {
	a.mu.Lock()
	if a.outcome != nil {
		a.mu.Unlock()
		return
	}
	o.Call, o.Attempt, o.Route, o.Key = a.call.id, a.number, a.request.Route(), a.request.Dispatch.Key
	o.Started, o.Took, o.Stream = a.started, time.Since(a.started), a.request.Stream
	a.outcome = &o
	wait := a.wait
	a.mu.Unlock()
	for _, f := range wait {
		f(o)
	}
}

func (a *attempt) OnOutcome(f func(sdk.Outcome)) {
	a.mu.Lock()
	if a.outcome == nil {
		a.wait = append(a.wait, f)
		a.mu.Unlock()
		return
	}
	o := *a.outcome
	a.mu.Unlock()
	f(o)
}

// Script answers by route: each attempt on a route takes the route's next
// answer, the last of which repeats. A route without answers fails as
// UNKNOWN_MODEL.
type Script map[string][]Answer

// Answer is one scripted answer: a failure, or text.
type Answer struct {
	Text    string
	Failure *sdk.Failure    // before any content, or after Text if that is set
	After   <-chan struct{} // wait for it (or for the end of the call) first
}

// Upstream returns the script as an Upstream. It is safe for concurrent use.
func (s Script) Upstream() Upstream {
	var mu sync.Mutex
	taken := map[string]int{}
	return func(ctx context.Context, r sdk.Request, _ int) sdk.Stream {
		route := r.Route().String()
		mu.Lock()
		answers := s[route]
		n := taken[route]
		taken[route]++
		mu.Unlock()
		if len(answers) == 0 {
			return sdk.Fail(sdk.NewFailure(sdk.CodeUnknownModel, "plugintest", "no script for "+route))
		}
		return answers[min(n, len(answers)-1)].stream(ctx, r.Model)
	}
}

func (a Answer) stream(ctx context.Context, model string) sdk.Stream {
	if a.After != nil {
		select {
		case <-a.After:
		case <-ctx.Done():
			return sdk.Fail(sdk.NewFailure(sdk.CodeAborted, "plugintest", context.Cause(ctx).Error()))
		}
	}
	if a.Failure == nil {
		return sdk.AnswerText(model, a.Text)
	}
	f := *a.Failure
	if a.Text == "" {
		return sdk.Fail(&f)
	}
	return sdk.Answer(
		sdk.Event{Kind: sdk.KindStart, Model: model},
		sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText},
		sdk.Event{Kind: sdk.KindTextDelta, Text: a.Text},
		sdk.FailEvent(&f),
	)
}
