package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/host/story"
	"spillway/profiles"
	"spillway/sdk"
)

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "The tour: two vendors are down, the answer comes all the same",
		Long: `Three simulated vendors run on this machine: Claude's plan is used up, Kimi has
closed the account, DeepSeek answers. One prompt goes through the real failover
plugin, in a process of its own, and real HTTP. No key, no network.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.demo(c.Context()) },
	}
	a.jsonFlag(c, "the story")
	return c
}

const demoPrompt = "What does a spillway do?"

func (a *app) demo(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "spillway-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := profiles.Write("demo", dir); err != nil {
		return err
	}
	log, err := a.logger()
	if err != nil {
		return err
	}
	rt, err := host.Open(ctx, host.Options{Dir: dir, PluginDirs: pluginDirs(), Env: a.env, Log: log, Memory: true})
	if err != nil {
		return err
	}
	defer rt.Close()
	for _, e := range rt.Graph().Entries() {
		if e.Error != "" {
			return fmt.Errorf("%s: %s", e.ID, e.Error)
		}
	}
	if a.asJSON {
		quiet := *a
		quiet.stdout, quiet.stderr, quiet.asJSON = io.Discard, io.Discard, false
		id, err := quiet.ask(ctx, rt, demoPrompt)
		if err != nil {
			return err
		}
		rec, err := rt.Records().Get(ctx, id)
		if err != nil {
			return err
		}
		return json.NewEncoder(a.stdout).Encode(rec)
	}
	fmt.Fprintf(a.stdout, "> %s\n\n", demoPrompt)
	id, err := a.ask(ctx, rt, demoPrompt)
	if err != nil {
		return err
	}
	rec, err := rt.Records().Get(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return story.Request(a.stdout, rec, a.telling(a.stdout))
}

// ask asks once, without tools, and returns the request's id.
func (a *app) ask(ctx context.Context, rt *host.Runtime, prompt string) (string, error) {
	t := a.teller()
	t.live = true // it is the tour: the answer is seen as it comes
	defer t.Close()
	s := session.NewMemory(session.NewID(), "")
	w, err := agent.New(agent.Options{Models: rt, Session: s, Tell: t.Tell})
	if err != nil {
		return "", err
	}
	if err := w.Send(ctx, sdk.TextPart(prompt)); err != nil {
		return "", err
	}
	entries := s.Entries()
	return entries[len(entries)-1].Request, nil
}
