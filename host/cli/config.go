package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"spillway/host/profile"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Look at a profile: check it, print its entries or its schema",
		Args:  unknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(a.checkCommand(), a.dumpCommand(), a.schemaCommand())
	return c
}

func (a *app) dumpCommand() *cobra.Command {
	var base string
	var origins, asJSON bool
	c := &cobra.Command{
		Use:   "dump",
		Short: "Print the entries that a profile's layers make",
		Long: `Print the entries that the layers of a profile make, as JSON. Expressions are not
evaluated, so no secret is shown. Patches that were skipped are warnings on
standard error; files that cannot be used are refused with exit code 2.

With --base only that file and the --patch files are composed, no other layer.

With --origins: where each row was first written, and where the present value of
each of its keys was, as a table. With --json too it is a list of

  {"row": {…}, "place": PLACE, "keys": {KEY: PLACE, …}, "rows": […]}

where PLACE is {"layer", "file", "line", "column"}, and rows are those of a group
in the same form.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			composed, err := a.compose(base)
			if err != nil {
				return usageError{err}
			}
			for _, w := range composed.Warnings {
				fmt.Fprintln(a.stderr, w)
			}
			switch {
			case !origins:
				return a.printJSON(composed)
			case asJSON:
				return a.printJSON(originsOf(composed.Rows))
			}
			return originTable(a.stdout, composed.Rows)
		},
	}
	c.Flags().StringVar(&base, "base", "", "compose this `FILE` and the --patch files only")
	c.Flags().BoolVar(&origins, "origins", false, "tell which layer, file and line each key came from")
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON; without --origins that is the only form")
	return c
}

func (a *app) compose(base string) (*profile.Composed, error) {
	if base == "" {
		dir, err := a.dir()
		if err != nil {
			return nil, err
		}
		home, err := a.home()
		if err != nil {
			return nil, err
		}
		p, err := profile.Load(dir, profile.Options{Home: home, Overlays: a.patches})
		if err != nil {
			return nil, err
		}
		return p.Composed, nil
	}
	layer, err := profile.ReadLayer("base", base)
	if err != nil {
		return nil, err
	}
	rows, err := profile.ParseEntries(layer)
	faults := []error{err}
	var patches []*profile.List
	for _, file := range a.patches {
		layer, err := profile.ReadLayer("--patch", file)
		if err == nil {
			var list *profile.List
			list, err = profile.ParsePatch(layer)
			patches = append(patches, list)
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return profile.Compose(rows, patches...)
}
