package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"spillway/host"
	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

// Status implements control.Host.
func (c *controlled) Status(ctx context.Context) (story.StatusView, error) {
	v := c.runtime.Status(ctx)
	v.Listen = c.address
	return v, nil
}

// Request implements control.Host.
func (c *controlled) Request(ctx context.Context, id string) (record.Request, error) {
	return find(ctx, c.runtime.Records(), id)
}

func find(ctx context.Context, r *state.Records, id string) (record.Request, error) {
	if id == "" {
		return r.Last(ctx)
	}
	return r.Get(ctx, id)
}

func (a *app) statusCommand() *cobra.Command {
	var live bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show vendors, routes and plugins: state, since when, until when, why",
		Long: `Show vendors, routes and plugins: state, since when, until when, why. Where nobody
serves the profile it is what the last host has left; with --live that is an error,
which makes the command a check of a service's health.`,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			v, err := control.NewClient(dir).Status(c.Context())
			if errors.Is(err, control.ErrNotRunning) && !live {
				v, err = a.storedStatus(c.Context(), dir)
			}
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(v)
			}
			return story.Status(a.stdout, v, a.telling(a.stdout))
		},
	}
	c.Flags().BoolVar(&live, "live", false, "fail where no host runs")
	a.jsonFlag(c, "it")
	return c
}

// storedStatus is what the last host has left in the store.
func (a *app) storedStatus(ctx context.Context, dir string) (story.StatusView, error) {
	store, err := a.openStore(dir)
	if err != nil {
		return story.StatusView{}, err
	}
	defer store.Close()
	return host.StoredStatus(ctx, store)
}

// openStore opens the store to look at it. What cannot be read is an error of
// the reading, so the log tells only what was done about it.
func (a *app) openStore(dir string) (*state.Store, error) {
	if err := profile.CheckState(dir); err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	return state.Open(filepath.Join(dir, profile.StateDir), state.Options{Log: log, Limit: patience})
}

// patience is what a person waits for each of the store's steps, several of which
// make a command. A machine under load takes longer than a plugin may.
const patience = 500 * time.Millisecond

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (a *app) explainCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain [ID]",
		Short: "Tell the story of one request: who was asked, what happened, why",
		Long: `Tell the story of one request, the last one if no ID is given. Every answer of
"spillway serve" carries its id in the header X-Spillway-Request-Id.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{fmt.Errorf("explain takes one request's id, got %d arguments", len(args))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			id := ""
			if len(args) == 1 {
				id = args[0]
			}
			rec, err := a.record(c.Context(), id)
			if errors.Is(err, sdk.ErrNotFound) && id == "" {
				return errors.New("no request has been made in this profile yet")
			}
			if errors.Is(err, sdk.ErrNotFound) {
				return fmt.Errorf("no request %q in this profile (the last 10 000 of 30 days are kept)", id)
			}
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(rec)
			}
			return story.Request(a.stdout, rec, a.telling(a.stdout))
		},
	}
	a.jsonFlag(c, "the record")
	return c
}

func (a *app) record(ctx context.Context, id string) (record.Request, error) {
	dir, err := a.dir()
	if err != nil {
		return record.Request{}, err
	}
	rec, err := control.NewClient(dir).Request(ctx, id)
	if !errors.Is(err, control.ErrNotRunning) {
		return rec, err
	}
	store, err := a.openStore(dir)
	if err != nil {
		return record.Request{}, err
	}
	defer store.Close()
	return find(ctx, store.Records(), id)
}
