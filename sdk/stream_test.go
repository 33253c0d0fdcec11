package sdk_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// source is a vendor's stream: it yields events, then err if that is set, and
// keeps account of its generator.
type source struct {
	events []sdk.Event
	err    error
	hang   bool // wait for Close before the end

	running atomic.Int32 // generators that have begun and not ended
	begun   atomic.Int32
	once    sync.Once
	closed  chan struct{}
}

func newSource(events ...sdk.Event) *source {
	return &source{events: events, closed: make(chan struct{})}
}

func (s *source) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *source) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		s.begun.Add(1)
		s.running.Add(1)
		defer s.running.Add(-1)
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
		if s.err != nil {
			yield(sdk.Event{}, s.err)
		}
		if s.hang {
			<-s.closed
		}
	}
}

var (
	begin     = sdk.Event{Kind: sdk.KindStart, ID: "r1", Model: "m"}
	open      = sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText}
	text      = sdk.Event{Kind: sdk.KindTextDelta, Text: "hello"}
	shut      = sdk.Event{Kind: sdk.KindBlockEnd}
	finish    = sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}
	busy      = sdk.NewFailure(sdk.CodeOverloaded, "test", "busy")
	errBroken = errors.New("disk on fire")

	whole  = []sdk.Event{begin, open, text, shut, finish}
	failed = []sdk.Event{begin, sdk.FailEvent(busy)}
)

// cut is the finish event of a stream that just ended.
func cut() sdk.Event {
	f := sdk.NewFailure(sdk.CodeTransport, "sdk.await", "the stream ended without a finish event")
	f.Cause, f.Phase = sdk.CauseCut, sdk.PhaseStream
	return sdk.FailEvent(f)
}

// mute is a finish event that says error but not which; reasoned is what
// becomes of it.
var mute = sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishError}

func reasoned() sdk.Event {
	return sdk.FailEvent(sdk.NewFailure(sdk.CodePlugin, "sdk.finish", "the answer was ended as failed, without a reason"))
}

// drain ranges over s to its end.
func drain(s sdk.Stream) (events []sdk.Event, err error) {
	for e, e2 := range s.Events() {
		if e2 != nil {
			return events, e2
		}
		events = append(events, e)
	}
	return events, nil
}

