package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"spillway/host/agent/ledger"
	"spillway/host/profile"
	"spillway/host/story"
)

func (a *app) ledgerCommand() *cobra.Command {
	var f ledger.Filter
	var states []string
	c := &cobra.Command{
		Use:   "ledger",
		Short: "List the agent's tool calls that change something, first what needs a person",
		Long: `List the agent's tool calls that change something, newest first, but above all
those of which nobody knows whether they happened: the agent or the tool was killed,
or an answer was lost. Such a call is not run again until a person has settled it.`,
		Example: "  spillway ledger --state unknown\n  spillway ledger show 9f2ab04c\n  spillway ledger settle 9f2ab04c not-happened",
		Args:    unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, s := range states {
				if !slices.Contains(ledger.States(), ledger.State(s)) {
					return usageError{fmt.Errorf("--state: got %q (allowed: %s)", s, joined(ledger.States()))}
				}
				f.States = append(f.States, ledger.State(s))
			}
			if f.Limit < 1 || f.Limit > ledger.MaxList {
				return usageError{fmt.Errorf("--limit: got %d (allowed: 1 to %d)", f.Limit, ledger.MaxList)}
			}
			return a.withLedger(func(l *ledger.Ledger) error {
				all, err := l.List(c.Context(), f)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(append([]ledger.Entry{}, all...))
				}
				return story.Calls(a.stdout, all, a.telling(a.stdout))
			})
		},

		SuggestionsMinimumDistance: 2,
	}
	c.Flags().StringVar(&f.Session, "session", "", "only calls of the session `ID`")
	c.Flags().StringSliceVar(&states, "state", nil, "only calls in `STATE`: "+joined(ledger.States()))
	c.Flags().IntVar(&f.Limit, "limit", 50, "at most `N` calls")
	a.jsonFlag(c, "them")
	c.AddCommand(a.ledgerShowCommand(), a.ledgerSettleCommand())
	return c
}

func (a *app) ledgerShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show KEY",
		Short: "Show all that is known of one call",
		Args:  ledgerArgs("show takes a key", 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withLedger(func(l *ledger.Ledger) error {
				e, err := findCall(c.Context(), l, args[0])
				if err != nil {
					return err
				}
				return a.tellCall(e)
			})
		},
	}
	a.jsonFlag(c, "it")
	return c
}

func (a *app) ledgerSettleCommand() *cobra.Command {
	var note, result string
	c := &cobra.Command{
		Use:   "settle KEY happened|not-happened|unknown",
		Short: "Say whether an unknown call happened",
		Long: `Say whether an unknown call happened. The beginning of its key is enough.

  happened      it is done, and not run again
  not-happened  it may be run when the session goes on
  unknown       nobody can tell: the model is told so, and it is not run again`,
		Args: ledgerArgs("settle takes a key and a verdict", 2),
		RunE: func(c *cobra.Command, args []string) error {
			v := ledger.Verdict(args[1])
			if !slices.Contains(ledger.Verdicts(), v) {
				return usageError{fmt.Errorf("verdict %q (allowed: %s)", args[1], joined(ledger.Verdicts()))}
			}
			if result != "" && v == ledger.NotHappened {
				return usageError{fmt.Errorf("--result: a call that did not happen has none")}
			}
			return a.withLedger(func(l *ledger.Ledger) error {
				e, err := findCall(c.Context(), l, args[0])
				if err != nil {
					return err
				}
				if e, err = l.Settle(c.Context(), e.Key, v, note, result); err != nil {
					return err
				}
				return a.tellCall(e)
			})
		},
	}
	c.Flags().StringVar(&note, "note", "", "`TEXT` that is kept beside it")
	c.Flags().StringVar(&result, "result", "", "`TEXT` that the model is told as the call's result")
	a.jsonFlag(c, "the call")
	return c
}

func ledgerArgs(takes string, n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("ledger %s, got %d arguments", takes, len(args))}
		}
		return nil
	}
}

func (a *app) tellCall(e ledger.Entry) error {
	if a.asJSON {
		return a.printJSON(e)
	}
	return story.Call(a.stdout, e, a.telling(a.stdout))
}

// withLedger opens the chosen profile's ledger for f.
func (a *app) withLedger(f func(*ledger.Ledger) error) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if err := profile.CheckState(dir); err != nil {
		return err
	}
	l, err := ledger.Open(filepath.Join(dir, profile.StateDir))
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}

// maxCandidates are named when the beginning of a key fits several.
const maxCandidates = 10

// findCall is the one call whose key begins so.
func findCall(ctx context.Context, l *ledger.Ledger, prefix string) (ledger.Entry, error) {
	prefix = strings.ToLower(prefix)
	all, err := l.List(ctx, ledger.Filter{Prefix: prefix, Limit: maxCandidates + 1})
	switch {
	case err != nil:
		return ledger.Entry{}, err
	case prefix == "" || len(all) == 0:
		return ledger.Entry{}, fmt.Errorf("no tool call %q in this profile (spillway ledger lists them)", prefix)
	case len(all) == 1:
		return all[0], nil
	}
	var keys []string
	for _, e := range all[:min(len(all), maxCandidates)] {
		keys = append(keys, e.Key)
	}
	if len(all) > maxCandidates {
		keys = append(keys, "…")
	}
	return ledger.Entry{}, usageError{fmt.Errorf("several tool calls begin with %q: %s", prefix, strings.Join(keys, ", "))}
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
