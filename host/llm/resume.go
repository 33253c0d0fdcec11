package llm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"spillway/sdk"
)

// Resumable is implemented by a vendor's stream that may be followed by another
// when it breaks.
type Resumable interface {
	sdk.Stream
	// Resumes reports whether the listener that dispatched it wants that.
	Resumes() bool
	// Broken is the attempt as its listener hears of it, once the events have
	// ended with a failure. ok is false if it must not be followed.
	Broken() (a sdk.Attempted, ok bool)
}

const (
	// maxSaid bounds what is kept of an answer to be told to whoever goes on.
	maxSaid = 1 << 20
	// maxResumed bounds the broken answers of one request. Listeners have tighter
	// bounds of their own.
	maxResumed = 8
)

// Resuming is s, the stream of c, as one that goes on when it breaks after
// visible content, if the listener that made the attempt wants that
// (sdk.Dispatch.Resume). The caller sees what was produced, then a block of text
// that says who was interrupted and who goes on, then the new generation's
// blocks: one start, one end, blocks numbered on. Whom the listener chooses is
// told what was said so far, as the words of the assistant.
//
// An answer with a tool call in it is not followed, nor one that a vendor's own
// tool was used in: a call may have been acted on. Nor is one that must follow a
// schema. Those end with their failure, as does one that nobody can go on with:
// then the first cause is told.
func (w *Waterfall) Resuming(ctx context.Context, c *Call, s sdk.Stream) sdk.Stream {
	return &resuming{waterfall: w, ctx: ctx, call: c, first: s}
}

type resuming struct {
	waterfall *Waterfall
	ctx       context.Context // the call's
	call      *Call
	first     sdk.Stream
}

var (
	_ sdk.Awaiter   = (*resuming)(nil)
	_ sdk.Unwrapper = (*resuming)(nil)
)

func (r *resuming) AwaitVisible(ctx context.Context) *sdk.Failure {
	return sdk.AwaitVisible(ctx, r.first)
}

// Close ends whichever attempt is under way: those that follow the first one have
// the call's context.
func (r *resuming) Close() error { return r.first.Close() }

// Unwrap implements sdk.Unwrapper: unless it may go on, the stream changes
// nothing. It must have been awaited.
func (r *resuming) Unwrap() sdk.Stream {
	if r.resumes() {
		return nil
	}
	return r.first
}

func (r *resuming) resumes() bool {
	v, ok := sdk.Find[Resumable](r.first)
	return ok && v.Resumes()
}

// Events implements sdk.Stream.
func (r *resuming) Events() iter.Seq2[sdk.Event, error] {
	if !r.resumes() {
		return r.first.Events()
	}
	return func(yield func(sdk.Event, error) bool) {
		a := &told{}
		s, cause := r.first, (*sdk.Failure)(nil)
		for {
			f, over := a.pass(s, yield)
			if over {
				return
			}
			if cause == nil {
				cause = f
			}
			next, mark := r.next(s, a, f)
			if next == nil {
				yield(sdk.FailEvent(cause), nil)
				return
			}
			if !a.interrupt(mark, yield) {
				next.Close()
				return
			}
			s = next
		}
	}
}

// next is the generation that follows a broken one, awaited, with the words that
// stand between them; nil if there is none.
func (r *resuming) next(s sdk.Stream, a *told, f *sdk.Failure) (next sdk.Stream, mark string) {
	v, ok := sdk.Find[Resumable](s)
	if !ok || a.called || a.long || len(r.call.Past) == maxResumed || r.ctx.Err() != nil {
		return nil, ""
	}
	broken, ok := v.Broken()
	if !ok {
		return nil, ""
	}
	prompt, err := r.call.Payload.Prompt()
	if err != nil || prompt.Schema != nil {
		return nil, ""
	}
	c := *r.call
	c.Past = append(slices.Clone(r.call.Past), broken)
	c.Payload = r.call.Payload.reworded(goOn(prompt, a.text.String()))
	c.Request.Shape.PromptTokens += a.text.Len() / 4
	next = r.waterfall.Stream(r.ctx, &c)
	if sdk.AwaitVisible(r.ctx, next) != nil {
		next.Close()
		return nil, ""
	}
	r.call.Past = c.Past
	by := "another route"
	if route, n := c.Trace.Served(); n > 0 {
		by = route.String()
	}
	return next, fmt.Sprintf("\n\n[interrupted: %s at %s; continued by %s]\n\n", f.Code, broken.Route, by)
}