// TestRange: what comes out of a stream, read at once, peeked at first, and
// awaited first.
func TestRange(t *testing.T) {
	upper := func(e sdk.Event) sdk.Event { e.Text = strings.ToUpper(e.Text); return e }
	loud := text
	loud.Text = "HELLO"
	tests := []struct {
		name    string
		make    func() sdk.Stream
		want    []sdk.Event
		wantErr error
		await   sdk.Code // of what AwaitVisible returns
	}{
		{"whole", func() sdk.Stream { return sdk.Hold(newSource(whole...), 0) }, whole, nil, ""},
		{"failed", func() sdk.Stream { return sdk.Hold(newSource(failed...), 0) }, failed, nil, sdk.CodeOverloaded},
		{"cut before content", func() sdk.Stream { return sdk.Hold(newSource(begin), 0) }, []sdk.Event{begin, cut()}, nil, sdk.CodeTransport},
		{"cut after content", func() sdk.Stream { return sdk.Hold(newSource(begin, open, text), 0) }, []sdk.Event{begin, open, text, cut()}, nil, ""},
		{"nothing at all", func() sdk.Stream { return sdk.Hold(newSource(), 0) }, []sdk.Event{cut()}, nil, sdk.CodeTransport},
		{"local fault", func() sdk.Stream { return sdk.Hold(&source{events: []sdk.Event{begin}, err: errBroken}, 0) }, []sdk.Event{begin}, errBroken, sdk.CodePlugin},
		{"finish without content", func() sdk.Stream { return sdk.Hold(newSource(begin, finish), 0) }, []sdk.Event{begin, finish}, nil, ""},
		{"events after the finish", func() sdk.Stream { return sdk.Hold(newSource(begin, open, text, shut, finish, text, finish), 0) }, whole, nil, ""},
		{"content that does not count", func() sdk.Stream {
			return sdk.Hold(newSource(begin, open, text, shut, sdk.FailEvent(busy)), sdk.VisibleToolCall)
		}, []sdk.Event{begin, open, text, shut, sdk.FailEvent(busy)}, nil, sdk.CodeOverloaded},
		{"failed without a reason", func() sdk.Stream { return sdk.Hold(newSource(begin, mute), 0) }, []sdk.Event{begin, reasoned()}, nil, sdk.CodePlugin},
		{"mapped", func() sdk.Stream { return sdk.Map(newSource(whole...), upper) }, []sdk.Event{begin, open, loud, shut, finish}, nil, ""},
		{"mapped twice", func() sdk.Stream {
			return sdk.Map(sdk.Map(newSource(whole...), upper), func(e sdk.Event) sdk.Event {
				if e.Kind == sdk.KindStart {
					return sdk.Event{}
				}
				return e
			})
		}, []sdk.Event{open, loud, shut, finish}, nil, ""},
		{"finish mapped away", func() sdk.Stream {
			return sdk.Map(newSource(whole...), func(e sdk.Event) sdk.Event {
				if e.Kind == sdk.KindFinish {
					return sdk.Event{}
				}
				return e
			})
		}, []sdk.Event{begin, open, text, shut, cut()}, nil, ""},
		{"mapped local fault", func() sdk.Stream { return sdk.Map(&source{err: errBroken}, upper) }, nil, errBroken, sdk.CodePlugin},
		{"answer", func() sdk.Stream { return sdk.AnswerText("m", "hello") },
			[]sdk.Event{{Kind: sdk.KindStart, Model: "m"}, open, text, shut, finish}, nil, ""},
		{"answer with its own finish", func() sdk.Stream { return sdk.Answer(failed...) }, failed, nil, sdk.CodeOverloaded},
		{"empty answer", func() sdk.Stream { return sdk.Answer() }, []sdk.Event{finish}, nil, ""},
		{"failure", func() sdk.Stream { return sdk.Fail(busy) }, []sdk.Event{sdk.FailEvent(busy)}, nil, sdk.CodeOverloaded},
	}
	before := map[string]func(*testing.T, sdk.Stream, sdk.Code) sdk.Stream{
		"at once": func(_ *testing.T, s sdk.Stream, _ sdk.Code) sdk.Stream { return s },
		"peeked": func(_ *testing.T, s sdk.Stream, _ sdk.Code) sdk.Stream {
			_, s = sdk.Peek(s, 2)
			return s
		},
		"awaited": func(t *testing.T, s sdk.Stream, want sdk.Code) sdk.Stream {
			for range 2 { // it consumes nothing, so it can be repeated
				if got := codeOf(sdk.AwaitVisible(t.Context(), s)); got != want {
					t.Errorf("await: got %q, want %q", got, want)
				}
			}
			return s
		},
	}
	for _, tt := range tests {
		for how, prepare := range before {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				s := prepare(t, tt.make(), tt.await)
				got, err := drain(s)
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("events (-want +got):\n%s", d)
				}
				if !errors.Is(err, tt.wantErr) {
					t.Errorf("error: got %v, want %v", err, tt.wantErr)
				}
				if got, err := drain(s); got != nil || !errors.Is(err, sdk.ErrConsumed) {
					t.Errorf("second range: got %v, %v, want ErrConsumed alone", got, err)
				}
			})
		}
	}
}

func codeOf(f *sdk.Failure) sdk.Code {
	if f == nil {
		return ""
	}
	return f.Code
}

func TestPeek(t *testing.T) {
	for n, want := range [][]sdk.Event{nil, {begin}, {begin, open}, {begin, open, text}, {begin, open, text, shut}, whole, whole} {
		src := newSource(whole...)
		got, s := sdk.Peek(src, n)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("peek %d (-want +got):\n%s", n, d)
		}
		if n == 0 && src.begun.Load() != 0 {
			t.Error("peek 0 began the call")
		}
		// Looking again, nearer and further, shows the same beginning.
		for m := range 3 {
			again, _ := sdk.Peek(s, m)
			if d := cmp.Diff(whole[:m], again, cmpEmpty); d != "" {
				t.Errorf("peek %d, then %d (-want +got):\n%s", n, m, d)
			}
		}
		if got, err := drain(s); err != nil || cmp.Diff(whole, got) != "" {
			t.Errorf("peek %d, then the whole: got %v, %v", n, got, err)
		}
	}
}

// cmpEmpty makes an empty list equal to none.
var cmpEmpty = cmp.Transformer("empty", func(es []sdk.Event) []sdk.Event {
	if len(es) == 0 {
		return nil
	}
	return es
})

