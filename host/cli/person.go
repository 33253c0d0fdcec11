package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"spillway/host/agent"
	"spillway/host/agent/ledger"
	"spillway/host/story"
)

// agree is the consent of --yes.
func agree(context.Context, agent.Question) (agent.Consent, error) { return agent.Once, nil }

// ask lets the agent ask whoever sits at the terminal.
func (w *work) ask(a *app) {
	if isTerminal(a.stdin) && isTerminal(a.stderr) {
		p := &person{in: lineReader(a.stdin), out: a.stderr, talk: w.talk}
		w.options.Confirm, w.options.Decide = p.confirm, p.decide
	}
	if w.yes {
		w.options.Confirm = agree
	}
}

// person is who answers questions, a line each.
type person struct {
	in   func(context.Context) (string, error)
	out  io.Writer
	talk story.Talk
}

// lineReader reads lines. A read that ctx has ended goes on in the background,
// and the next one takes what it gets.
func lineReader(in io.Reader) func(context.Context) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line)
	wanted := make(chan struct{}, 1)
	go func() {
		r := bufio.NewReader(in)
		for range wanted {
			text, err := r.ReadString('\n')
			lines <- line{strings.TrimSpace(text), err}
		}
	}()
	waiting := false
	return func(ctx context.Context) (string, error) {
		if !waiting {
			wanted <- struct{}{}
			waiting = true
		}
		select {
		case l := <-lines:
			waiting = false
			return l.text, l.err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// choose asks until an answer is one of the choices, or begins with one that is a
// letter. The end of the input, or of ctx, is an error.
func choose[T any](ctx context.Context, p *person, question string, choices map[string]T) (T, error) {
	for {
		fmt.Fprint(p.out, question)
		text, err := p.in(ctx)
		text = strings.ToLower(text)
		for _, answer := range []string{text, text[:min(len(text), 1)]} {
			if choice, ok := choices[answer]; ok {
				return choice, nil
			}
		}
		if err != nil {
			fmt.Fprintln(p.out)
			return *new(T), err
		}
	}
}

func (p *person) confirm(ctx context.Context, q agent.Question) (agent.Consent, error) {
	fmt.Fprintf(p.out, "%s\n", p.talk.Asking(q.What))
	consent, err := choose(ctx, p, "  "+p.talk.Allow(q.Call.Tool), map[string]agent.Consent{
		"y": agent.Once, "是": agent.Once, "是的": agent.Once, "n": agent.Refused, "否": agent.Refused, "a": agent.Always,
	})
	switch {
	case ctx.Err() != nil:
		return agent.Refused, context.Cause(ctx)
	case err != nil: // nobody is there any more
		return agent.Refused, nil
	}
	return consent, nil
}

func (p *person) decide(ctx context.Context, u agent.Unknown) (agent.Decision, error) {
	fmt.Fprintf(p.out, "%s\n  %s\n", p.talk.Unknown(u.Entry.Tool), p.talk.Input(u.Entry.Input))
	if u.Entry.Note != "" {
		fmt.Fprintf(p.out, "  %s\n", p.talk.Why(u.Entry.Note))
	}
	verdict, err := choose(ctx, p, "  "+p.talk.Outcomes(), map[string]ledger.Verdict{
		"h": ledger.Happened, "n": ledger.NotHappened, "t": ledger.StaysUnknown, "s": "",
	})
	if err != nil {
		return agent.Decision{}, nil // it stays unknown
	}
	return agent.Decision{Verdict: verdict, Note: "answered in the terminal"}, nil
}
