package plugintest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"spillway/sdk"
)

// answer is what a caller got.
type answer struct {
	events []sdk.Event
	err    error
}

func read(s sdk.Stream) (a answer) {
	for e, err := range s.Events() {
		if err != nil {
			a.err = err
		} else {
			a.events = append(a.events, e)
		}
	}
	return a
}

func (a answer) failure() *sdk.Failure {
	if len(a.events) == 0 {
		return nil
	}
	return a.events[len(a.events)-1].Failure
}

func (a answer) text() string {
	var b strings.Builder
	for _, e := range a.events {
		if e.Kind == sdk.KindTextDelta {
			b.WriteString(e.Text)
		}
	}
	return b.String()
}

// model is what the vendor says it is, which depends on where the call went.
func (a answer) model() string {
	for _, e := range a.events {
		if e.Kind == sdk.KindStart {
			return e.Model
		}
	}
	return ""
}

// report complains about an answer that no call may have, made under ctx.
func (a answer) report(ctx context.Context, tb testing.TB, what string) {
	tb.Helper()
	if ctx.Err() != nil {
		tb.Errorf("%s: did not end in time", what)
		return
	}
	if a.err != nil {
		tb.Errorf("%s: local fault: %v", what, a.err)
		return
	}
	if fault := grammar(a.events); fault != "" {
		tb.Errorf("%s: %s in %s", what, fault, spell(a.events))
	}
	switch f := a.failure(); {
	case f == nil:
	case f.Code == sdk.CodePlugin:
		tb.Errorf("%s: the plugin broke: %v", what, f)
	case f.Code == sdk.CodeAborted:
		tb.Errorf("%s: given up, though the caller is there: %v", what, f)
	}
}

// grammar says what is wrong with the order of an answer's events: blocks do
// not overlap and are counted from 0, and one finish event is the last. A
// failure may leave a block open.
func grammar(events []sdk.Event) string {
	blocks, open := 0, sdk.BlockKind(0)
	for i, e := range events {
		inside := open != 0 && e.Index == blocks-1
		switch e.Kind {
		case sdk.KindStart, sdk.KindUsage:
		case sdk.KindBlockStart:
			if open != 0 || e.Index != blocks || e.Block == 0 {
				return fmt.Sprintf("event %d: a block that is not the next", i)
			}
			blocks, open = blocks+1, e.Block
		case sdk.KindTextDelta, sdk.KindReasoningDelta, sdk.KindToolCallDelta:
			if !inside || deltas[e.Kind] != open {
				return fmt.Sprintf("event %d: a delta outside its block", i)
			}
		case sdk.KindBlockEnd:
			if !inside {
				return fmt.Sprintf("event %d: the end of a block that is not open", i)
			}
			open = 0
		case sdk.KindFinish:
			ill := e.Finish == sdk.FinishError || e.Finish == sdk.FinishAborted
			switch {
			case i != len(events)-1:
				return fmt.Sprintf("event %d: finish, but more follows", i)
			case e.Finish == "" || ill != (e.Failure != nil):
				return fmt.Sprintf("event %d: finish %q with failure %v", i, e.Finish, e.Failure)
			case !ill && open != 0:
				return "the last block is open at the finish"
			}
			return ""
		default:
			return fmt.Sprintf("event %d: kind %d", i, e.Kind)
		}
	}
	return "no finish event"
}

// deltas are the kinds of blocks that they are pieces of.
var deltas = map[sdk.EventKind]sdk.BlockKind{
	sdk.KindTextDelta:      sdk.BlockText,
	sdk.KindReasoningDelta: sdk.BlockReasoning,
	sdk.KindToolCallDelta:  sdk.BlockToolCall,
}

// spell writes events for people.
func spell(events []sdk.Event) string {
	b, err := json.Marshal(events)
	if err != nil {
		return fmt.Sprintf("%+v", events)
	}
	return string(b)
}

// scope is a part of a test, with clean-ups of its own.
type scope struct {
	testing.TB
	cleanups []func()
}

// Cleanup registers f for the scope's end.
func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	s.cleanups = nil
}

// goroutines are the stacks of all goroutines, by number.
func goroutines() map[string]string {
	buf := make([]byte, 64<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	stacks := map[string]string{}
	for stack := range strings.SplitSeq(string(buf[:n]), "\n\n") {
		number, _, _ := strings.Cut(stack, " [")
		stacks[number] = stack
	}
	return stacks
}

// lasting are the goroutines that began after before was taken and have not
// ended by the time ctx has.
func lasting(ctx context.Context, before map[string]string) string {
	var left []string
	until(ctx, func() bool {
		after := goroutines()
		maps.DeleteFunc(after, func(number, _ string) bool { _, old := before[number]; return old })
		left = slices.Sorted(maps.Values(after))
		return len(left) == 0
	})
	return strings.Join(left, "\n\n")
}

// until waits for a condition and reports whether it came about before ctx
// ended.
func until(ctx context.Context, ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
