package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

func (a *app) chatCommand() *cobra.Command {
	var o workOptions
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk with the agent; it works in this folder with the profile's tools",
		Long: `Talk with the agent, which works as that of "run" does. /help lists the commands of
the conversation; Ctrl-D ends it.

A message is a line. It has several if a line ends with \, or between two lines
of ` + "```" + `, or if it is pasted. Esc or Ctrl-C interrupts the agent: what it had said
is kept and marked, and the next message goes on from there. The second Ctrl-C
ends the program. The lines that were typed are kept in the profile's state.

Without a terminal, or with TERM=dumb, there is no editing of lines: each line of
standard input is a message, by the same rules, until it ends. Without a terminal
the first error ends it.

Exit codes are those of "run".`,
		Example: "  spillway chat\n  spillway chat --continue\n  printf 'what is here?\\nand why?\\n' | spillway chat --tools read-only",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.chat(c.Context(), &o)
		},
	}
	o.flags(c)
	return c
}

// chat is a conversation under way.
type chat struct {
	app *app
	*work
	lines  lineSource
	out    io.Writer // where the conversation is shown
	teller *teller
	status string // as it was shown last
}

// lineSource is where lines come from. The error of Line is io.EOF at their end.
type lineSource interface {
	Line(prompt string) (line string, pasted bool, err error)
	// Watch calls interrupt when the user wants that, until stop is called.
	Watch(interrupt func()) (stop func())
	Close() error
}

func (a *app) chat(ctx context.Context, o *workOptions) error {
	// Ctrl-C ends a turn, not the conversation: only SIGTERM does.
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	defer stop()
	c := &chat{app: a, out: a.stdout, teller: a.teller()}
	c.teller.live = isTerminal(a.stdin)
	if err := c.openLines(ctx); err != nil {
		return err
	}
	defer c.lines.Close()
	var err error
	if c.work, err = a.begin(ctx, o, true); err != nil {
		return err
	}
	defer c.work.Close()
	c.talk = c.teller.talk // the editor hides how wide the terminal is
	defer c.teller.Close()
	c.options.Tell = c.teller.Tell
	if isTerminal(a.stdin) {
		c.options.Confirm, c.options.Decide = c.confirm, c.decide
	}
	if c.yes {
		c.options.Confirm = agree
	}
	return c.told(c.converse(ctx))
}

// openLines finds out what the conversation is held on. On a terminal that can do
// it lines are edited, and all that is shown goes through the editor.
func (c *chat) openLines(ctx context.Context) error {
	a := c.app
	switch {
	case isTerminal(a.stdin) && isTerminal(a.stdout) && !a.dumb():
		dir, err := a.dir()
		if err != nil {
			return err
		}
		state := filepath.Join(dir, profile.StateDir)
		if err := os.MkdirAll(state, 0o700); err != nil {
			return err
		}
		e, err := openEditor(ctx, filepath.Join(state, historyFile))
		if err != nil {
			return err
		}
		c.lines, c.out = e, e
		c.teller.out, c.teller.err, c.teller.screen, c.teller.counts = e, e, true, true
		a.stderr = e // of whatever else speaks meanwhile
	case isTerminal(a.stdin):
		c.lines = &plainLines{in: lineReader(a.stdin), ctx: ctx, out: a.stdout}
	default:
		c.lines = &plainLines{in: lineReader(a.stdin), ctx: ctx}
	}
	return nil
}

// converse takes messages until there are no more.
func (c *chat) converse(ctx context.Context) error {
	for ctx.Err() == nil {
		c.showStatus(ctx)
		text, err := message(c.lines, c.talk)
		switch {
		case errors.Is(err, io.EOF) && text == "":
			return nil
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case text == "":
			continue
		case isCommand(text):
			err = c.command(ctx, text)
			if errors.Is(err, errExit) {
				return nil
			}
		default:
			err = c.turn(ctx, text)
		}
		if err == nil {
			continue
		}
		if !isTerminal(c.app.stdin) || errors.Is(err, errEnded) {
			return err
		}
		fmt.Fprintln(c.out, story.Block(err.Error()))
	}
	return agent.ErrInterrupted
}

// errEnded: the user wants the program to end while the agent works.
var errEnded = fmt.Errorf("%w twice", agent.ErrInterrupted)

// turn has the agent work on a message. The first interruption ends the turn, the
// second one the program.
func (c *chat) turn(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once, twice sync.Once
	ended := make(chan struct{})
	interrupt := func() {
		first := false
		once.Do(func() { first = true; cancel(agent.ErrInterrupted) })
		if !first {
			twice.Do(func() { close(ended) })
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	stop := c.lines.Watch(interrupt)
	defer stop()

	done := make(chan error, 1)
	go func() { done <- c.answer(ctx, text) }()
	for {
		select {
		case err := <-done:
			c.teller.mu.Lock()
			defer c.teller.mu.Unlock()
			c.teller.stopWaiting()
			if errors.Is(err, agent.ErrInterrupted) {
				c.teller.note(0, c.talk.Stopped())
				return nil
			}
			return err
		case <-signals:
			interrupt()
		case <-ended: // whatever is left pending the ledger and the session know
			return errEnded
		}
	}
}

func (c *chat) answer(ctx context.Context, text string) error {
	if c.tools != nil {
		c.options.Tools = c.tools.tools(c.which)
	}
	if c.agent == nil {
		a, err := agent.New(c.options)
		if err != nil {
			return err
		}
		c.agent = a
	} else if err := c.agent.SetTools(c.options.Tools); err != nil {
		return err
	}
	err := c.agent.Send(ctx, sdk.TextPart(text))
	return c.told(err)
}

// showStatus tells who serves, which session it is and what is pinned, whenever
// that has changed.
func (c *chat) showStatus(ctx context.Context) {
	if !isTerminal(c.app.stdin) {
		return
	}
	id := ""
	if c.session.Kept() {
		id = c.session.ID()
	}
	if line := c.talk.Serving(c.route(), id, c.pinned(ctx)); line != c.status {
		c.status = line
		fmt.Fprintf(c.out, "%s\n", line)
	}
}

// route is who answered last, else who will be asked, "" for nobody.
func (c *chat) route() string {
	entries := c.session.Entries()
	for i := len(entries) - 1; i > 0; i-- {
		if entries[i].Kind == session.KindAnswer && entries[i].Route != "" {
			return entries[i].Route
		}
	}
	meant, err := c.runtime.Resolve(c.options.Model, nil)
	if err != nil {
		return ""
	}
	return meant.Route.String()
}

// pinned is the route that a person has chosen for everything, "" if none.
func (c *chat) pinned(ctx context.Context) string {
	statuses, err := c.runtime.Statuses(ctx)
	if err != nil {
		return ""
	}
	for _, s := range statuses {
		for _, o := range s.Orders {
			if o.Verb == sdk.VerbPin {
				return o.Target
			}
		}
	}
	return ""
}
