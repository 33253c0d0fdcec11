package plugintest

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"spillway/sdk"
)

// host is the options of a host for one check.
func (o ConformanceOptions) host(u Upstream) Options {
	return Options{Config: o.Config, Catalogue: o.Catalogue, Upstream: u}
}

func (o ConformanceOptions) patience(tb testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(tb.Context(), o.Patience)
}

// called is o's request with a conversation, which a healthy vendor repeats.
func (o ConformanceOptions) called(conversation string) sdk.Request {
	r := o.Request
	r.Conversation = conversation
	return r
}

// healthy is a vendor's answer with one block of each kind.
func healthy(_ context.Context, r sdk.Request, _ int) sdk.Stream {
	return sdk.Answer(healthyEvents(r.Model, r.Conversation)...)
}

func healthyEvents(model, conversation string) []sdk.Event {
	return []sdk.Event{
		{Kind: sdk.KindStart, ID: "answer-1", Model: model},
		{Kind: sdk.KindBlockStart, Index: 0, Block: sdk.BlockReasoning},
		{Kind: sdk.KindReasoningDelta, Index: 0, Text: "let me see"},
		{Kind: sdk.KindBlockEnd, Index: 0, Signature: "signed"},
		{Kind: sdk.KindBlockStart, Index: 1, Block: sdk.BlockText},
		{Kind: sdk.KindTextDelta, Index: 1, Text: "answer to "},
		{Kind: sdk.KindTextDelta, Index: 1, Text: conversation},
		{Kind: sdk.KindBlockEnd, Index: 1},
		{Kind: sdk.KindBlockStart, Index: 2, Block: sdk.BlockToolCall, ID: "tool-1", Name: "look_up"},
		{Kind: sdk.KindToolCallDelta, Index: 2, Text: `{"word":"spillway"}`},
		{Kind: sdk.KindBlockEnd, Index: 2},
		{Kind: sdk.KindUsage, Usage: &sdk.Usage{Input: 20, Output: 9, Reasoning: 3}},
		{Kind: sdk.KindFinish, Finish: sdk.FinishToolCalls},
	}
}

// failing fails with whatever code holds.
func failing(code *atomic.Value) Upstream {
	return func(context.Context, sdk.Request, int) sdk.Stream {
		return sdk.Fail(sdk.NewFailure(code.Load().(sdk.Code), "conformance", "made up by the test"))
	}
}

const brokenText = "the first half"

// broken fails after content.
func broken(ctx context.Context, r sdk.Request, _ int) sdk.Stream {
	return Answer{Text: brokenText, Failure: sdk.NewFailure(sdk.CodeServer, "conformance", "made up by the test")}.stream(ctx, r.Model)
}

// mixed is a healthy vendor but for the conversation "broken".
func mixed(ctx context.Context, r sdk.Request, n int) sdk.Stream {
	if r.Conversation == "broken" {
		return broken(ctx, r, n)
	}
	return healthy(ctx, r, n)
}

// hanging is a vendor that gives some events and then nothing, until its call
// ends.
type hanging struct {
	ctx     context.Context
	events  []sdk.Event
	reached func() // called when nothing more comes
}

func (hanging) Close() error { return nil }

func (s hanging) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
		s.reached()
		<-s.ctx.Done()
		yield(sdk.FailEvent(sdk.NewFailure(sdk.CodeAborted, "conformance", "the call ended")), nil)
	}
}

// decided complains about calls that a host had to make without the plugin.
func decided(tb testing.TB, h *Host) {
	tb.Helper()
	if n := h.remote.Bypassed(); n > 0 {
		tb.Errorf("%d calls went on without the plugin, which did not decide in time", n)
	}
}

// ask makes one call and complains about how it was answered.
func (o ConformanceOptions) ask(tb testing.TB, h *Host, what string, depth int) answer {
	tb.Helper()
	ctx, cancel := o.patience(tb)
	defer cancel()
	a := read(h.callAt(ctx, o.called(what), depth))
	a.report(ctx, tb, what)
	return a
}

func checkHealthy(tb testing.TB, o ConformanceOptions) {
	h := Start(tb, o.New(), o.host(healthy))
	a := o.ask(tb, h, "a healthy call", 0)
	decided(tb, h)
	if o.Changes {
		return
	}
	if want := healthyEvents(a.model(), "a healthy call"); !reflect.DeepEqual(a.events, want) {
		tb.Errorf("the answer was changed (is ConformanceOptions.Changes right?): got %s, want %s", spell(a.events), spell(want))
	}
}

// checkFailing: the host's own codes are left out, since a plugin that breaks
// is told by them.
func checkFailing(tb testing.TB, o ConformanceOptions) {
	var code atomic.Value
	h := Start(tb, o.New(), o.host(failing(&code)))
	for _, c := range sdk.Codes() {
		if c == sdk.CodePlugin || c == sdk.CodeAborted {
			continue
		}
		code.Store(c)
		what := "a call that fails with " + string(c)
		if a := o.ask(tb, h, what, 0); !o.Changes && a.failure() == nil {
			tb.Errorf("%s: got %s, want a failure", what, spell(a.events))
		}
	}
	decided(tb, h)
}

