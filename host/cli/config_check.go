package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"spillway/host"
)

func (a *app) checkCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Tell every fault of a profile, with its place and what is allowed",
		Long: `Read every layer of the profile and tell everything that is wrong with it, one
fault a line:

  error: FILE:LINE:COLUMN: ENTRY: SETTING: what is wrong, got VALUE (allowed: …); nearest known: …

An error keeps a file or an entry from being used. A warning is something that
takes no effect, such as a patch that finds no row. An info is no fault: a
provider without a key does not run.

Nothing is started and no vendor is asked; only a plugin that was not seen before
is run for a moment, to ask it for the schema of its settings.

Exit codes: 0 no error; 2 errors, or with --strict also warnings.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.check(c.Context(), strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	a.jsonFlag(c, "the findings")
	return c
}

func (a *app) check(ctx context.Context, strict bool) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	r, err := host.Check(ctx, o)
	if err != nil {
		return usageError{err}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; strict && f.Severity == host.SeverityWarning {
			f.Severity = host.SeverityError
		}
	}
	failed := r.Count(host.SeverityError)
	if a.asJSON {
		err = a.printJSON(r)
	} else {
		err = a.tellFindings(r, failed, r.Count(host.SeverityWarning))
	}
	if err == nil && failed > 0 {
		return usageError{quietError{errors.New("the profile has faults")}}
	}
	return err
}

func (a *app) tellFindings(r *host.Report, failed, warned int) error {
	for _, f := range r.Findings {
		fmt.Fprintln(a.stdout, f)
	}
	verdict := "no fault"
	switch {
	case failed > 0 && warned > 0:
		verdict = count(failed, "error", "errors") + ", " + count(warned, "warning", "warnings")
	case failed > 0:
		verdict = count(failed, "error", "errors")
	case warned > 0:
		verdict = count(warned, "warning", "warnings")
	}
	_, err := fmt.Fprintf(a.stdout, "profile %s: %s, %s\n", r.Profile, count(r.Entries, "entry", "entries"), verdict)
	return err
}

// count says how many there are of something.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