// goOn is the prompt of who goes on with an answer. Its last words are the
// user's: some vendors refuse to be given the beginning of their answer.
func goOn(p *sdk.Prompt, said string) *sdk.Prompt {
	if strings.TrimSpace(said) == "" {
		return p
	}
	q := *p
	q.Messages = append(slices.Clone(p.Messages),
		sdk.Message{Role: sdk.RoleAssistant, Parts: []sdk.Part{sdk.TextPart(said)}},
		sdk.Message{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(
			"[A technical fault interrupted your answer after the words above. They have been shown. Continue exactly where they stop, without repeating them.]")}})
	return &q
}

// told is what a caller has seen of an answer.
type told struct {
	text   strings.Builder
	long   bool // more than is kept
	called bool // a tool call was begun; it cannot be taken back
	open   bool // a block is
	next   int  // number of the next block
	base   int  // number of the present generation's first block
	begun  bool // the start was given
	before sdk.Usage
	usage  sdk.Usage // of the present generation
}

// pass gives a generation to the caller. It returns the failure that broke it;
// over says that nothing more is to be given.
func (a *told) pass(s sdk.Stream, yield func(sdk.Event, error) bool) (f *sdk.Failure, over bool) {
	a.base = a.next
	a.before, a.usage = sum(a.before, a.usage), sdk.Usage{}
	for e, err := range s.Events() {
		switch {
		case err != nil:
			yield(e, err)
			return nil, true
		case e.Kind == sdk.KindFinish && e.Failure != nil:
			return e.Failure, false
		case e.Kind == sdk.KindStart && a.begun:
			continue
		}
		if !yield(a.take(e), nil) || e.Kind == sdk.KindFinish {
			return nil, true
		}
	}
	return sdk.NewFailure(sdk.CodeTransport, "stream", "the answer ended without a finish"), false
}

// take notes an event and makes it part of the whole answer.
func (a *told) take(e sdk.Event) sdk.Event {
	a.begun = true
	switch e.Kind {
	case sdk.KindBlockStart:
		a.called = a.called || e.Block == sdk.BlockToolCall
		a.open = true
	case sdk.KindBlockEnd:
		a.open = false
	case sdk.KindTextDelta:
		if a.text.Len()+len(e.Text) > maxSaid {
			a.long = true
		} else {
			a.text.WriteString(e.Text)
		}
	case sdk.KindToolCallDelta:
		a.called = true
	case sdk.KindUsage:
		if e.Usage != nil {
			a.usage = a.usage.Merge(*e.Usage)
			all := sum(a.before, a.usage)
			e.Usage = &all
		}
		return e
	case sdk.KindStart, sdk.KindReasoningDelta, sdk.KindFinish:
	}
	if e.Kind != sdk.KindStart && e.Kind != sdk.KindFinish {
		e.Index += a.base
		a.next = max(a.next, e.Index+1)
	}
	return e
}

// interrupt closes the broken generation and says so in a block of its own.
func (a *told) interrupt(mark string, yield func(sdk.Event, error) bool) bool {
	var events []sdk.Event
	if a.open {
		events = append(events, sdk.Event{Kind: sdk.KindBlockEnd, Index: a.next - 1})
		a.open = false
	}
	events = append(events,
		sdk.Event{Kind: sdk.KindBlockStart, Index: a.next, Block: sdk.BlockText},
		sdk.Event{Kind: sdk.KindTextDelta, Index: a.next, Text: mark},
		sdk.Event{Kind: sdk.KindBlockEnd, Index: a.next})
	a.next++
	for _, e := range events {
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

func sum(a, b sdk.Usage) sdk.Usage {
	return sdk.Usage{
		Input: a.Input + b.Input, Output: a.Output + b.Output,
		CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite, Reasoning: a.Reasoning + b.Reasoning,
	}
}
