package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/profile"
	"spillway/host/state"
	"spillway/host/state/record"
)

func (a *app) dryRunCommand() *cobra.Command {
	var last int
	var all bool
	c := &cobra.Command{
		Use:   "dry-run",
		Short: "Replay recorded failures against a changed profile, without asking a vendor",
		Long: `Replay recorded requests that met a failure, and tell what the profile would do
with them now: with its files as they are, and with the changes of --patch on top.
The plugins run as in earnest; the vendors answer as the record says, and one that
the record does not know is assumed to answer. Nothing is sent, nothing is stored.`,
		Example: "  spillway dry-run --patch changed-chain.yml\n  spillway dry-run --last 500 --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if last < 1 || last > state.MaxList {
				return usageError{fmt.Errorf("--last: got %d (allowed: 1 to %d)", last, state.MaxList)}
			}
			recorded, err := a.failures(c.Context(), last)
			if err != nil {
				return err
			}
			o, err := a.options()
			if err != nil {
				return err
			}
			replayed, err := host.DryRun(c.Context(), o, recorded)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(replayed)
			}
			a.printReplayed(replayed, all)
			return nil
		},
	}
	c.Flags().IntVar(&last, "last", 200, "how many recorded requests to look at, the newest first")
	c.Flags().BoolVar(&all, "all", false, "print those too that would go the same way")
	a.jsonFlag(c, "it")
	return c
}

// failures are the recorded requests that met a failure or passed somebody over,
// oldest first.
func (a *app) failures(ctx context.Context, last int) ([]record.Request, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if err := profile.CheckState(dir); err != nil {
		return nil, err
	}
	store, err := a.openStore(dir)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	list, err := store.Records().List(ctx, state.Filter{}, last)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(r record.Request) bool {
		return !slices.ContainsFunc(r.Attempts, func(t record.Attempt) bool { return t.Code != "" || t.Skipped != nil }) && r.Skipped == nil
	})
	if len(list) == 0 {
		return nil, errors.New("no request of this profile has met a failure yet: there is nothing to replay")
	}
	slices.Reverse(list)
	return list, nil
}

func (a *app) printReplayed(replayed []host.Replayed, all bool) {
	differ, lost, won := 0, 0, 0
	for _, r := range replayed {
		if !r.Same {
			differ++
		}
		before, after := r.Before.Served(), r.After.Served()
		if before && !after {
			lost++
		}
		if after && !before {
			won++
		}
		if r.Same && !all {
			continue
		}
		mark := "differs"
		if r.Same {
			mark = "same"
		}
		fmt.Fprintf(a.stdout, "%s  %s  %s\n  was:  %s\n  now:  %s\n", r.ID, r.Started.Local().Format("2006-01-02 15:04:05"), mark, r.Before, r.After)
		for _, route := range r.Assumed {
			fmt.Fprintf(a.stdout, "        %s is not in the record: assumed to answer\n", route)
		}
	}
	fmt.Fprintf(a.stdout, "%d requests replayed: %d would go another way, %d more would be served, %d fewer\n", len(replayed), differ, won, lost)
}
