package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"spillway/host/agent/session"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

// slash is a command of the conversation.
type slash struct {
	name, args, about string
	most              int // arguments
	run               func(c *chat, ctx context.Context, args []string) error
}

// slashes are all of them, in the order of /help.
func slashes() []slash {
	return []slash{
		{"/help", "", "this list", 0, (*chat).help},
		{"/status", "", "vendors, routes and plugins: state, since when, until when, why", 0, (*chat).tellStatus},
		{"/explain", "[ID]", "the story of a request, by default the last one", 1, (*chat).explain},
		{"/pin", "ROUTE [TIME]", "send everything to one route and nowhere else, for so long", 2, (*chat).pin},
		{"/enable", "TARGET", "end a pin, or what disable or drain ordered", 1, order(sdk.VerbEnable)},
		{"/clear", "TARGET", "forget what stands against a vendor, a route or a key", 1, order(sdk.VerbClear)},
		{"/model", "[NAME]", "who is asked first: provider/model, a model's name or an alias", 1, (*chat).model},
		{"/tools", "", "the tools that the model may call", 0, (*chat).listTools},
		{"/sessions", "", "the conversations that are kept", 0, (*chat).listSessions},
		{"/export", "[FILE]", "this conversation as Markdown", 1, (*chat).export},
		{"/exit", "", "end the conversation; Ctrl-D does, too", 0, func(*chat, context.Context, []string) error { return errExit }},
	}
}

// isCommand tells a command from a message that begins with a path.
func isCommand(text string) bool {
	name, _, _ := strings.Cut(text, " ")
	return strings.HasPrefix(name, "/") && !strings.Contains(name[1:], "/") && !strings.Contains(text, "\n")
}

func (c *chat) command(ctx context.Context, text string) error {
	words := strings.Fields(text)
	var names []string
	for _, s := range slashes() {
		names = append(names, s.name)
		if s.name != words[0] {
			continue
		}
		if len(words)-1 > s.most {
			return usageError{fmt.Errorf("%s takes %d arguments at most", s.name, s.most)}
		}
		return s.run(c, ctx, words[1:])
	}
	return usageError{fmt.Errorf("unknown command %q%s (/help lists them)", words[0], didYouMean(profile.Nearest(words[0], names)))}
}

func (c *chat) help(context.Context, []string) error {
	for _, s := range slashes() {
		fmt.Fprintf(c.out, "%-22s %s\n", strings.TrimSpace(s.name+" "+s.args), s.about)
	}
	fmt.Fprintf(c.out, "A line that ends with \\ goes on; so does what stands between two lines of %s.\nEsc or Ctrl-C interrupts the agent.\n", fence)
	return nil
}

func (c *chat) tellStatus(ctx context.Context, _ []string) error {
	v, err := (&controlled{runtime: c.runtime}).Status(ctx)
	if err != nil {
		return err
	}
	return story.Status(c.out, v, c.teller.options)
}

func (c *chat) explain(ctx context.Context, args []string) error {
	id := ""
	if len(args) == 1 {
		id = args[0]
	}
	rec, err := find(ctx, c.runtime.Records(), id)
	if errors.Is(err, sdk.ErrNotFound) {
		return errors.New("no such request in this profile")
	}
	if err != nil {
		return err
	}
	return story.Request(c.out, rec, c.teller.options)
}

func (c *chat) pin(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("/pin wants a route, such as deepseek/deepseek-flash")}
	}
	o := sdk.Order{Verb: sdk.VerbPin, Target: args[0]}
	if len(args) == 2 {
		d, err := time.ParseDuration(args[1])
		if err != nil || d <= 0 {
			return usageError{fmt.Errorf("/pin: %q is no time to come, such as 90m", args[1])}
		}
		o.Until = time.Now().Add(d).Round(time.Second)
	}
	return c.runtime.Operate(ctx, o)
}

func order(v sdk.Verb) func(*chat, context.Context, []string) error {
	return func(c *chat, ctx context.Context, args []string) error {
		if len(args) == 0 {
			return usageError{fmt.Errorf("/%s wants a target: a vendor, a route or a key", v)}
		}
		return c.runtime.Operate(ctx, sdk.Order{Verb: v, Target: args[0]})
	}
}

func (c *chat) model(_ context.Context, args []string) error {
	if len(args) == 0 {
		for _, p := range c.runtime.Graph().Catalogue().Providers {
			for _, m := range p.Models {
				fmt.Fprintln(c.out, story.Line(p.Name+"/"+m.ID, maxNote))
			}
		}
		return nil
	}
	meant, err := c.runtime.Resolve(args[0], nil)
	if err != nil {
		return usageError{err}
	}
	c.options.Model = args[0]
	if c.agent != nil {
		c.agent.SetModel(args[0])
	}
	fmt.Fprintf(c.out, "%s is asked first\n", meant.Route)
	if text := unadvertised(c.runtime.Graph().Catalogue().Providers, meant.Route.String()); text != "" {
		fmt.Fprintln(c.out, text)
	}
	return nil
}

func (c *chat) listTools(context.Context, []string) error {
	if c.tools == nil {
		fmt.Fprintln(c.out, "none")
		return nil
	}
	for _, t := range c.tools.tools(c.which) {
		s := t.Spec()
		fmt.Fprintf(c.out, "%-20s %-10s %s\n", s.Name, s.Effect, story.Line(s.Description, maxNote))
	}
	return nil
}

func (c *chat) listSessions(context.Context, []string) error {
	all, err := c.store.List()
	if err != nil {
		return err
	}
	return printSessions(c.out, all)
}

// export writes the conversation to a new file of the working folder, or shows it.
func (c *chat) export(_ context.Context, args []string) error {
	text := session.Markdown(c.session.ID(), c.session.Entries())
	if len(args) == 0 {
		_, err := fmt.Fprint(c.out, story.Block(text))
		return err
	}
	f, err := os.OpenFile(filepath.Clean(args[0]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