// TestLazy: a stream that is only made, wrapped or closed sends nothing.
func TestLazy(t *testing.T) {
	src := newSource(whole...)
	s := sdk.Map(sdk.Hold(src, 0), func(e sdk.Event) sdk.Event { return e })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if src.begun.Load() != 0 {
		t.Error("the source was ranged over")
	}
	select {
	case <-src.closed:
	default:
		t.Error("Close did not reach the source")
	}
}

// TestHeldBound: what is held of an answer that shows nothing is bounded; at the
// limit it is awaited, one more event is a local fault. One event counts 64
// bytes and its text, of 4 MiB.
func TestHeldBound(t *testing.T) {
	const limit = 4 << 20 / 64
	for n, want := range map[int]sdk.Code{limit: "", limit + 1: sdk.CodePlugin} {
		src := newSource(append(slices.Repeat([]sdk.Event{{Kind: sdk.KindUsage}}, n), text)...)
		s := sdk.Hold(src, 0)
		if f := sdk.AwaitVisible(t.Context(), s); codeOf(f) != want {
			t.Errorf("%d events before content: got %v, want %q", n, f, want)
		}
		if _, err := drain(s); (err != nil) != (want != "") {
			t.Errorf("%d events before content: got error %v", n, err)
		}
		if src.running.Load() != 0 {
			t.Errorf("%d events before content: the source is still running", n)
		}
	}
	// Nothing is held of a stream that is only read.
	events, err := drain(sdk.Hold(newSource(slices.Repeat([]sdk.Event{{Kind: sdk.KindUsage}}, limit+1)...), 0))
	if err != nil || len(events) != limit+2 {
		t.Errorf("read at once: got %d events, %v", len(events), err)
	}
}

// TestAnswerKeepsItsArgument: a finish event is not written into the caller's
// slice.
func TestAnswerKeepsItsArgument(t *testing.T) {
	events := append(make([]sdk.Event, 0, 4), begin)
	sdk.Answer(events...)
	if got := events[:2][1]; got.Kind != 0 {
		t.Errorf("after the caller's last event: got %+v, want nothing", got)
	}
}

// plain is a stream that cannot be awaited; wrapped changes no event of the one
// inside.
type (
	plain   struct{ *source }
	wrapped struct{ sdk.Stream }
)

func (w wrapped) Unwrap() sdk.Stream { return w.Stream }

func TestFind(t *testing.T) {
	inner := sdk.AnswerText("m", "hello")
	if f := sdk.AwaitVisible(t.Context(), wrapped{wrapped{inner}}); f != nil {
		t.Errorf("await through wrappers: got %v", f)
	}
	if got, ok := sdk.Find[sdk.Awaiter](wrapped{wrapped{inner}}); !ok || got != inner.(sdk.Awaiter) {
		t.Errorf("find: got %v, %t, want what was wrapped", got, ok)
	}
	if f := sdk.AwaitVisible(t.Context(), wrapped{plain{newSource()}}); codeOf(f) != sdk.CodePlugin {
		t.Errorf("await what cannot be awaited: got %v, want PLUGIN", f)
	}
	if _, ok := sdk.Find[sdk.Reporter](nil); ok {
		t.Error("found something in nothing")
	}
	if s := sdk.Hold(inner, 0); s != inner {
		t.Error("Hold wrapped a stream that can be awaited already")
	}
}

// TestAwaitEnds: a context that ends while nothing visible has come closes the
// stream.
func TestAwaitEnds(t *testing.T) {
	src := newSource(begin)
	src.hang = true
	s := sdk.Hold(src, 0)
	if head, _ := sdk.Peek(s, 1); len(head) != 1 {
		t.Fatalf("peek: got %v", head)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(cancel)
	f := sdk.AwaitVisible(ctx, s)
	wg.Wait()
	if codeOf(f) != sdk.CodeAborted {
		t.Errorf("got %v, want ABORTED", f)
	}
	got, err := drain(s)
	if err != nil || len(got) != 2 || codeOf(got[1].Failure) != sdk.CodeAborted || got[1].Finish != sdk.FinishAborted {
		t.Errorf("range: got %v, %v, want what was held and an ABORTED finish", got, err)
	}
	if src.running.Load() != 0 {
		t.Error("the source is still running")
	}
}
