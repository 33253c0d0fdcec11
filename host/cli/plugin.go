package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/control"
	"spillway/host/story"
)

func (a *app) pluginCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "plugin",
		Short: "Look at plugins, and trust them",
		Args:  unknownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(a.pluginListCommand(), a.pluginTrustCommand())
	return c
}

// pluginRow is a plugin's file and, if a host runs it, its process.
type pluginRow struct {
	host.PluginFile
	Running []story.PluginView `json:"running"`
}

func (a *app) pluginListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the plugins that the profile can name: file, checksum, trust, process",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := a.pluginOptions()
			if err != nil {
				return err
			}
			files, err := host.PluginFiles(o)
			if err != nil {
				return err
			}
			view, _ := control.NewClient(o.Dir).Status(c.Context()) // without a host nothing runs
			rows := make([]pluginRow, len(files))
			for i, f := range files {
				rows[i] = pluginRow{PluginFile: f, Running: []story.PluginView{}}
				for _, e := range view.Entries {
					for _, p := range view.Plugins {
						if e.Module == f.Module && e.ID == p.Entry && p.PID != "" {
							rows[i].Running = append(rows[i].Running, p)
						}
					}
				}
			}
			if a.asJSON {
				return a.printJSON(rows)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "module\tsha256\ttrust\tversion\tpid\trestarts\tfile")
			for _, r := range rows {
				trust := "owner"
				if r.Pinned {
					trust = "pinned"
				}
				if r.Error != "" {
					trust = r.Error
				}
				version, pid, restarts := "", "", ""
				for _, p := range r.Running {
					version, pid, restarts = p.Version, p.PID, fmt.Sprint(p.Restarts)
				}
				fmt.Fprintf(w, "%s\t%.12s\t%s\t%s\t%s\t%s\t%s\n", r.Module, r.SHA256, trust, cmp.Or(version, "-"), cmp.Or(pid, "-"), cmp.Or(restarts, "-"), r.Path)
			}
			return w.Flush()
		},
	}
	a.jsonFlag(c, "them")
	return c
}

func (a *app) pluginTrustCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trust MODULE",
		Short: "Pin the present file of a plugin by its checksum",
		Long: `Pin the present file of a plugin by its SHA-256. A row of the profile that says
"trust: pinned" runs no other file; the pin is kept in the profile's
state/trust.json. A pin of an earlier file ends.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("plugin trust takes one module's name, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := a.pluginOptions()
			if err != nil {
				return err
			}
			f, err := host.PinPlugin(o, args[0])
			if err != nil {
				return usageError{err}
			}
			fmt.Fprintf(a.stdout, "%s is trusted as it is now: %s\n", f.Path, f.SHA256)
			return nil
		},
	}
}

func (a *app) pluginOptions() (host.Options, error) {
	dir, err := a.dir()
	return host.Options{Dir: dir, PluginDirs: pluginDirs()}, err
}
