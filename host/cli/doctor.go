package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"spillway/host/doctor"
	"spillway/host/profile"
)

func (a *app) doctorCommand() *cobra.Command {
	var o doctor.Options
	var all bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps this profile from working on this machine",
		Long: `Look at the profile, its keys, plugins, files and store, the port that serve wants,
the clock, and other hosts of the profile. Each finding says how to mend it. Keys are
told by the names of their variables, never by value.

With --online each vendor is asked for its model list with each key, which costs
nothing. Otherwise nothing is sent anywhere.

Exit codes: 0 no error; 1 errors; 2 the command is wrong, or there is no profile.`,
		Example: "  spillway doctor\n  spillway doctor --online",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), o, all) },
	}
	f := c.Flags()
	f.BoolVar(&o.Online, "online", false, "ask the vendors whether they take the keys")
	f.StringVar(&o.Listen, "listen", defaultListen, "`ADDRESS` that serve is to listen on")
	f.BoolVar(&all, "all", false, "tell what is all right as well")
	a.jsonFlag(c, "the findings")
	return c
}

func (a *app) doctor(ctx context.Context, o doctor.Options, all bool) (err error) {
	if o.Host, err = a.options(); err != nil {
		return err
	}
	if err := profile.CheckState(o.Host.Dir); err != nil {
		return err
	}
	r, err := doctor.Examine(ctx, o)
	if err != nil {
		return err
	}
	failed := r.Count(doctor.Error)
	if a.asJSON {
		err = a.printJSON(r)
	} else {
		err = a.tellExamination(r, all)
	}
	if err == nil && failed > 0 {
		return quietError{errors.New("something does not work")}
	}
	return err
}

func (a *app) tellExamination(r *doctor.Report, all bool) error {
	for _, f := range r.Findings {
		if f.State == doctor.OK && !all {
			continue
		}
		fmt.Fprintf(a.stdout, "%-7s  %-8s %s\n", f.State, f.Check, f.What)
		if f.Mend != "" {
			fmt.Fprintf(a.stdout, "%-7s  %-8s to mend it: %s\n", "", "", f.Mend)
		}
	}
	_, err := fmt.Fprintf(a.stdout, "profile %s: %d looked at, %s, %s\n", r.Profile, len(r.Findings),
		count(r.Count(doctor.Error), "error", "errors"), count(r.Count(doctor.Warning), "warning", "warnings"))
	return err
}
