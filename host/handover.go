package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"spillway/sdk"
)

const (
	// holdLimit bounds how long calls that begin are held while one graph
	// follows another. It takes a few milliseconds, unless a plugin is so slow
	// that calls go on without it: the default for that is half a second.
	holdLimit = time.Second
	// drainLimit bounds how long a plugin that was replaced lives on for the
	// answers that it relays. A stream lasts 30 minutes at most.
	drainLimit = 35 * time.Minute
)

// change is one of a plugin's volatile settings, on the way to the process that
// runs.
type change struct {
	unit, old *unit
	paths     []string
}

// enter is the graph that runs now, with one call more.
func (r *Runtime) enter() *Graph {
	r.entering.RLock()
	defer r.entering.RUnlock()
	g := r.graph.Load()
	g.calls.enter()
	return g
}

// publish puts a built graph in force. A plugin that stays has its settings
// changed, and a call takes them as they are when it comes to the plugin. So that
// each call gets those of its graph, the ones under way come to all plugins
// first, and the ones that begin are held until the settings are in force.
func (r *Runtime) publish(ctx context.Context, b *builder) {
	ctx, cancel := context.WithTimeout(ctx, holdLimit)
	defer cancel()
	r.entering.Lock()
	defer r.entering.Unlock()
	r.graph.Load().calls.allOpened(ctx)
	for _, c := range b.changes {
		b.settle(ctx, c)
	}
	for _, p := range b.graph.plugins() {
		p.SetCatalogue(ctx, b.graph.Catalogue())
	}
	r.graph.Store(b.graph)
}

// settle gives a plugin its changed settings. It stays as it was if it does not
// want them.
func (b *builder) settle(ctx context.Context, c change) {
	err := c.unit.plugin.Settings(ctx, c.unit.config, c.paths)
	if err == nil {
		b.runtime.log.Info("settings changed", "entry", c.unit.entry.ID, "paths", strings.Join(c.paths, ","))
		return
	}
	_, answered := errors.AsType[sdk.Faults](err)
	c.unit.err = placed(c.unit.entry, err)
	*c.unit = *b.refused(c.unit, c.old)
	c.unit.silent = !answered
}

// replaced stops what only the old graph has, once no call needs it: those of
// the old graph, and of the ones before it, are decided.
func (r *Runtime) replaced(old, now *Graph) {
	var gone []*unit
	for _, u := range old.units {
		n := now.find(u.entry.ID)
		if n == nil || n.plugin != u.plugin || n.provider != u.provider || n.exporter != u.exporter {
			gone = append(gone, u)
		}
	}
	before, done := r.drained, make(chan struct{})
	r.drained = done
	r.background.Go(func() {
		old.calls.allDecided(r.life)
		select {
		case <-before:
		case <-r.life.Done():
		}
		close(done)
		ctx, cancel := context.WithTimeout(r.life, drainLimit)
		defer cancel()
		for _, u := range slices.Backward(gone) {
			u.stop(ctx)
		}
	})
}