// checkBroken: what the caller has seen cannot be taken back, and half an
// answer is no answer.
func checkBroken(tb testing.TB, o ConformanceOptions) {
	var asked atomic.Bool
	h := Start(tb, o.New(), o.host(func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
		asked.Store(true)
		return broken(ctx, r, n)
	}))
	a := o.ask(tb, h, "a call that fails after content", 0)
	decided(tb, h)
	if !asked.Load() {
		return // the plugin's own answer
	}
	if a.failure() == nil {
		tb.Errorf("the failure was turned into a success: got %s", spell(a.events))
	}
	if text := a.text(); !o.Changes && text != brokenText {
		tb.Errorf("content before the failure: got %q, want %q", text, brokenText)
	}
}

// checkLeaving: nothing goes on for a caller who is gone, before content and
// after it.
func checkLeaving(tb testing.TB, o ConformanceOptions) {
	for what, n := range map[string]int{"before content": 1, "after content": 6} {
		var silent atomic.Bool
		var once sync.Once
		moment := make(chan struct{}) // when the caller leaves
		leave := func() { once.Do(func() { close(moment) }) }
		// The caller of a plugin that changes answers may see nothing of this one.
		sees := n > 1 && !o.Changes
		h := Start(tb, o.New(), o.host(func(ctx context.Context, r sdk.Request, attempt int) sdk.Stream {
			if !silent.Load() {
				return healthy(ctx, r, attempt)
			}
			return hanging{ctx, healthyEvents(r.Model, "")[:n], func() {
				if !sees {
					leave()
				}
			}}
		}))
		o.ask(tb, h, "a healthy call", 0) // whatever starts with the first call has started
		silent.Store(true)

		before := goroutines()
		limit, stop := o.patience(tb)
		ctx, cancel := context.WithCancel(tb.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for e := range h.Call(ctx, o.called("")).Events() {
				if sees && e.Kind == sdk.KindTextDelta {
					leave()
				}
			}
		}()
		select {
		case <-moment:
		case <-ended: // the plugin's own answer
		case <-limit.Done():
			tb.Errorf("%s: neither an answer nor a call to the vendor", what)
		}
		cancel()
		if left := lasting(limit, before); left != "" {
			tb.Errorf("%s: the turn of a caller who is gone goes on:\n%s", what, left)
		}
		stop()
		decided(tb, h)
	}
}

// checkMany makes calls at once, half of which find a vendor that fails. Each
// must end, with an answer of its own.
func checkMany(tb testing.TB, o ConformanceOptions) {
	const calls = 64
	opts := o.host(func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
		if i, err := strconv.Atoi(r.Conversation); err == nil && i%2 == 1 && n == 1 {
			return sdk.Fail(sdk.NewFailure(sdk.CodeServer, "conformance", "made up by the test"))
		}
		return healthy(ctx, r, n)
	})
	opts.decide = o.Patience / 2 // not a test of how fast the machine is
	h := Start(tb, o.New(), opts)
	ctx, cancel := o.patience(tb)
	defer cancel()
	answers := make([]answer, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() { answers[i] = read(h.Call(ctx, o.called(strconv.Itoa(i)))) })
	}
	wg.Wait()
	for i, a := range answers {
		what := fmt.Sprintf("call %d of %d at once", i, calls)
		a.report(ctx, tb, what)
		if want := "answer to " + strconv.Itoa(i); !o.Changes && a.failure() == nil && a.text() != want {
			tb.Errorf("%s: got %q, want %q", what, a.text(), want)
		}
	}
	decided(tb, h)
}

func checkReentered(tb testing.TB, o ConformanceOptions) {
	var code atomic.Value
	code.Store(sdk.CodeServer)
	for what, u := range map[string]Upstream{"a healthy call": healthy, "a failing call": failing(&code), "a call that breaks off": broken} {
		h := Start(tb, o.New(), o.host(u))
		o.ask(tb, h, what+" at depth 1", 1)
		decided(tb, h)
	}
}

func checkOutcomes(tb testing.TB, o ConformanceOptions) {
	h := Start(tb, o.New(), o.host(mixed))
	for _, what := range []string{"healthy", "broken", "healthy"} {
		o.ask(tb, h, what, 0)
	}
	ctx, cancel := o.patience(tb)
	defer cancel()
	if !until(ctx, h.Acknowledged) {
		tb.Errorf("outcomes were not acknowledged within %v: does Outcome return?", o.Patience)
	}
}

func checkDrain(tb testing.TB, o ConformanceOptions) {
	h := Start(tb, o.New(), o.host(healthy))
	o.ask(tb, h, "a healthy call", 0)
	ctx, cancel := o.patience(tb)
	defer cancel()
	if err := h.Drain(ctx); err != nil {
		tb.Errorf("not drained within %v: %v", o.Patience, err)
	}
}

// checkEnd: a host may start and stop a plugin many times over. Whatever a
// plugin started, its Drain must end.
func checkEnd(tb testing.TB, o ConformanceOptions) {
	before := goroutines()
	life := &scope{TB: tb}
	h := Start(life, o.New(), o.host(mixed))
	o.ask(tb, h, "healthy", 0)
	o.ask(tb, h, "broken", 0)
	life.end()
	ctx, cancel := o.patience(tb)
	defer cancel()
	if left := lasting(ctx, before); left != "" {
		tb.Errorf("goroutines are left after the session's end:\n%s", left)
	}
}
