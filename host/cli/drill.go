package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"spillway/host/drill"
	"spillway/host/story"
	"spillway/sdk"
)

func (a *app) drillCommand() *cobra.Command {
	var o drill.Options
	var list, real, live bool
	var eval string
	c := &cobra.Command{
		Use:   "drill",
		Short: "Rehearse failures of this profile against simulated vendors",
		Long: `Rehearse failures of the profile: its own entries, plugins, lists and settings run,
and simulated vendors on this machine take the places of its own. Each route fails
in each way, one at a time, and for each there is a verdict: what a user would have
seen. No key is used, nothing is sent to a vendor, nothing is learned or stored. A
provider without a key is rehearsed all the same.

"alone" marks a request that had nobody left to take over and ended in a clean error,
as it should. A route that can never serve is named with its place and counts as
failed. Limits on silence and waits are cut to a fifth, unless --real-time is given.

With --live the real vendors are asked instead: each route one tiny question, and one
more for a tool and for an image if its model is said to be up to them, directly and
without failover. That needs the keys and costs a few tokens; what it will cost is
told first. It finds fallbacks that are dead and nobody knows: a key that has expired,
a model that is gone, a tool that is ignored.

With --live --eval FILE each route is given the tasks of FILE, and what share of them
it did, and of its answers that had to follow a JSON schema, is kept: contracts of the
failover settings that have gates on the file let another model stand in only then.
FILE has a JSON object on each line:

  {"prompt": "…", "checks": [CHECK, …]}

and may give "system", "tools" (a list of {"name", "description", "parameters"}) and
"max_tokens" (default 1024). A task is done if each CHECK holds, which is one of

  {"contains": "text"}    {"equals": "text"}    {"regexp": "expression"}
  {"json_schema": {…}}    {"calls": "tool"}

The last line is "drill: N passed, M failed".

Exit codes: 0 none failed; 1 some did; 2 the command is wrong.`,
		Example: `  spillway drill
  spillway drill --only usage-limit --only silent --route anthropic
  spillway drill --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if list {
				return a.listScenarios()
			}
			if eval != "" && !live {
				return usageError{errors.New("--eval asks real vendors: it needs --live")}
			}
			if eval != "" {
				return a.drillEval(c.Context(), drill.EvalOptions{Routes: o.Routes, File: eval})
			}
			if live {
				return a.drillLive(c.Context(), drill.LiveOptions{Routes: o.Routes})
			}
			if o.Faster = drill.DefaultFaster; real {
				o.Faster = 1
			}
			return a.drill(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.Only, "only", nil, "rehearse this `SCENARIO` only, may be repeated")
	f.StringArrayVar(&o.Routes, "route", nil, "let this `ROUTE` fail only, provider/model or a provider, may be repeated")
	f.BoolVar(&real, "real-time", false, "keep limits and waits as long as they are")
	f.BoolVar(&live, "live", false, "ask the real vendors instead")
	f.StringVar(&eval, "eval", "", "with --live: measure the routes on the tasks of `FILE`")
	f.BoolVar(&list, "list", false, "list the scenarios and rehearse nothing")
	a.jsonFlag(c, "the verdicts")
	return c
}

func (a *app) listScenarios() error {
	all := drill.Scenarios()
	if a.asJSON {
		return a.printJSON(all)
	}
	for _, s := range all {
		about := s.About
		if story.LanguageOf(a.env) == story.Chinese {
			about = s.Chinese
		}
		if _, err := fmt.Fprintf(a.stdout, "%-16s %s\n", s.Name, about); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) drill(ctx context.Context, o drill.Options) error {
	var err error
	if o.Host, err = a.options(); err != nil {
		return err
	}
	progress := newLiveLine(a.stderr)
	o.Progress = func(done, total int, v drill.Verdict) {
		progress.show(done == total || done%progressEvery == 0, drill.Progress(done, total, v, story.LanguageOf(a.env)))
	}
	r, err := drill.Run(ctx, o)
	progress.clear()
	if err != nil {
		return drillError(err)
	}
	return a.drilled(r, r.Failed)
}

// drillLive asks the real vendors.
func (a *app) drillLive(ctx context.Context, o drill.LiveOptions) (err error) {
	if o.Host, err = a.options(); err != nil {
		return err
	}
	progress := newLiveLine(a.stderr)
	o.Announce = func(requests int) {
		fmt.Fprintf(a.stderr, "drill: up to %d requests of some 50 tokens each go to real vendors now\n", requests)
	}
	o.Progress = func(done, total int, asked drill.LiveAsked) {
		progress.show(true, fmt.Sprintf("drill: %d of %d  %s  %s", done, total, asked.Route, asked.Question))
	}
	r, err := drill.Live(ctx, o)
	progress.clear()
	if err != nil {
		return drillError(err)
	}
	return a.drilled(r, r.Failed)
}

// drillEval measures the real vendors.
func (a *app) drillEval(ctx context.Context, o drill.EvalOptions) (err error) {
	if o.Host, err = a.options(); err != nil {
		return err
	}
	progress := newLiveLine(a.stderr)
	o.Announce = func(requests int) {
		fmt.Fprintf(a.stderr, "drill: %d requests go to real vendors now\n", requests)
	}
	o.Progress = func(done, total int, r sdk.Route) {
		progress.show(done == total || done%progressEvery == 0, fmt.Sprintf("drill: %d of %d  %s", done, total, r))
	}
	r, err := drill.Eval(ctx, o)
	progress.clear()
	if err != nil {
		return drillError(err)
	}
	return a.drilled(r, r.Failed)
}

// drillError is an error of the command's, or one in what the user wrote.
func drillError(err error) error {
	if _, usage := errors.AsType[drill.UsageError](err); usage {
		return usageError{fmt.Errorf("drill: %w", err)}
	}
	return err
}

// report is what a drill has found.
type report interface {
	Write(w io.Writer, o story.Options) error
}

// drilled tells of a drill that has ended.
func (a *app) drilled(r report, failed int) (err error) {
	if a.asJSON {
		err = a.printJSON(r)
	} else {
		err = r.Write(a.stdout, a.telling(a.stdout))
	}
	if err == nil && failed > 0 {
		return quietError{errors.New("the drill has failed")}
	}
	return err
}

// progressEvery is how many steps pass between two lines of progress where no
// terminal shows each.
const progressEvery = 20

// liveLine is a line that is written over on a terminal. Elsewhere some of its
// states are lines.
type liveLine struct {
	w    io.Writer
	live bool
}

func newLiveLine(w io.Writer) *liveLine {
	f, ok := w.(*os.File)
	return &liveLine{w: w, live: ok && term.IsTerminal(int(f.Fd()))}
}

// show shows a state; one that is not due is for terminals only.
func (l *liveLine) show(due bool, text string) {
	switch {
	case l.live:
		fmt.Fprintf(l.w, "\r\x1b[K%s", text)
	case due:
		fmt.Fprintln(l.w, text)
	}
}

// clear takes the line away.
func (l *liveLine) clear() {
	if l.live {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
