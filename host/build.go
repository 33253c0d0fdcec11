package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/supervisor"
	"spillway/profiles"
	"spillway/sdk"
)

// builder makes a graph of a profile's entries. Units of the graph before it are
// taken over where their entries have not changed.
type builder struct {
	runtime *Runtime
	vendors map[string]provider.Vendor
	before  *Graph // nil at the start
	ready   *prepared
	graph   *Graph
	changed bool     // the graph differs from the one before
	changes []change // settings of plugins that stay, to be changed when the graph is put in force
}

// build starts what a profile names. Nothing of before is stopped.
func (r *Runtime) build(ctx context.Context, ready *prepared, before *Graph) (*builder, error) {
	for _, w := range ready.warnings {
		r.log.Warn(w.String())
	}
	vendors, err := provider.ParseVendors(profiles.Vendors)
	if err != nil {
		return nil, err
	}
	b := &builder{runtime: r, vendors: vendors, before: before, ready: ready, graph: &Graph{number: 1}}
	if before != nil {
		b.graph.number = before.number + 1
	}
	g := b.graph
	var providers []*provider.Provider
	for _, e := range ready.entries {
		if kind := kindOf(e.Name); r.opts.VendorsOnly && kind != kindProvider && kind != kindAliases {
			continue
		}
		u := b.unit(ctx, e)
		g.units = append(g.units, u)
		if u.provider != nil {
			providers = append(providers, u.provider)
		}
	}
	if len(providers) == 0 {
		b.drop()
		return nil, fmt.Errorf("profile %s: no provider could start\n%s", r.opts.Dir, g.problems())
	}
	g.providers = provider.NewSet(providers...)
	g.advertised = b.catalogue()
	// Plugins come last: they are given the catalogue.
	var listeners []llm.Listener
	for i, u := range g.units {
		if u.kind == kindPlugin && u.plugin == nil && u.err == nil {
			u = b.plugin(ctx, u)
			g.units[i] = u
		}
		if u.plugin != nil {
			listeners = append(listeners, llm.Listener{Name: u.entry.ID, Hook: u.plugin.Remote()})
		}
	}
	g.priority = priorityOf(g.units)
	var terminal llm.Terminal = g.providers
	if r.opts.terminal != nil {
		terminal = r.opts.terminal
	}
	if h := r.opts.Rehearsal; h != nil && h.Faster > 1 {
		terminal = hurried{terminal, time.Duration(h.Faster)}
	}
	g.waterfall = llm.New(r.log, terminal, listeners...)
	b.changed = before == nil || !slices.EqualFunc(g.units, before.units, func(a, b *unit) bool { return a == b })
	return b, nil
}

const (
	kindProvider  = "provider"
	kindPlugin    = "plugin"
	kindAliases   = "aliases"
	kindGateway   = "gateway"
	kindTelemetry = "telemetry"
	kindStore     = "store"
	kindAgent     = "agent"
	kindTools     = "tools"
)

// unit makes the unit of an entry, or takes over the one before. A plugin is
// only prepared here.
func (b *builder) unit(ctx context.Context, e profile.Entry) *unit {
	u := &unit{entry: e, kind: kindOf(e.Name), err: e.Err}
	if u.err == nil {
		u.config, u.err = configJSON(e)
	}
	if u.err == nil && u.kind == kindPlugin {
		u.binary, u.err = b.ready.copies[e.Name]()
	}
	if u.err == nil && u.kind == kindPlugin {
		u.err = b.runtime.trusted(e, u.binary)
	}
	old := b.old(e.ID)
	if old != nil && old.same(u) {
		if old.err == nil {
			return old
		}
		mended := *old // back to what runs
		mended.err = nil
		return &mended
	}
	if u.err == nil {
		switch u.kind {
		case kindProvider:
			u.provider, u.sim, u.err = b.provider(ctx, e)
		case kindAliases:
			u.aliases, u.err = readAliases(e)
		case kindGateway:
			u.gateway, u.err = readGateway(e)
		case kindTelemetry:
			if b.runtime.opts.Rehearsal == nil {
				u.exporter, u.err = openExporter(e, b.runtime.log)
			} else {
				u.err = validate(e, telemetrySchema)
			}
		case kindStore:
			if _, u.err = readRedis(b.runtime.opts.Dir, e); u.err == nil && b.runtime.opts.Rehearsal == nil && !bytes.Equal(u.config, b.runtime.shared) {
				u.err = errStore
			}
			u.store = u.err == nil
		case kindAgent:
			u.agent, u.err = readAgent(e)
		case kindTools:
			u.tools, u.err = readTools(e)
		}
	}
	if u.err != nil {
		return b.refused(u, old)
	}
	return u
}

func (b *builder) old(id string) *unit {
	if b.before == nil {
		return nil
	}
	return b.before.find(id)
}

// same reports whether u would run as old does.
func (old *unit) same(u *unit) bool {
	return old.runs() && !old.silent && u.err == nil && old.entry.Name == u.entry.Name &&
		bytes.Equal(old.config, u.config) && old.binary.SHA256 == u.binary.SHA256
}

// refused is the unit of an entry that cannot run as it stands: the old one goes
// on, with the reason beside it. The same reason again changes nothing.
func (b *builder) refused(u, old *unit) *unit {
	if old != nil && old.err != nil && old.err.Error() == u.err.Error() && old.kind == u.kind && old.entry.Name == u.entry.Name {
		return old
	}
	level := slog.LevelError
	if errors.Is(u.err, errNoKey) { // a vendor that the user does not have
		level = slog.LevelInfo
	}
	if old != nil && old.runs() && old.kind == u.kind {
		b.runtime.log.Log(context.Background(), level, "entry stays as it was", "entry", u.entry.ID, "err", u.err)
		kept := *old
		kept.err = u.err
		return &kept
	}
	b.runtime.log.Log(context.Background(), level, "entry does not run", "entry", u.entry.ID, "module", u.entry.Name, "err", u.err)
	return u
}

