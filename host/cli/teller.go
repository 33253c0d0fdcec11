package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"spillway/host/agent"
	"spillway/host/story"
	"spillway/sdk"
)

// teller shows a person what an agent does. Answers go to standard output, all
// else to standard error, a line each.
//
// On a terminal an answer is shown as it comes; what a model or a tool says is
// stripped of what could drive the terminal. Elsewhere standard output gets whole
// answers only, so that no reader takes the beginning of a withdrawn one for the
// beginning of the next: the last answer, while what the model says between tool
// calls goes to standard error.
type teller struct {
	out, err io.Writer
	screen   bool       // out is a terminal: a stranger's text is made harmless
	live     bool       // answers are shown as they come
	counts   bool       // err can show passing seconds
	talk     story.Talk // on err

	mu     sync.Mutex
	open   bool            // a line of standard output has no end yet
	held   strings.Builder // of an answer that is not shown yet
	calls  bool            // it calls tools
	broken error           // standard output takes nothing any more
	wait   *countdown
	asked  *progress // until content comes
}

func (a *app) teller() *teller {
	screen := isTerminal(a.stdout)
	return &teller{
		out: a.stdout, err: a.stderr, screen: screen, live: screen,
		counts: isTerminal(a.stderr) && !a.dumb(), talk: a.talk(),
	}
}

// dumb reports whether the terminal knows no control sequences.
func (a *app) dumb() bool {
	kind, _ := a.env("TERM")
	return kind == "dumb" || kind == ""
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Tell shows an event.
func (t *teller) Tell(e agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind != agent.EventAnswer {
		t.stopWaiting()
	}
	switch e.Kind {
	case agent.EventAnswer:
		if e.Depth == 0 { // a nested agent's words are its parent's tool result
			t.answer(*e.Answer)
		}
	case agent.EventAsked:
		t.asking(e.Attempt.Route)
	case agent.EventRequest:
		if e.Depth == 0 {
			t.accepted()
		}
	case agent.EventSwitch:
		t.note(e.Depth, story.Notice(e.Attempt, e.Before, t.talk.Options))
	case agent.EventReturn:
		t.note(e.Depth, story.Back(e.Attempt.Route, t.talk.Options))
	case agent.EventToolStart:
		t.note(e.Depth, t.talk.Doing(e.Call.Tool, e.Call.Input, e.What))
	case agent.EventToolResult:
		t.result(e)
	case agent.EventWithdrawn:
		t.note(e.Depth, t.talk.Withdrawn(e.Failure, t.live || e.Depth > 0))
		t.held.Reset()
		t.calls = false
	case agent.EventWait:
		t.waiting(e)
	case agent.EventSummary:
		t.note(e.Depth, t.talk.SummedUp(e.Count))
	}
}

func (t *teller) answer(e sdk.Event) {
	switch {
	case e.Kind == sdk.KindBlockStart && e.Block == sdk.BlockToolCall:
		t.calls = true
	case e.Kind == sdk.KindTextDelta && t.live:
		t.write(e.Text)
	case e.Kind == sdk.KindTextDelta:
		t.held.WriteString(e.Text)
	case e.Kind == sdk.KindBlockEnd && t.live:
		t.endLine()
	}
}

// write shows a piece of an answer as it comes.
func (t *teller) write(text string) {
	if t.screen {
		text = story.Block(text)
	}
	if text == "" || t.broken != nil {
		return
	}
	t.stopWaiting()
	_, t.broken = fmt.Fprint(t.out, text)
	t.open = !strings.HasSuffix(text, "\n")
}

func (t *teller) endLine() {
	if t.open && t.broken == nil {
		_, t.broken = fmt.Fprintln(t.out)
	}
	t.open = false
}

// accepted shows an answer that was held back.
func (t *teller) accepted() {
	text := t.held.String()
	t.held.Reset()
	switch {
	case text == "":
	case t.calls:
		t.note(0, story.Block(strings.TrimSpace(text)))
	default:
		t.write(text)
		t.endLine()
	}
	t.calls = false
}

// Close shows what came of an answer that did not end, and ends the line.
func (t *teller) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopWaiting()
	if t.held.Len() > 0 {
		t.write(t.held.String())
		t.held.Reset()
	}
	t.endLine()
}

// note is a line on standard error.
func (t *teller) note(depth int, line string) {
	if line == "" {
		return
	}
	t.stopWaiting()
	t.endLine()
	fmt.Fprintln(t.err, strings.Repeat("  ", depth)+line)
}

func (t *teller) result(e agent.Event) {
	text := ""
	for _, p := range e.Result.Parts {
		if p.Kind == sdk.PartText {
			text = p.Text
			break
		}
	}
	if e.Result.Error {
		t.note(e.Depth, "  "+t.talk.Failed(text))
	}
}

// waiting says that nobody can serve, and until when; on a terminal it counts
// down.
func (t *teller) waiting(e agent.Event) {
	if !t.counts {
		t.note(e.Depth, t.talk.Waiting(e.Failure, e.Wait))
		return
	}
	// The seconds have a short line of their own: one that a narrow screen breaks
	// could not be written anew.
	t.note(e.Depth, t.talk.NobodyServes(e.Failure))
	t.wait = countDown(e.Wait, func(left time.Duration) {
		fmt.Fprint(t.err, rewrite+t.talk.CountingDown(left))
	})
}

// asking says on a terminal who is asked while nothing comes.
func (t *teller) asking(r sdk.Route) {
	if t.counts {
		t.endLine()
		t.asked = showProgress(t.err, func(passed time.Duration) string { return t.talk.Expecting(r, passed) })
	}
}

func (t *teller) stopWaiting() {
	if t.asked != nil {
		t.asked.stop()
		t.asked = nil
	}
	if t.wait != nil {
		t.wait.stop()
		t.wait = nil
		fmt.Fprintln(t.err)
	}
}

// countdown shows the seconds that are left.
type countdown struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func countDown(d time.Duration, show func(left time.Duration)) *countdown {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	c := &countdown{cancel: cancel, done: make(chan struct{})}
	end := time.Now().Add(d)
	show(d.Round(time.Second))
	go func() {
		defer close(c.done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				show(max(time.Until(end), 0).Round(time.Second))
			}
		}
	}()
	return c
}

func (c *countdown) stop() {
	c.cancel()
	<-c.done
}
