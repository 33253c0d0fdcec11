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
	"spillway/host/agent/tool"
	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

// slash is a command of the conversation. What it is for, story.Talk knows.
type slash struct {
	name, args string
	most       int // arguments
	run        func(c *chat, ctx context.Context, args []string) error
}

// slashes are all of them, in the order of /help.
func slashes() []slash {
	return []slash{
		{"/help", "", 0, (*chat).help},
		{"/status", "", 0, (*chat).tellStatus},
		{"/explain", "[ID]", 1, (*chat).explain},
		{"/pin", "ROUTE [TIME]", 2, (*chat).pin},
		{"/enable", "TARGET", 1, order(sdk.VerbEnable)},
		{"/clear", "TARGET", 1, order(sdk.VerbClear)},
		{"/model", "[NAME]", 1, (*chat).model},
		{"/tools", "", 0, (*chat).listTools},
		{"/sessions", "", 0, (*chat).listSessions},
		{"/export", "[FILE]", 1, (*chat).export},
		{"/exit", "", 0, func(*chat, context.Context, []string) error { return errExit }},
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
			return usageError{errors.New(c.talk.TooMany(s.name, s.most))}
		}
		return s.run(c, ctx, words[1:])
	}
	return usageError{errors.New(c.talk.UnknownCommand(words[0], profile.Nearest(words[0], names)))}
}

func (c *chat) help(context.Context, []string) error {
	for _, s := range slashes() {
		fmt.Fprintf(c.out, "%-22s %s\n", strings.TrimSpace(s.name+" "+s.args), c.talk.Command(s.name))
	}
	fmt.Fprintln(c.out, c.talk.HelpEnd(fence))
	return nil
}

func (c *chat) tellStatus(ctx context.Context, _ []string) error {
	v, err := (&controlled{runtime: c.runtime}).Status(ctx)
	if err != nil {
		return err
	}
	return story.Status(c.out, v, c.talk.Options)
}

func (c *chat) explain(ctx context.Context, args []string) error {
	id := ""
	if len(args) == 1 {
		id = args[0]
	}
	rec, err := find(ctx, c.runtime.Records(), id)
	if errors.Is(err, sdk.ErrNotFound) {
		return errors.New(c.talk.NoRequest())
	}
	if err != nil {
		return err
	}
	return story.Request(c.out, rec, c.talk.Options)
}

func (c *chat) pin(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New(c.talk.WantsRoute("/pin"))}
	}
	o := sdk.Order{Verb: sdk.VerbPin, Target: args[0]}
	if len(args) == 2 {
		d, err := time.ParseDuration(args[1])
		if err != nil || d <= 0 {
			return usageError{errors.New(c.talk.NoTime(args[1]))}
		}
		o.Until = time.Now().Add(d).Round(time.Second)
	}
	return c.order(ctx, o)
}

// order gives an order and says what holds now.
func (c *chat) order(ctx context.Context, o sdk.Order) error {
	if err := c.runtime.Operate(ctx, o); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.out, story.Ordered(o, c.talk.Options))
	return err
}

func order(v sdk.Verb) func(*chat, context.Context, []string) error {
	return func(c *chat, ctx context.Context, args []string) error {
		if len(args) == 0 {
			return usageError{errors.New(c.talk.WantsTarget("/" + string(v)))}
		}
		return c.order(ctx, sdk.Order{Verb: v, Target: args[0]})
	}
}

// maxRoute bounds a route in a list, in columns.
const maxRoute = 100

func (c *chat) model(_ context.Context, args []string) error {
	if len(args) == 0 {
		for _, p := range c.runtime.Graph().Catalogue().Providers {
			for _, m := range p.Models {
				fmt.Fprintln(c.out, story.Line(p.Name+"/"+m.ID, maxRoute))
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
	fmt.Fprintln(c.out, c.talk.AskedFirst(meant.Route))
	if text := unadvertised(c.runtime.Graph().Catalogue().Providers, meant.Route.String(), c.talk); text != "" {
		fmt.Fprintln(c.out, text)
	}
	return nil
}

func (c *chat) listTools(context.Context, []string) error {
	var all []tool.Spec
	if c.tools != nil {
		for _, t := range c.tools.tools(c.which) {
			all = append(all, t.Spec())
		}
	}
	_, err := fmt.Fprint(c.out, c.talk.Tools(all))
	return err
}

func (c *chat) listSessions(context.Context, []string) error {
	all, err := c.store.List()
	if err != nil {
		return err
	}
	return story.Sessions(c.out, all, c.talk.Options)
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
