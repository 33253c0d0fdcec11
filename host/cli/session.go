package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"spillway/host/agent/session"
	"spillway/host/profile"
	"spillway/host/story"
)

func (a *app) sessionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "List, show, export and delete the agent's conversations",
		Long: `The conversations of "run" and "chat", the last 1 000 of them. They hold prompts,
answers and what tools said, and lie in the profile's state folder for its owner
alone to read.`,
		Args: unknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },

		SuggestionsMinimumDistance: 2,
	}
	c.AddCommand(a.sessionListCommand(), a.sessionShowCommand(), a.sessionExportCommand(), a.sessionDeleteCommand())
	return c
}

func (a *app) sessions() (*session.Store, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if err := profile.CheckState(dir); err != nil {
		return nil, err
	}
	return session.NewStore(filepath.Join(dir, profile.StateDir, session.Dir)), nil
}

// oneSession is the Args of a command about one session.
func oneSession(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one session's id, got %d arguments (spillway session list shows them)", pathOf(c), len(args))}
	}
	return nil
}

// read is the entries of a session that a person named.
func (a *app) readSession(id string) ([]session.Entry, error) {
	store, err := a.sessions()
	if err != nil {
		return nil, err
	}
	entries, err := store.Read(id)
	return entries, noSession(err, id, a.talk())
}

func (a *app) sessionListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the one that was used last first",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.sessions()
			if err != nil {
				return err
			}
			all, err := store.List()
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(append([]session.Info{}, all...))
			}
			return story.Sessions(a.stdout, all, a.telling(a.stdout))
		},
	}
	a.jsonFlag(c, "it")
	return c
}

func (a *app) sessionShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session: what was said, which tools ran, what was withdrawn",
		Args:  oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			entries, err := a.readSession(args[0])
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(entries)
			}
			return a.printMarkdown(args[0], entries)
		},
	}
	a.jsonFlag(c, "its entries")
	return c
}

// printMarkdown prints a session, of which nothing drives a terminal.
func (a *app) printMarkdown(id string, entries []session.Entry) error {
	text := session.Markdown(id, entries)
	if isTerminal(a.stdout) {
		text = story.Block(text)
	}
	_, err := fmt.Fprint(a.stdout, text)
	return err
}

func (a *app) sessionExportCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Print a session as Markdown or as lines of JSON",
		Args:  oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			entries, err := a.readSession(args[0])
			if err != nil {
				return err
			}
			switch format {
			case "markdown":
				return a.printMarkdown(args[0], entries)
			case "jsonl":
				enc := json.NewEncoder(a.stdout)
				for _, e := range entries {
					if err := enc.Encode(e); err != nil {
						return err
					}
				}
				return nil
			}
			return usageError{fmt.Errorf("--format: got %q (allowed: markdown, jsonl)", format)}
		},
	}
	c.Flags().StringVar(&format, "format", "markdown", "`FORM`: markdown or jsonl")
	return c
}

func (a *app) sessionDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a session; the ledger of tool calls keeps what they were",
		Args:  oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.sessions()
			if err != nil {
				return err
			}
			return noSession(store.Delete(args[0]), args[0], a.talk())
		},
	}
}
