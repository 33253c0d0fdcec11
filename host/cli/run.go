package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"os"

	"github.com/spf13/cobra"

	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/sdk"
)

// workOptions are what run and chat have in common.
type workOptions struct {
	model     string
	resume    string
	last      bool
	noSession bool
	yes       bool
	tools     string
}

func (o *workOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.model, "model", "auto", "`ROUTE` to ask first: provider/model, a model's name or an alias")
	f.StringVar(&o.resume, "resume", "", "go on with the session of that `ID`")
	f.BoolVar(&o.last, "continue", false, "go on with the last session of this folder")
	f.BoolVar(&o.noSession, "no-session", false, "keep nothing but the ledger of tool calls")
	f.BoolVar(&o.yes, "yes", false, "agree to every tool call that asks for it")
	f.StringVar(&o.tools, "tools", "all", "`WHICH` tools the model may call: all, read-only or none")
}

func (o *workOptions) check() error {
	switch {
	case o.resume != "" && o.last:
		return usageError{errors.New("--resume and --continue: which one is meant?")}
	case o.noSession && o.resumes():
		return usageError{errors.New("--no-session: there is nothing to go on with")}
	case o.tools != toolsAll && o.tools != toolsReadOnly && o.tools != toolsNone:
		return usageError{fmt.Errorf("--tools: got %q (allowed: %s, %s, %s)", o.tools, toolsAll, toolsReadOnly, toolsNone)}
	}
	return nil
}

func (o *workOptions) resumes() bool { return o.resume != "" || o.last }

func (a *app) runCommand() *cobra.Command {
	var o workOptions
	c := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Give the agent a task; it works in this folder with the profile's tools",
		Long: `Give the agent a task. It works in this folder with the tools that the profile's
rows tools-files, tools-shell, tools-fetch and mcp give it. Without PROMPT, or
with -, the task is read from standard input.

On a terminal answers are shown as they come; until something comes, who is asked
and for how long. Elsewhere standard output gets the last answer, once it is
whole; all else is on standard error: tool calls, and one line when another vendor
takes over. An answer that breaks off is withdrawn, and asked for again.

The conversation is kept in the profile's state ("spillway session"), and every
tool call that changes something in a ledger: after a crash, an interruption or
an error --resume or --continue goes on exactly where it stopped, and runs
nothing twice. Then PROMPT may be left out; of work that was done the last answer
is told again.

Tools may want a person's word. Without a terminal such calls are refused, unless
--yes is given.

` + eventsHelp + `

Exit codes: 0 done; 1 it failed; 2 the command, the profile or a file is wrong;
3 a person must decide whether a tool call happened; 130 interrupted.`,
		Example: `  spillway run "why is the sky blue?"
  spillway run "fix the failing test"
  spillway run --tools read-only "what does this project do?"
  spillway run --continue "now document it"
  spillway run --model deepseek/deepseek-flash < question.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("run takes one prompt, got %d arguments; put it in quotes", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			prompt := ""
			if !o.resumes() || len(args) == 1 {
				var err error
				if prompt, err = a.prompt(args); err != nil {
					return err
				}
			}
			return a.run(c.Context(), &o, prompt)
		},
	}
	o.flags(c)
	a.jsonFlag(c, "events")
	return c
}

// maxPrompt bounds a prompt from standard input.
const maxPrompt = 16 << 20

func (a *app) prompt(args []string) (string, error) {
	var prompt string
	if len(args) == 1 && args[0] != "-" {
		prompt = args[0]
	} else {
		b, err := io.ReadAll(io.LimitReader(a.stdin, maxPrompt+1))
		if err != nil {
			return "", err
		}
		if len(b) > maxPrompt {
			return "", usageError{fmt.Errorf("run: the prompt is larger than %d MB", maxPrompt>>20)}
		}
		prompt = string(b)
	}
	if strings.TrimSpace(prompt) == "" {
		return "", usageError{errors.New("run: no prompt: give one as the argument or on standard input")}
	}
	return prompt, nil
}

// run does one task.
func (a *app) run(ctx context.Context, o *workOptions, prompt string) error {
	// The first signal interrupts the work, which takes a moment to be put down;
	// the second one ends the program.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
	w, err := a.begin(ctx, o, false)
	if err != nil {
		return err
	}
	defer w.Close()
	if prompt == "" && session.Read(w.session.Entries()).User == "" {
		return usageError{errors.New(w.talk.Unasked(w.session.ID()))}
	}
	if a.asJSON {
		return a.runJSON(ctx, w, prompt)
	}
	t := a.teller()
	w.options.Tell = t.Tell
	w.ask(a)
	err = w.say(ctx, prompt)
	over := err == nil && session.Read(w.session.Entries()).Done
	if err == nil {
		err = w.agent.Go(ctx)
	}
	if over { // when it was begun: the answer is told again
		t.write(w.agent.Text())
	}
	t.Close()
	return w.told(err)
}

// runJSON is run as lines of JSON.
func (a *app) runJSON(ctx context.Context, w *work, prompt string) error {
	out := newEventWriter(a.stdout)
	w.options.Tell = out.Tell
	if w.yes {
		w.options.Confirm = agree
	}
	err := w.say(ctx, prompt)
	// Whoever reads this line can go on with the session: the task is in it.
	out.line("session", map[string]any{"session": w.session.ID(), "kept": w.session.Kept()})
	if err == nil {
		err = w.agent.Go(ctx)
	}
	if u, ok := errors.AsType[*agent.UndecidedError](err); ok {
		e := u.Entry
		out.line("ask", map[string]any{"session": w.session.ID(), "key": e.Key, "tool": e.Tool, "input": e.Input, "note": e.Note})
	}
	last := map[string]any{"session": w.session.ID(), "exit": exitCode(err)}
	if err == nil {
		last["text"] = w.agent.Text()
	} else {
		last["error"] = err.Error()
	}
	if f, ok := errors.AsType[*agent.FailedError](err); ok {
		last["request"] = f.Request
	}
	out.line("done", last)
	return w.told(err)
}

// say makes the agent and gives it a prompt, if there is one.
func (w *work) say(ctx context.Context, prompt string) (err error) {
	if w.tools != nil {
		w.options.Tools = w.tools.tools(w.which)
	}
	if w.agent, err = agent.New(w.options); err != nil || prompt == "" {
		return err
	}
	return w.agent.Say(ctx, sdk.TextPart(prompt))
}
