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
		p := &person{in: lineReader(a.stdin), out: a.stderr}
		w.options.Confirm, w.options.Decide = p.confirm, p.decide
	}
	if w.yes {
		w.options.Confirm = agree
	}
}

// person is who answers questions, a line each.
type person struct {
	in  func(context.Context) (string, error)
	out io.Writer
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

// choose asks until one of the letters is given. The end of the input, or of ctx,
// is an error.
func (p *person) choose(ctx context.Context, question, letters string) (byte, error) {
	for {
		fmt.Fprint(p.out, question)
		text, err := p.in(ctx)
		if text = strings.ToLower(text); text != "" && strings.Contains(letters, text[:1]) {
			return text[0], nil
		}
		if err != nil {
			fmt.Fprintln(p.out)
			return 0, err
		}
	}
}

func (p *person) confirm(ctx context.Context, q agent.Question) (agent.Consent, error) {
	fmt.Fprintf(p.out, "%s\n", story.Asked(q.What, maxQuestion))
	letter, err := p.choose(ctx, "  allow it? [y]es, [n]o, [a]lways "+q.Call.Tool+" in this session: ", "yna")
	switch {
	case ctx.Err() != nil:
		return agent.Refused, context.Cause(ctx)
	case err != nil: // nobody is there any more
		return agent.Refused, nil
	case letter == 'y':
		return agent.Once, nil
	case letter == 'a':
		return agent.Always, nil
	}
	return agent.Refused, nil
}

// maxQuestion bounds what a person is asked about, in columns. Who agrees must have
// seen it whole: tools shorten their questions themselves, and say by how much.
const maxQuestion = 64_000

func (p *person) decide(ctx context.Context, u agent.Unknown) (agent.Decision, error) {
	fmt.Fprintf(p.out, "It is not known whether this happened: %s\n  %s\n", u.Entry.Tool, story.Asked(string(u.Entry.Input), maxQuestion))
	if u.Entry.Note != "" {
		fmt.Fprintf(p.out, "  why: %s\n", story.Line(u.Entry.Note, maxQuestion))
	}
	letter, err := p.choose(ctx, "  [h]appened, [n]ot happened: run it, [t]ell the model that nobody knows, [s]top here: ", "hnts")
	if err != nil {
		return agent.Decision{}, nil // it stays unknown
	}
	verdict := map[byte]ledger.Verdict{'h': ledger.Happened, 'n': ledger.NotHappened, 't': ledger.StaysUnknown}[letter]
	return agent.Decision{Verdict: verdict, Note: "answered in the terminal"}, nil
}
