package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

// verbs are the operator's commands, each with what it is for.
var verbs = []struct {
	verb  sdk.Verb
	short string
	long  string
}{
	{sdk.VerbClear, "Forget what stands against a target",
		"Forget what stands against a target: its circuit closes, its cooldown begins anew."},
	{sdk.VerbDisable, "Send nothing to a target any more",
		"Send nothing to a target any more, or switch a policy off."},
	{sdk.VerbEnable, "End disable, drain or pin",
		"End what disable, drain or pin ordered for a target."},
	{sdk.VerbPin, "Send everything to one target and nowhere else",
		"Send everything to one target and nowhere else, until it is enabled again. When it is\nout, requests fail: nothing else is asked."},
	{sdk.VerbDrain, "Let what has begun at a target end there, and begin nothing new",
		"Let tool loops that a target serves end there, and send it nothing else."},
}

const targetHelp = `

TARGET is a vendor (deepseek), a route (deepseek/deepseek-flash), a key by its
fingerprint (anthropic#k_1a2b3c4d, which "spillway status" shows), or a policy:
policy:fallback (other models), policy:failover (any other route), policy:retry,
policy:wait, policy:canary.

Orders hold at once for every process of the profile, and survive restarts.`

// operatorCommands are one command for each verb.
func (a *app) operatorCommands() (commands []*cobra.Command) {
	for _, v := range verbs {
		var lasting time.Duration
		var note string
		c := &cobra.Command{
			Use:     string(v.verb) + " TARGET",
			Short:   v.short,
			Long:    v.long + targetHelp,
			Example: fmt.Sprintf("  spillway %s deepseek", v.verb),
			Args: func(_ *cobra.Command, args []string) error {
				if len(args) != 1 {
					return usageError{fmt.Errorf("%s takes one target, got %d arguments (spillway status shows them)", v.verb, len(args))}
				}
				return nil
			},
			RunE: func(c *cobra.Command, args []string) error {
				o := sdk.Order{Verb: v.verb, Target: args[0], Note: note}
				if lasting < 0 {
					return usageError{fmt.Errorf("--for: %s is no time to come", lasting)}
				}
				if lasting > 0 {
					o.Until = time.Now().Add(lasting).Round(time.Second)
				}
				return a.operate(c.Context(), o)
			},
		}
		if v.verb != sdk.VerbClear && v.verb != sdk.VerbEnable {
			c.Flags().DurationVar(&lasting, "for", 0, "`TIME` for which it holds, such as 90m; without it until it is enabled")
			c.Flags().StringVar(&note, "note", "", "`TEXT` that status shows beside it")
		}
		commands = append(commands, c)
	}
	return commands
}

// operate gives an order to the running host, else to the profile's plugins by
// themselves.
func (a *app) operate(ctx context.Context, o sdk.Order) error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	client := control.NewClient(dir)
	var known []sdk.Provider
	err = client.Operate(ctx, o)
	switch {
	case errors.Is(err, control.ErrNotRunning):
		rt, openErr := a.runtime(ctx, false)
		if openErr != nil {
			return openErr
		}
		defer rt.Close()
		err = rt.Operate(ctx, o)
		known = rt.Graph().Catalogue().Providers
	case err == nil:
		// The order stands, whether there is something to add or not.
		if v, statusErr := client.Status(ctx); statusErr == nil {
			known = v.Providers
		}
	}
	if err != nil {
		return err
	}
	if o.Verb != sdk.VerbClear && o.Verb != sdk.VerbEnable {
		if text := unadvertised(known, o.Target, story.Talk{}); text != "" {
			fmt.Fprintln(a.stderr, text+"; the order holds for calls that name it all the same")
		}
	}
	_, err = fmt.Fprintln(a.stdout, story.Ordered(o, a.telling(a.stdout)))
	return err
}

// unadvertised is what a person should know who names a model that its provider
// does not advertise: a slip, or a model that callers use all the same. It is "" for
// any other target.
func unadvertised(known []sdk.Provider, target string, t story.Talk) string {
	name, model, ok := strings.Cut(target, "/")
	name, _, _ = strings.Cut(name, "#")
	p, there := sdk.Catalogue{Providers: known}.Provider(name)
	if !ok || !there {
		return ""
	}
	var models []string
	for _, m := range p.Models {
		models = append(models, m.ID)
	}
	if slices.Contains(models, model) {
		return ""
	}
	return t.Unadvertised(name, model, profile.Nearest(model, models))
}

// Operate implements control.Host.
func (c *controlled) Operate(ctx context.Context, o sdk.Order) error {
	return c.runtime.Operate(ctx, o)
}
