package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/control"
	"spillway/host/drill"
	"spillway/host/profile"
	"spillway/host/state"
	"spillway/host/story"
	"spillway/sdk"
)

// shells are those that a completion can be written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print what makes a shell complete spillway's commands",
		Long: `Print a script that makes a shell complete commands, flags, profiles, targets, models,
ids of requests and names of scenarios. What it offers is read from the running host or
the profile's files; no plugin is started and no vendor asked.

  bash        source <(spillway completion bash)
  zsh         spillway completion zsh > "${fpath[1]}/_spillway"
  fish        spillway completion fish > ~/.config/fish/completions/spillway.fish
  powershell  spillway completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError{fmt.Errorf("completion takes a shell's name, got %q (allowed: %s)", strings.Join(args, " "), strings.Join(shells, ", "))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
		},
	}
}

// offer is what may stand in a place, each with a tab and a description if it has
// one.
type offer func(ctx context.Context) []string

// offers gives commands and flags of root what a shell offers for them.
func (a *app) offers(root *cobra.Command) {
	flags := map[string]offer{
		"profile":   func(context.Context) []string { return a.profileNames() },
		"log-level": func(context.Context) []string { return []string{"debug", "info", "warn", "error"} },
		"model":     a.models,
		"only":      func(context.Context) []string { return a.scenarioNames() },
		"route":     a.targets,
	}
	first := map[string]offer{
		"explain":       a.requestIDs,
		"config schema": a.modules,
		"plugin trust":  a.plugins,
	}
	for _, v := range verbs {
		first[string(v.verb)] = a.targetsAndPolicies
	}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for name, o := range flags {
			if c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
					return o(c.Context()), cobra.ShellCompDirectiveNoFileComp
				}) // an error is for a flag that is not there
			}
		}
		if o, ok := first[pathOf(c)]; ok {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return o(c.Context()), cobra.ShellCompDirectiveNoFileComp
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(root)
}

// existing says which profile is chosen, if it is there: to complete a word makes
// no profile.
func (a *app) existing() (host.Options, bool) {
	home, err := a.home()
	if err != nil {
		return host.Options{}, false
	}
	dir, err := profile.Dir(home, a.profile)
	if err != nil {
		return host.Options{}, false
	}
	_, err = os.Stat(filepath.Join(dir, profile.BaseFile))
	return host.Options{Dir: dir, Home: home, Overlays: a.patches, PluginDirs: pluginDirs(), Env: a.env}, err == nil
}

func (a *app) profileNames() (names []string) {
	home, err := a.home()
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(home, "profiles")) // without it there are none
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func (a *app) scenarioNames() (names []string) {
	for _, s := range drill.Scenarios() {
		about := s.About
		if story.LanguageOf(a.env) == story.Chinese {
			about = s.Chinese
		}
		names = append(names, s.Name+"\t"+about)
	}
	return names
}

// listed are the profile's providers with their models, and its aliases: as its
// files have them, whether keys are set or not.
func (a *app) listed(ctx context.Context) (providers []sdk.Provider, aliases []string) {
	o, ok := a.existing()
	if !ok {
		return nil, nil
	}
	o.VendorsOnly = true
	o.Rehearsal = &host.Rehearsal{StandIn: func(r host.Role) (host.Stand, error) {
		return host.Stand{URL: "http://127.0.0.1"}, nil // nobody is asked
	}}
	rt, err := host.Open(ctx, o)
	if err != nil {
		return nil, nil
	}
	defer rt.Close()
	return rt.Graph().Catalogue().Providers, rt.Graph().Aliases()
}

// targets are providers and routes, and what a running host knows besides.
func (a *app) targets(ctx context.Context) (names []string) {
	providers, _ := a.listed(ctx)
	for _, p := range providers {
		names = append(names, p.Name)
		for _, m := range p.Models {
			names = append(names, p.Name+"/"+m.ID)
		}
	}
	return names
}

func (a *app) targetsAndPolicies(ctx context.Context) []string {
	names := a.targets(ctx)
	if o, ok := a.existing(); ok {
		view, _ := control.NewClient(o.Dir).Status(ctx) // without a host there is nothing
		for _, p := range view.Plugins {
			for _, t := range p.Targets {
				names = append(names, t.Target+"\t"+string(t.State))
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(wordOf(a), wordOf(b)) })
	names = slices.CompactFunc(names, func(a, b string) bool { return wordOf(a) == wordOf(b) })
	return append(names, "policy:fallback", "policy:failover", "policy:retry", "policy:wait", "policy:canary")
}

// wordOf is an offer without its description.
func wordOf(offer string) string {
	word, _, _ := strings.Cut(offer, "\t")
	return word
}

// models are the routes, the models' own names and the aliases.
func (a *app) models(ctx context.Context) []string {
	providers, names := a.listed(ctx)
	names = append(names, "auto")
	for _, p := range providers {
		for _, m := range p.Models {
			names = append(names, p.Name+"/"+m.ID, m.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// offeredRequests is how many requests are offered, the newest first.
const offeredRequests = 20

func (a *app) requestIDs(ctx context.Context) (ids []string) {
	o, ok := a.existing()
	if !ok {
		return nil
	}
	if found, _ := filepath.Glob(filepath.Join(o.Dir, profile.StateDir, "*.db")); found == nil {
		return nil
	}
	store, err := a.openStore(o.Dir)
	if err != nil {
		return nil
	}
	defer store.Close()
	list, err := store.Records().List(ctx, state.Filter{}, offeredRequests)
	if err != nil {
		return nil
	}
	for _, r := range list {
		ids = append(ids, fmt.Sprintf("%s\t%s %s %s", r.ID, r.Started.Local().Format("15:04:05"), r.Head, r.Outcome))
	}
	return ids
}

func (a *app) modules(context.Context) []string {
	o, _ := a.existing()
	return host.Modules(o)
}

func (a *app) plugins(context.Context) (names []string) {
	o, ok := a.existing()
	if !ok {
		return nil
	}
	files, _ := host.PluginFiles(o) // what cannot be read is not offered
	for _, f := range files {
		names = append(names, f.Module)
	}
	return names
}
