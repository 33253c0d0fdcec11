package sdk

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
)

// Stream is a handle on an answer that may not have begun.
//
// It is used by one goroutine at a time, except Close.
type Stream interface {
	// Events starts the call if need be and yields its events, the last of
	// which is KindFinish. It can be ranged over once; a second range yields
	// ErrConsumed. Breaking out of the loop frees everything. An error is
	// yielded last and is a local fault, never a vendor's.
	Events() iter.Seq2[Event, error]

	// Close ends the call. It may be called at any time, from any goroutine,
	// more than once, and is not needed after Events has ended.
	Close() error
}

// Unwrapper is implemented by a stream that changes no event of the one
// inside. The host looks through it and splices what it finds.
type Unwrapper interface{ Unwrap() Stream }

// Awaiter is implemented by streams that can tell when visible content has
// come without giving it away. Every stream that [Next] and [Call.Reenter]
// return is one.
type Awaiter interface {
	AwaitVisible(ctx context.Context) *Failure
}

// Errors of streams and calls. All are local faults.
var (
	ErrCommitted = errors.New("stream: already handed to the caller")
	ErrConsumed  = errors.New("stream: ranged over twice")
	ErrNextSpent = errors.New("next: used twice; further attempts go through Call.Reenter")
	ErrTooDeep   = errors.New("reenter: depth limit reached")
)

// AwaitVisible starts the call and returns nil once visible content has come,
// or the failure that came instead. It consumes nothing. A nil result commits
// the call to s: return it. The host may have begun to give it to the caller,
// so in a plugin's process ranging over it from then on yields ErrCommitted; to
// change an answer's events, await the changed stream instead.
//
// When ctx ends first the stream is closed and the failure is ABORTED.
func AwaitVisible(ctx context.Context, s Stream) *Failure {
	if a, ok := Find[Awaiter](s); ok {
		return a.AwaitVisible(ctx)
	}
	return NewFailure(CodePlugin, "sdk.await", "stream cannot be awaited; wrap it with sdk.Hold")
}

// Peek reads up to n events ahead and returns them with a stream that still
// gives the whole answer. A peeked answer is not spliced.
func Peek(s Stream, n int) ([]Event, Stream) {
	h, ok := s.(*held)
	if !ok {
		h = &held{src: s}
	}
	for len(h.buf) < n && h.pull() {
	}
	return append([]Event(nil), h.buf[:min(n, len(h.buf))]...), h
}

// Map returns s with f applied to every event. An event that f returns with
// Kind zero is left out. The answer is not spliced: every event crosses to the
// plugin and back.
func Map(s Stream, f func(Event) Event) Stream {
	return Hold(&mapped{src: s, f: f}, 0)
}

type mapped struct {
	src Stream
	f   func(Event) Event
}

func (m *mapped) Close() error { return m.src.Close() }

func (m *mapped) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range m.src.Events() {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if e = m.f(e); e.Kind != 0 && !yield(e, nil) {
				return
			}
		}
	}
}

// Answer returns a stream of the given events, for a listener that answers by
// itself. A missing finish event is added.
func Answer(events ...Event) Stream {
	if n := len(events); n == 0 || events[n-1].Kind != KindFinish {
		events = append(events[:len(events):len(events)], Event{Kind: KindFinish, Finish: FinishStop})
	}
	return Hold(&fixed{events: events}, 0)
}

// AnswerText returns a whole answer that says text.
func AnswerText(model, text string) Stream {
	return Answer(
		Event{Kind: KindStart, Model: model},
		Event{Kind: KindBlockStart, Block: BlockText},
		Event{Kind: KindTextDelta, Text: text},
		Event{Kind: KindBlockEnd},
	)
}

// Fail returns a stream that ends at once with f.
func Fail(f *Failure) Stream { return Answer(FailEvent(f)) }

type fixed struct{ events []Event }

func (*fixed) Close() error { return nil }

func (s *fixed) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Hold returns s as a stream that can be awaited: events that come before
// visible content are kept until it is ranged over. A stream that can already
// be awaited is returned as it is.
func Hold(s Stream, v Visible) Stream {
	if _, ok := s.(Awaiter); ok {
		return s
	}
	return &held{src: s, visible: v}
}

type held struct {
	src     Stream
	visible Visible

	buf    []Event
	size   int // of what was held so far
	ranged bool
	ended  bool // nothing more comes out of the source
	err    error

	mu     sync.Mutex // held while the source runs, and to stop it
	next   func() (Event, error, bool)
	stop   func()
	closed atomic.Bool
}

