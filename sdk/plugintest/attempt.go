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
	visible time.Duration // from started to the first visible content, 0 if there was none
	ranged  bool
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
	if f == nil {
		a.shown()
		return nil
	}
	f.Attempt = a.number
	a.end(sdk.FailEvent(f))
	return f
}

// shown notes that visible content has come.
func (a *attempt) shown() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.visible == 0 {
		a.visible = max(time.Since(a.started), 1)
	}
}

func (a *attempt) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		a.mu.Lock()
		a.ranged = true
		a.mu.Unlock()
		last := left()
		defer func() { a.end(last) }()
		for e, err := range a.start().Events() {
			if err == nil && a.request.Dispatch.Visible.Shows(e) {
				a.shown()
			}
			if e.Kind == sdk.KindFinish {
				if e.Failure != nil {
					e.Failure.Attempt = a.number
				}
				last = e
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// left is the end of an attempt whose answer nobody read to the end.
func left() sdk.Event {
	return sdk.FailEvent(sdk.NewFailure(sdk.CodeAborted, "plugintest", "the consumer left"))
}

func (a *attempt) Close() error {
	a.cancel()
	a.mu.Lock()
	inner, ranged := a.inner, a.ranged
	a.mu.Unlock()
	if inner == nil {
		return nil
	}
	inner.Close()
	if !ranged {
		a.end(left())
	}
	return nil
}

// end notes how the attempt ended, once.
func (a *attempt) end(last sdk.Event) {
	a.mu.Lock()
	if a.outcome != nil {
		a.mu.Unlock()
		return
	}
	a.outcome = &sdk.Outcome{
		Call: a.call.id, Attempt: a.number, Route: a.request.Route(), Key: a.request.Dispatch.Key,
		Committed: a.visible > 0, Finish: last.Finish, Failure: last.Failure,
		Started: a.started, FirstContent: a.visible, Took: time.Since(a.started), Stream: a.request.Stream,
	}
	o, wait := *a.outcome, a.wait
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
