package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/provider"
	"spillway/host/sim"
	"spillway/host/supervisor"
	"spillway/sdk"
)

// Graph is what runs of a profile: its entries and the chain that their plugins
// form. It does not change, but for the model lists that vendors advertise;
// another profile is another graph, which shares the units that stay the same.
type Graph struct {
	number    uint64 // rises by one with each graph of the runtime, from 1
	units     []*unit
	providers *provider.Set
	waterfall *llm.Waterfall
	calls     traffic
	priority  []string

	mu         sync.Mutex
	advertised sdk.Catalogue // with the model lists that were fetched
}

// unit is one entry as it runs.
type unit struct {
	entry  profile.Entry
	config []byte // JSON, evaluated; may hold secrets
	kind   string // "provider", "plugin", "aliases", "gateway", "telemetry", "store", "agent" or "tools"
	err    error  // why it does not run, or why its newest form does not
	silent bool   // the plugin was given other settings and did not answer

	provider *provider.Provider
	sim      *sim.Server
	plugin   *supervisor.Plugin
	binary   supervisor.Binary
	aliases  map[string]Alias
	gateway  *Gateway
	exporter *exporter
	store    bool // it is the one in use
	agent    *Agent
	tools    *Tools
}

// runs reports whether the unit is more than an error.
func (u *unit) runs() bool {
	return u.provider != nil || u.plugin != nil || u.aliases != nil || u.gateway != nil || u.exporter != nil || u.store || u.agent != nil || u.tools != nil
}

// Entry is one row of the profile as it was started.
type Entry struct {
	ID     string `json:"id"`
	Module string `json:"module"`
	Kind   string `json:"kind"`            // "provider", "plugin", "aliases", "gateway", "telemetry", "store", "agent" or "tools"
	Error  string `json:"error,omitempty"` // why it does not run, or why its newest form does not
}

// Entries lists the profile's rows.
func (g *Graph) Entries() []Entry {
	entries := make([]Entry, len(g.units))
	for i, u := range g.units {
		entries[i] = Entry{ID: u.entry.ID, Module: u.entry.Name, Kind: u.kind}
		if u.err != nil {
			entries[i].Error = u.err.Error()
			if u.runs() {
				entries[i].Error = "goes on as it was: " + entries[i].Error
			}
		}
	}
	return entries
}

// plugins are those that run, in the order of the chain.
func (g *Graph) plugins() []*supervisor.Plugin {
	var all []*supervisor.Plugin
	for _, u := range g.units {
		if u.plugin != nil {
			all = append(all, u.plugin)
		}
	}
	return all
}

// Plugins describes the plugins that run, in the order of the chain.
func (g *Graph) Plugins() []supervisor.Info {
	var infos []supervisor.Info
	for _, p := range g.plugins() {
		infos = append(infos, p.Info())
	}
	return infos
}

// find is the unit of an entry's id, nil if there is none.
func (g *Graph) find(id string) *unit {
	i := slices.IndexFunc(g.units, func(u *unit) bool { return u.entry.ID == id })
	if i < 0 {
		return nil
	}
	return g.units[i]
}

// Catalogue lists providers and models.
func (g *Graph) Catalogue() sdk.Catalogue {
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
	for _, p := range g.plugins() {
		p.SetCatalogue(ctx, c)
	}
}

// problems lists the entries that do not run, one a line.
func (g *Graph) problems() string {
	var lines []string
	for _, u := range g.units {
		if u.err != nil {
			lines = append(lines, fmt.Sprintf("  %s: %v", u.entry.ID, u.err))
		}
	}
	if lines == nil {
		lines = []string{"  it names none"}
	}
	return strings.Join(lines, "\n")
}

// resolve finds the route of a client's model name; see Runtime.Resolve.
func (g *Graph) resolve(model string, d dialect.Dialect) (Alias, error) {
	if a, ok := g.alias(model); ok {
		return a, nil
	}
	route, err := g.route(model, d)
	return Alias{Route: route}, err
}

func (g *Graph) route(model string, d dialect.Dialect) (sdk.Route, error) {
	c := g.Catalogue()
	if model == "" || model == "auto" {
		for _, name := range g.priority {
			if route, ok := listed(c, name); ok {
				return route, nil
			}
		}
		for _, p := range c.Providers {
			if route, ok := listed(c, p.Name); ok {
				return route, nil
			}
		}
		return sdk.Route{}, fmt.Errorf("%w: no provider of this profile lists a model; name one as provider/model", ErrNoRoute)
	}
	if route, ok := listed(c, model); ok && strings.Contains(model, "/") {
		return route, nil
	}
	for _, p := range c.Providers {
		for _, m := range p.Models {
			if m.ID == model {
				return sdk.Route{Provider: p.Name, Model: model}, nil
			}
		}
	}
	if route, ok := listed(c, model); ok {
		return route, nil
	}
	if name, ok := g.providers.Speaker(d); ok {
		return sdk.Route{Provider: name, Model: model}, nil
	}
	return sdk.Route{}, fmt.Errorf("%w: no provider serves model %q", ErrNoRoute, model)
}

// listed is the route that provider/model names, whether the provider lists that
// model or not; or the first model of a provider that is named alone.
func listed(c sdk.Catalogue, name string) (sdk.Route, bool) {
	provider, model, _ := strings.Cut(name, "/")
	p, ok := c.Provider(provider)
	switch {
	case !ok:
		return sdk.Route{}, false
	case model != "":
		return sdk.Route{Provider: provider, Model: model}, true
	case name == provider && len(p.Models) > 0:
		return sdk.Route{Provider: provider, Model: p.Models[0].ID}, true
	}
	return sdk.Route{}, false
}
