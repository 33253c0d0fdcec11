package host

import (
	"context"
	"slices"
	"time"

	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/host/story"
)

// Status is what runs, and what the plugins reported last. Where a gateway
// listens is for the caller to add.
func (r *Runtime) Status(ctx context.Context) story.StatusView {
	g := r.Graph()
	v := story.StatusView{
		Uptime: record.Duration(time.Since(r.began)), Refused: r.Reloaded().Error, Providers: g.Catalogue().Providers,
	}
	for _, e := range g.Entries() {
		v.Entries = append(v.Entries, story.EntryView(e))
	}
	for _, p := range g.Plugins() {
		v.Plugins = append(v.Plugins, story.PluginView{
			Entry: p.Entry, Name: p.Name, Version: p.Version, SHA256: p.SHA256, PID: p.PID, Up: p.Up, Since: p.Since,
			Restarts: p.Restarts, Bypassed: p.Bypassed, Planned: p.Planned, Down: p.Down, Output: p.Output,
		})
	}
	statuses, err := r.store.Statuses(ctx)
	if err != nil { // what runs here is known all the same
		v.Store = err.Error()
	}
	reported(&v, statuses)
	return v
}

// StoredStatus is what the last runtime of a profile has left in its store.
func StoredStatus(ctx context.Context, s *state.Store) (story.StatusView, error) {
	statuses, err := s.Statuses(ctx)
	var v story.StatusView
	reported(&v, statuses)
	return v, err
}

// reported adds what the plugins said last. A plugin that is not running is
// known by nothing else.
func reported(v *story.StatusView, statuses []state.PluginStatus) {
	for _, s := range statuses {
		i := slices.IndexFunc(v.Plugins, func(p story.PluginView) bool { return p.Entry == s.Plugin })
		if i < 0 {
			i = len(v.Plugins)
			v.Plugins = append(v.Plugins, story.PluginView{Entry: s.Plugin})
		}
		p := &v.Plugins[i]
		p.Reported, p.Targets, p.Orders = s.At, s.Targets, s.Orders
	}
}
