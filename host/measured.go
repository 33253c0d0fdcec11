package host

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spillway/host/profile"
	"spillway/host/state"
	"spillway/sdk"
)

// measurePatience bounds each step of the store's: a person waits for it.
const measurePatience = time.Second

// Measurements are what was measured of a profile's routes, by the entry of the
// plugin that goes by it. A profile that has stored nothing yet, or that cannot be
// read, has none; what several machines share is not asked for.
func Measurements(ctx context.Context, o Options) map[string][]sdk.Item {
	dir := filepath.Join(o.Dir, profile.StateDir)
	if found, _ := fs.Glob(os.DirFS(dir), "*.db"); found == nil {
		return nil // to open a store would make one
	}
	p, err := profile.Load(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays})
	if err != nil {
		return nil
	}
	store, err := state.Open(dir, state.Options{Limit: measurePatience})
	if err != nil {
		return nil
	}
	defer store.Close()
	known := map[string][]sdk.Item{}
	entries, _ := p.Entries(o.Env)
	for _, e := range entries {
		if kindOf(e.Name) != kindPlugin {
			continue
		}
		if items, err := store.Namespace(e.ID, e.ID).List(ctx, sdk.MeasurementPrefix); err == nil && len(items) > 0 {
			known[e.ID] = items
		}
	}
	return known
}

// Measure keeps what was measured for the plugin of an entry, where the profile keeps
// its state. Running hosts hear of it.
func Measure(ctx context.Context, o Options, entry string, all []sdk.Measurement) error {
	p, err := profile.Load(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays})
	if err != nil {
		return err
	}
	options := state.Options{Limit: measurePatience}
	options.Redis, _ = o.shared(p)
	store, err := openState(o.Dir, options)
	if err != nil {
		return err
	}
	defer store.Close()
	space := store.Namespace(entry, entry)
	for _, m := range all {
		data, err := json.Marshal(m)
		if err == nil {
			_, err = space.Put(ctx, m.Key(), data, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recall puts what is known into a memory that has just been made.
func (r *Runtime) recall(ctx context.Context) {
	for entry, items := range r.opts.Known {
		for _, i := range items {
			if _, err := r.store.Namespace(entry, r.owner).Put(ctx, i.Key, i.Data, 0); err != nil {
				r.log.Warn("not recalled", "entry", entry, "key", i.Key, "err", err)
			}
		}
	}
}
