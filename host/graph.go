package host

import (
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
	"sync"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/sim"
	"spillway/host/supervisor"
	"spillway/profiles"
	"spillway/sdk"
)

// Graph is what runs of a profile: its providers, its plugins and the chain
// they form.
type Graph struct {
	entries   []Entry
	providers *provider.Set
	plugins   []*supervisor.Plugin
	waterfall *llm.Waterfall
	sims      []*sim.Server

	mu         sync.Mutex
	advertised sdk.Catalogue // with the model lists that were fetched
}

// Entry is one row of the profile as it was started.
type Entry struct {
	ID     string `json:"id"`
	Module string `json:"module"`
	Kind   string `json:"kind"`            // "provider", "plugin", or "" if it could not be told
	Error  string `json:"error,omitempty"` // why it does not run
}

// Entries lists the profile's rows.
func (g *Graph) Entries() []Entry { return slices.Clone(g.entries) }

// Plugins describes the plugins that run, in the order of the chain.
func (g *Graph) Plugins() []supervisor.Info {
	infos := make([]supervisor.Info, len(g.plugins))
	for i, p := range g.plugins {
		infos[i] = p.Info()
	}
	return infos
}

// Catalogue lists providers and models.
func (g *Graph) Catalogue() sdk.Catalogue { return g.catalogue() }

func (g *Graph) catalogue() sdk.Catalogue {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.advertised
}

// advertise takes in a fetched model list. What the vendor data knows of a
// model stays known.
func (g *Graph) advertise(ctx context.Context, name string, ids []string) {
	g.mu.Lock()
	c := g.advertised
	c.Revision++
	c.Providers = slices.Clone(c.Providers)
	for i, p := range c.Providers {
		if p.Name != name {
			continue
		}
		known := map[string]sdk.Model{}
		for _, m := range p.Models {
			known[m.ID] = m
		}
		models := make([]sdk.Model, len(ids))
		for j, id := range ids {
			models[j] = known[id]
			models[j].ID = id
		}
		c.Providers[i].Models = models
	}
	g.advertised = c
	g.mu.Unlock()
	for _, p := range g.plugins {
		p.SetCatalogue(ctx, c)
	}
}

// close stops plugins, last one first, and frees the rest.
func (g *Graph) close() {
	for _, p := range slices.Backward(g.plugins) {
		p.Stop()
	}
	g.providers.Close()
	for _, s := range g.sims {
		s.Close()
	}
}

// build starts what a profile names.
func (r *Runtime) build(ctx context.Context, p *profile.Profile) (*Graph, error) {
	for _, w := range p.Warnings {
		r.log.Warn(w.String())
	}
	entries, warnings := p.Entries(r.opts.Env)
	for _, w := range warnings {
		r.log.Warn(w.String())
	}
	vendors, err := provider.ParseVendors(profiles.Vendors)
	if err != nil {
		return nil, err
	}
	b := &builder{runtime: r, graph: &Graph{}, vendors: vendors}
	var providers []*provider.Provider
	var plugins []profile.Entry
	for _, e := range entries {
		switch made, err := b.provider(ctx, e); {
		case made != nil:
			providers = append(providers, made)
			b.note(e, "provider", nil)
		case err != nil:
			b.note(e, "provider", err)
		default:
			plugins = append(plugins, e)
		}
	}
	g := b.graph
	g.providers = provider.NewSet(providers...)
	if len(providers) == 0 {
		g.close()
		return nil, fmt.Errorf("profile %s: no provider could start\n%s", r.opts.Dir, g.problems())
	}
	g.advertised = g.providers.Catalogue()
	g.advertised.Revision = 1

	var listeners []llm.Listener
	for _, e := range plugins {
		made, err := b.plugin(ctx, e)
		b.note(e, "plugin", err)
		if err != nil {
			continue
		}
		g.plugins = append(g.plugins, made)
		listeners = append(listeners, llm.Listener{Name: e.ID, Hook: made.Remote()})
	}
	g.waterfall = llm.New(r.log, g.providers, listeners...)
	return g, nil
}

