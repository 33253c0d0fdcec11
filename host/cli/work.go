package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/agent/ledger"
	"spillway/host/agent/session"
	"spillway/host/profile"
	"spillway/host/story"
)

// Which tools the model may call.
const (
	toolsAll      = "all"
	toolsReadOnly = "read-only"
	toolsNone     = "none"
)

// work is an agent's session with all that it needs.
type work struct {
	runtime *host.Runtime
	session *session.Session
	store   *session.Store
	options agent.Options
	talk    story.Talk
	tools   *toolbox     // nil: the model may call none
	agent   *agent.Agent // once it works
	which   string       // tools the model may call
	flag    string       // of commands that are told to the user: which profile
	yes     bool
	closers []func() error
}

// begin opens what an agent works with. Close closes it.
// Watch keeps the profile in step with its files.
func (a *app) begin(ctx context.Context, o *workOptions, watch bool) (_ *work, err error) {
	w := &work{yes: o.yes, which: o.tools, talk: a.talk()}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if w.runtime, err = a.runtime(ctx, watch); err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { w.runtime.Close(); return nil })
	w.flag = a.profileFlag(w.runtime.Dir())
	row := w.runtime.Graph().Agent()
	w.options = agent.Options{
		Models: w.runtime, Model: o.model, System: row.System, MaxTurns: row.MaxTurns, MaxWait: row.MaxWait,
	}
	if o.model == "auto" {
		w.options.Model = row.Model
	}
	if _, err := w.runtime.Resolve(w.options.Model, nil); err != nil {
		return nil, usageError{err}
	}
	w.store = session.NewStore(filepath.Join(w.runtime.Dir(), profile.StateDir, session.Dir))
	if err := w.openSession(a, o); err != nil {
		return nil, err
	}
	return w, w.openTools(ctx, a, o.tools)
}

// openSession begins a session, or goes on with one.
func (w *work) openSession(a *app, o *workOptions) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	id := o.resume
	switch {
	case o.noSession:
		w.session = session.NewMemory(session.NewID(), folder)
	case o.last:
		if id, err = w.store.Last(folder); errors.Is(err, session.ErrNotFound) {
			err = toldError{err, w.talk.NoSessionHere(folder)}
		}
		if err != nil {
			return usageError{fmt.Errorf("--continue: %w", err)}
		}
		fallthrough
	case o.resume != "":
		w.session, err = w.store.Open(id)
		err = noSession(err, id, w.talk)
	default:
		w.session, err = w.store.Begin(folder)
	}
	if err != nil {
		return err
	}
	w.closers = append(w.closers, w.session.Close)
	if torn := w.session.Torn(); torn > 0 {
		fmt.Fprintln(a.stderr, w.talk.Torn(w.session.ID(), torn))
	}
	w.options.Session = w.session
	if w.session.Kept() {
		w.options.Child = w.store.Child
	}
	return nil
}

// openTools opens the tools of the profile's rows, and the ledger for them.
func (w *work) openTools(ctx context.Context, a *app, which string) error {
	rows := w.runtime.Graph().Tools()
	if which == toolsNone || len(rows) == 0 {
		return nil
	}
	log, err := a.logger()
	if err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	w.tools = &toolbox{
		env: a.env, log: log, folder: w.session.Entries()[0].Folder,
		closed: slices.Concat(a.patches, []string{
			filepath.Join(home, profile.PatchFile),
			filepath.Join(w.runtime.Dir(), profile.BaseFile), filepath.Join(w.runtime.Dir(), profile.PatchFile),
			filepath.Join(w.runtime.Dir(), profile.PluginsDir), filepath.Join(w.runtime.Dir(), profile.StateDir),
		}),
	}
	w.closers = append(w.closers, w.tools.Close)
	w.tools.open(ctx, rows,
		func(entry string, err error) { fmt.Fprintf(a.stderr, "spillway: %s\n", w.talk.LeftOut(entry, err)) },
		func(servers []string) { fmt.Fprintf(a.stderr, "spillway: %s\n", w.talk.Starting(servers)) },
	)
	l, err := ledger.Open(filepath.Join(w.runtime.Dir(), profile.StateDir))
	if err != nil {
		return err
	}
	w.closers = append(w.closers, l.Close)
	w.options.Ledger = l
	return nil
}

// Close ends everything, what was opened last first.
func (w *work) Close() {
	for _, end := range slices.Backward(w.closers) {
		_ = end() // all that matters was on the disk before
	}
}
