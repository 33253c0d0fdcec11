package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"spillway/host/agent"
	"spillway/host/story"
)

const (
	prompt     = "> "
	promptMore = "… "
	fence      = "```"
)

// message reads one: a line, more of them if one ends with a backslash or was
// pasted, or what stands between two fences. At the end of the input it returns
// what there is beside io.EOF.
func message(lines lineSource, talk story.Talk) (string, error) {
	var said []string
	fenced, size := false, 0
	for p := prompt; ; p = promptMore {
		line, pasted, err := lines.Line(p)
		if err == nil || line != "" {
			more := pasted
			if strings.HasPrefix(strings.TrimSpace(line), fence) {
				fenced = !fenced
			} else if cut, ok := strings.CutSuffix(line, `\`); ok && !fenced {
				line, more = cut, true
			}
			said = append(said, line)
			if size += len(line) + 1; size > maxPrompt {
				return "", usageError{errors.New(talk.TooLong(maxPrompt >> 20))}
			}
			if err == nil && (more || fenced) {
				continue
			}
		}
		return strings.TrimSpace(strings.Join(said, "\n")), err
	}
}

// plainLines are those of an input that nobody edits.
type plainLines struct {
	in  func(context.Context) (string, error)
	ctx context.Context // of the conversation
	out io.Writer       // nil: nobody is prompted
}

// Line implements lineSource.
func (l *plainLines) Line(prompt string) (string, bool, error) {
	if l.out != nil {
		fmt.Fprint(l.out, prompt)
	}
	line, err := l.in(l.ctx)
	if l.ctx.Err() != nil {
		err = agent.ErrInterrupted
	}
	return line, false, err
}

// Watch implements lineSource: the terminal itself makes a signal of Ctrl-C.
func (*plainLines) Watch(func()) (stop func()) { return func() {} }

// Close implements lineSource.
func (*plainLines) Close() error { return nil }

// ask lets a person answer in the conversation: it is what a line is read for.
func (c *chat) person() *person {
	return &person{out: c.out, talk: c.talk, in: func(context.Context) (string, error) {
		line, _, err := c.lines.Line("")
		return line, err
	}}
}

// confirm and decide take the keyboard from whoever watches for an interruption.
func (c *chat) confirm(ctx context.Context, q agent.Question) (agent.Consent, error) {
	c.quiet()
	return c.person().confirm(ctx, q)
}

func (c *chat) decide(ctx context.Context, u agent.Unknown) (agent.Decision, error) {
	c.quiet()
	return c.person().decide(ctx, u)
}

// quiet ends the line of the answer before something is asked.
func (c *chat) quiet() {
	c.teller.mu.Lock()
	defer c.teller.mu.Unlock()
	c.teller.stopWaiting()
	c.teller.endLine()
}

var errExit = errors.New("the conversation is over")