// problems lists the entries that do not run, one a line.
func (g *Graph) problems() string {
	var lines []string
	for _, e := range g.entries {
		if e.Error != "" {
			lines = append(lines, fmt.Sprintf("  %s: %s", e.ID, e.Error))
		}
	}
	if lines == nil {
		lines = []string{"  it names none"}
	}
	return strings.Join(lines, "\n")
}

// builder makes one graph.
type builder struct {
	runtime *Runtime
	graph   *Graph
	vendors map[string]provider.Vendor
}

func (b *builder) note(e profile.Entry, kind string, err error) {
	entry := Entry{ID: e.ID, Module: e.Name, Kind: kind}
	if err != nil {
		entry.Error = err.Error()
		level := slog.LevelError
		if errors.Is(err, errNoKey) { // a vendor that the user does not have
			level = slog.LevelInfo
		}
		b.runtime.log.Log(context.Background(), level, "entry does not run", "entry", e.ID, "module", e.Name, "err", err)
	}
	b.graph.entries = append(b.graph.entries, entry)
}

// plugin starts an entry whose module is a binary.
func (b *builder) plugin(ctx context.Context, e profile.Entry) (*supervisor.Plugin, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	r := b.runtime
	source, err := r.binary(e.Name)
	if err != nil {
		return nil, err
	}
	bin, err := supervisor.Install(source, filepath.Join(r.opts.Dir, profile.StateDir, "plugins"))
	if err != nil {
		return nil, err
	}
	config, err := configJSON(e)
	if err != nil {
		return nil, err
	}
	p, err := supervisor.Start(ctx, supervisor.Options{
		Entry: e.ID, Binary: bin, Config: config, Catalogue: b.graph.advertised,
		State: r.store.Namespace(e.ID, r.owner), Log: r.log,
		Record: r.traces.Decide,
		Report: func(s sdk.Status) { r.store.PutStatus(e.ID, s) },
		Probe:  r.probe,
		Check:  func(m sdk.Manifest) error { return validate(e, m.Schema) },
	})
	if faults, ok := errors.AsType[sdk.Faults](err); ok {
		return nil, located(profile.Place(e.Config, faults))
	}
	return p, err
}

// binary finds a plugin's file by its module's name.
func (r *Runtime) binary(name string) (string, error) {
	if name != filepath.Base(name) || name == "." || name == ".." {
		return "", fmt.Errorf("module %q is no built-in one (%s), and no name of a file in %s", name, strings.Join(modules, ", "), profile.PluginsDir)
	}
	dirs := append([]string{filepath.Join(r.opts.Dir, profile.PluginsDir)}, r.opts.PluginDirs...)
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("no module %q: it is none of the built-in ones (%s), and no file in %s", name, strings.Join(modules, ", "), strings.Join(dirs, " or "))
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

// located is faults with their places as one error, nil for none.
func located(faults []profile.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return errors.New(strings.Join(lines, "\n"))
}

// resolve finds the route of a client's model name; see Runtime.Resolve.
func (g *Graph) resolve(model string, d dialect.Dialect) (sdk.Route, error) {
	c := g.catalogue()
	if model == "" || model == "auto" {
		for _, p := range c.Providers {
			if len(p.Models) > 0 {
				return sdk.Route{Provider: p.Name, Model: p.Models[0].ID}, nil
			}
		}
		return sdk.Route{}, fmt.Errorf("%w: no provider of this profile lists a model; name one as provider/model", ErrNoRoute)
	}
	if name, rest, ok := strings.Cut(model, "/"); ok && rest != "" {
		if _, ok := c.Provider(name); ok {
			return sdk.Route{Provider: name, Model: rest}, nil
		}
	}
	for _, p := range c.Providers {
		for _, m := range p.Models {
			if m.ID == model {
				return sdk.Route{Provider: p.Name, Model: model}, nil
			}
		}
	}
	if name, ok := g.providers.Speaker(d); ok {
		return sdk.Route{Provider: name, Model: model}, nil
	}
	return sdk.Route{}, fmt.Errorf("%w: no provider serves model %q", ErrNoRoute, model)
}