// pull reads one more event into buf.
func (h *held) pull() bool {
	if h.ended {
		return false
	}
	h.mu.Lock()
	defer h.unlock()
	if h.closed.Load() {
		h.ended = true
		return false
	}
	if h.next == nil {
		h.next, h.stop = iter.Pull2(h.src.Events())
	}
	e, err, ok := h.next()
	if !ok || err != nil || e.Kind == KindFinish || h.closed.Load() {
		h.ended, h.err = true, err
		h.stop() // nothing follows, and the source's coroutine would wait for ever
	}
	if !ok || err != nil {
		return false
	}
	if !h.visible.Shows(e) {
		h.size += eventOverhead + len(e.Text) + len(e.ID) + len(e.Name) + len(e.Model) + len(e.Signature)
	}
	if h.size > maxHeld {
		h.ended, h.err = true, errHeld
		h.stop()
		return false
	}
	h.buf = append(h.buf, whole(e))
	return true
}

// Bounds of what is held of an answer that shows nothing.
const (
	maxHeld       = 4 << 20
	eventOverhead = 64 // of an event, besides its texts
)

var errHeld = errors.New("stream: too much before visible content")

// whole completes a finish event that says error but not which.
func whole(e Event) Event {
	if e.Kind == KindFinish && e.Failure == nil && (e.Finish == FinishError || e.Finish == FinishAborted) {
		e.Failure = NewFailure(CodePlugin, "sdk.finish", "the answer was ended as failed, without a reason")
	}
	return e
}

func (h *held) AwaitVisible(ctx context.Context) *Failure {
	if ctx.Err() != nil {
		h.Close()
		return h.lost(ctx)
	}
	defer context.AfterFunc(ctx, func() { h.Close() })()
	for i := 0; ; i++ {
		if i == len(h.buf) && !h.pull() {
			return h.lost(ctx)
		}
		switch e := h.buf[i]; {
		case h.visible.Shows(e):
			return nil
		case e.Kind == KindFinish:
			return e.Failure
		}
	}
}

// lost is the failure of a source that ended without a finish event.
func (h *held) lost(ctx context.Context) *Failure {
	if ctx.Err() != nil || h.closed.Load() {
		return NewFailure(CodeAborted, "sdk.await", "the call was given up")
	}
	if h.err != nil {
		return NewFailure(CodePlugin, "sdk.await", h.err.Error())
	}
	f := NewFailure(CodeTransport, "sdk.await", "the stream ended without a finish event")
	f.Cause, f.Phase = CauseCut, PhaseStream
	return f
}

func (h *held) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if h.ranged {
			yield(Event{}, ErrConsumed)
			return
		}
		h.ranged = true
		if h.next == nil && !h.ended && !h.closed.Load() { // nothing was awaited: no coroutine is needed
			h.ended = true
			h.direct(yield)
			return
		}
		defer h.free()
		finished := false
		for i := 0; i < len(h.buf) || h.pull(); i++ {
			finished = h.buf[i].Kind == KindFinish
			if !yield(h.buf[i], nil) {
				return
			}
			if i == len(h.buf)-1 { // everything held was given away
				h.buf, h.size, i = h.buf[:0], 0, -1
			}
		}
		if h.err != nil {
			yield(Event{}, h.err)
		} else if !finished {
			yield(FailEvent(h.lost(context.Background())), nil)
		}
	}
}

// direct passes the source's events on, and supplies the finish event that one
// of an author's making may lack: a stream that just ends is a failure.
func (h *held) direct(yield func(Event, error) bool) {
	for e, err := range h.src.Events() {
		if !yield(whole(e), err) || err != nil || e.Kind == KindFinish {
			return
		}
	}
	yield(FailEvent(h.lost(context.Background())), nil)
}

// Close ends the source. Whoever waits for it at this moment frees it.
func (h *held) Close() error {
	h.closed.Store(true)
	err := h.src.Close()
	h.halt()
	return err
}

// halt stops the source unless it is running; unlock does it then.
func (h *held) halt() {
	if h.mu.TryLock() {
		defer h.mu.Unlock()
		if h.stop != nil {
			h.stop()
		}
	}
}

// unlock ends a pull, and the source if it was closed meanwhile.
func (h *held) unlock() {
	h.mu.Unlock()
	if h.closed.Load() {
		h.halt()
	}
}

// free stops the source of a consumer that left.
func (h *held) free() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.stop != nil {
		h.stop()
	}
}

// Reporter is implemented by streams that know how their attempt went. f is
// called once, when the attempt has ended in whatever way, also if it ended
// before. Plugins do not need it: a runtime turns it into [OutcomeObserver].
type Reporter interface{ OnOutcome(f func(Outcome)) }

// Find returns the first stream that is a T, looking through streams that
// change no event.
func Find[T any](s Stream) (T, bool) {
	for s != nil {
		if t, ok := s.(T); ok {
			return t, true
		}
		u, ok := s.(Unwrapper)
		if !ok {
			break
		}
		s = u.Unwrap()
	}
	var zero T
	return zero, false
}
