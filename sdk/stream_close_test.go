package sdk_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"spillway/sdk"
)

// step is one thing done to a stream. It reports what contradicts the contract.
type step struct {
	letter byte
	do     func(t *testing.T, s *trial)
}

// trial is a stream in use.
type trial struct {
	src    *source
	stream sdk.Stream
	closed bool
	ranged bool
}

// fresh reports whether the whole answer must still come out.
func (tr *trial) fresh() bool { return !tr.closed && !tr.ranged }

var steps = []step{
	{'p', func(t *testing.T, tr *trial) {
		head, s := sdk.Peek(tr.stream, 2)
		if s != tr.stream {
			t.Error("peek: wrapped what can be peeked already")
		}
		if tr.fresh() && len(head) != 2 {
			t.Errorf("peek: got %v, want two events", head)
		}
	}},
	{'a', func(t *testing.T, tr *trial) {
		if f := sdk.AwaitVisible(t.Context(), tr.stream); f != nil && tr.fresh() {
			t.Errorf("await: got %v", f)
		}
	}},
	{'r', func(t *testing.T, tr *trial) { tr.iterate(t, -1) }},
	{'b', func(t *testing.T, tr *trial) { tr.iterate(t, 1) }},
	{'c', func(t *testing.T, tr *trial) {
		tr.closed = true
		if err := tr.stream.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}},
}

// iterate ranges over the stream and leaves it after so many events.
func (tr *trial) iterate(t *testing.T, leave int) {
	var events []sdk.Event
	var err error
	for e, e2 := range tr.stream.Events() {
		if err != nil {
			t.Error("range: something follows an error")
		}
		if err = e2; err == nil {
			events = append(events, e)
		}
		if len(events) == leave {
			break
		}
	}
	switch {
	case tr.ranged:
		if len(events) > 0 || !errors.Is(err, sdk.ErrConsumed) {
			t.Errorf("second range: got %v, %v, want ErrConsumed alone", events, err)
		}
	case leave < 0:
		finishes := 0
		for _, e := range events {
			if e.Kind == sdk.KindFinish {
				finishes++
			}
		}
		if err != nil || finishes != 1 || events[len(events)-1].Kind != sdk.KindFinish {
			t.Errorf("range: got %v, %v, want one finish event, at the end", events, err)
		}
		if !tr.closed && len(events) != len(whole) {
			t.Errorf("range: got %d events, want %d", len(events), len(whole))
		}
	}
	tr.ranged = true
	if n := tr.src.running.Load(); n != 0 {
		t.Errorf("after a range: %d generators are running", n)
	}
}

// TestOrders does every sequence of up to five steps to each kind of stream:
// whatever the order, the answer comes out whole or with one finish event, and
// no generator is left.
func TestOrders(t *testing.T) {
	identity := func(e sdk.Event) sdk.Event { return e }
	kinds := map[string]func(*source) sdk.Stream{
		"hold": func(s *source) sdk.Stream { return sdk.Hold(s, 0) },
		"map":  func(s *source) sdk.Stream { return sdk.Map(s, identity) },
		"map of a held one": func(s *source) sdk.Stream {
			return sdk.Map(sdk.Hold(s, 0), identity)
		},
	}
	for name, wrap := range kinds {
		t.Run(name, func(t *testing.T) {
			var visit func(order string)
			visit = func(order string) {
				src := newSource(whole...)
				tr := &trial{src: src, stream: wrap(src)}
				for _, letter := range order {
					for _, s := range steps {
						if rune(s.letter) == letter {
							s.do(t, tr)
						}
					}
				}
				if n := src.running.Load(); n != 0 && (tr.closed || tr.ranged) {
					t.Errorf("%d generators are running", n)
				}
				tr.stream.Close()
				if n := src.running.Load(); n != 0 {
					t.Errorf("after the last close: %d generators are running", n)
				}
				if t.Failed() {
					t.Fatalf("order %q", order)
				}
				if len(order) < 5 {
					for _, s := range steps {
						visit(order + string(s.letter))
					}
				}
			}
			visit("")
		})
	}
}

// TestCloseWhile closes from another goroutine while the stream is awaited or
// ranged over, at every moment: its consumer ends, and no generator is left.
func TestCloseWhile(t *testing.T) {
	consumers := map[string]func(t *testing.T, s sdk.Stream){
		"awaited": func(t *testing.T, s sdk.Stream) {
			if f := sdk.AwaitVisible(t.Context(), s); codeOf(f) != sdk.CodeAborted {
				t.Errorf("got %v, want ABORTED", f)
			}
		},
		"ranged over": func(t *testing.T, s sdk.Stream) { wantAborted(t, s) },
		"ranged over after a peek": func(t *testing.T, s sdk.Stream) {
			_, s = sdk.Peek(s, 1)
			wantAborted(t, s)
		},
	}
	for name, consume := range consumers {
		t.Run(name, func(t *testing.T) {
			for range 300 {
				src := newSource(begin, open)
				src.hang = true
				s := sdk.Map(sdk.Hold(src, 0), func(e sdk.Event) sdk.Event { return e })
				var wg sync.WaitGroup
				wg.Go(func() { consume(t, s) })
				wg.Go(func() { s.Close() })
				wg.Go(func() { s.Close() })
				wg.Wait()
				s.Close()
				if n := src.running.Load(); n != 0 {
					t.Fatalf("%d generators are running", n)
				}
			}
		})
	}
}

func wantAborted(t *testing.T, s sdk.Stream) {
	events, err := drain(s)
	if err != nil || len(events) == 0 || codeOf(events[len(events)-1].Failure) != sdk.CodeAborted {
		t.Errorf("got %v, %v, want an ABORTED finish", events, err)
	}
}

// TestCloseInside closes from the loop's own body.
func TestCloseInside(t *testing.T) {
	for _, peek := range []int{0, 1} {
		src := newSource(begin, open)
		src.hang = true
		_, s := sdk.Peek(sdk.Hold(src, 0), peek)
		var last sdk.Event
		for e, err := range s.Events() {
			if err != nil {
				t.Fatal(err)
			}
			last = e
			s.Close()
		}
		if codeOf(last.Failure) != sdk.CodeAborted {
			t.Errorf("peeked %d: last event %+v, want an ABORTED finish", peek, last)
		}
	}
}

// TestAwaitWithEndedContext: a caller that is gone gets nothing.
func TestAwaitWithEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 1000 {
		if f := sdk.AwaitVisible(ctx, sdk.AnswerText("m", "x")); f == nil || f.Code != sdk.CodeAborted {
			t.Fatalf("got %v, want ABORTED", f)
		}
	}
}

// TestCloseBeforeRange: a closed answer does not begin.
func TestCloseBeforeRange(t *testing.T) {
	s := sdk.AnswerText("m", "hello")
	s.Close()
	for e, err := range s.Events() {
		if err != nil || e.Kind != sdk.KindFinish || e.Failure == nil || e.Failure.Code != sdk.CodeAborted {
			t.Errorf("got %+v, %v; want only ABORTED", e, err)
		}
	}
}

// TestLargeContent: what is shown is never too much to hold.
func TestLargeContent(t *testing.T) {
	if f := sdk.AwaitVisible(t.Context(), sdk.AnswerText("m", strings.Repeat("x", 5<<20))); f != nil {
		t.Error(f)
	}
}