// plugin starts a plugin, or takes over the one that runs, with settings to be
// changed.
func (b *builder) plugin(ctx context.Context, u *unit) *unit {
	r, old := b.runtime, b.old(u.entry.ID)
	if old != nil && old.plugin != nil && !old.silent && old.plugin.Info().Down == "" && old.entry.Name == u.entry.Name && old.binary.SHA256 == u.binary.SHA256 {
		if paths, ok := volatileChange(old.plugin.Manifest().Schema, old.config, u.config); ok {
			if u.err = validate(u.entry, old.plugin.Manifest().Schema); u.err != nil {
				return b.refused(u, old)
			}
			u.plugin = old.plugin
			b.changes = append(b.changes, change{unit: u, old: old, paths: paths})
			return u
		}
	}
	p, err := supervisor.Start(ctx, supervisor.Options{
		Entry: u.entry.ID, Binary: u.binary, Config: u.config, Catalogue: b.graph.advertised,
		State: r.store.Namespace(u.entry.ID, r.owner), Log: r.log,
		Record: r.traces.Decide,
		Report: func(s sdk.Status) {
			r.store.PutStatus(u.entry.ID, s)
			r.followers.statusChanged()
		},
		Changed: r.followers.statusChanged, AskAlways: r.askAlways,
		Probe: r.probe,
		Check: func(m sdk.Manifest) error { return validate(u.entry, m.Schema) },
	})
	if err != nil {
		u.err = placed(u.entry, err)
		return b.refused(u, old)
	}
	u.plugin = p
	return u
}

// catalogue is that of the new graph, with the model lists that were fetched for
// providers that stay.
func (b *builder) catalogue() sdk.Catalogue {
	c := b.graph.providers.Catalogue()
	c.Revision = 1
	if b.before == nil {
		return c
	}
	known := b.before.Catalogue()
	c.Revision = known.Revision + 1
	for i, p := range c.Providers {
		old, now := b.before.find(p.Name), b.graph.find(p.Name)
		if old == nil || now == nil || old.provider != now.provider {
			continue
		}
		if k, ok := known.Provider(p.Name); ok {
			c.Providers[i] = k
		}
	}
	return c
}

// drop stops what was started for a graph that is not used.
func (b *builder) drop() {
	for _, u := range b.graph.units {
		if !b.taken(u) {
			u.stop(context.Background())
		}
	}
}

// taken reports whether a unit's parts run in the graph before too.
func (b *builder) taken(u *unit) bool {
	old := b.old(u.entry.ID)
	return old != nil && (u.plugin != nil && u.plugin == old.plugin || u.provider != nil && u.provider == old.provider ||
		u.exporter != nil && u.exporter == old.exporter)
}

// stop ends a unit. ctx bounds how long a plugin's turns are waited for.
func (u *unit) stop(ctx context.Context) {
	if u.plugin != nil {
		u.plugin.Retire(ctx)
	}
	if u.provider != nil {
		u.provider.Close()
	}
	if u.sim != nil {
		u.sim.Close()
	}
	if u.exporter != nil {
		u.exporter.Stop(ctx)
	}
}

// errBeingWritten is why a plugin's file is not run yet.
var errBeingWritten = errors.New("is still being written")

// install finds a plugin's file by its module's name and makes the copy that
// runs.
func (r *Runtime) install(name string) (supervisor.Binary, error) {
	source, err := r.binary(name)
	if err != nil {
		return supervisor.Binary{}, err
	}
	if beingWritten(source) {
		return supervisor.Binary{}, fmt.Errorf("plugin %q: %w", source, errBeingWritten)
	}
	return supervisor.Install(source, filepath.Join(r.opts.Dir, profile.StateDir, "plugins"))
}

// binary finds a plugin's file by its module's name.
func (r *Runtime) binary(name string) (string, error) {
	if name != filepath.Base(name) || name == "." || name == ".." {
		return "", fmt.Errorf("module %q is no built-in one (%s), and no name of a file in %s", name, strings.Join(modules, ", "), profile.PluginsDir)
	}
	dirs := r.pluginDirs()
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", newCatalogue(r.opts).unknown(name)
}

func (r *Runtime) pluginDirs() []string {
	return append([]string{filepath.Join(r.opts.Dir, profile.PluginsDir)}, r.opts.PluginDirs...)
}

func configJSON(e profile.Entry) (json.RawMessage, error) {
	if e.Config == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(e.Config)
}

func validate(e profile.Entry, schema []byte) error {
	if len(schema) == 0 {
		return nil
	}
	faults, err := profile.Validate(e.Config, schema)
	if err != nil {
		return err
	}
	return located(faults)
}

// placed gives a plugin's own faults their places.
func placed(e profile.Entry, err error) error {
	if faults, ok := errors.AsType[sdk.Faults](err); ok {
		return located(profile.Place(e.Config, faults))
	}
	return err
}

// located is faults with their places as one error, nil for none.
func located(faults []profile.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	return &InvalidError{Faults: faults}
}

// InvalidError is everything that is wrong with an entry's config.
type InvalidError struct{ Faults []profile.Fault }

// Error gives one fault a line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
