package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"spillway/host/profile"
)

// Reloaded is how the last reading of the profile went.
type Reloaded struct {
	At    time.Time
	Error string // why what is on disk is not in force, "" if it is
}

// Reloaded tells how the last reading of the profile went.
func (r *Runtime) Reloaded() Reloaded { return *r.reloaded.Load() }

// Reload reads the profile again and puts it in force. What has not changed goes
// on untouched; what has is started anew, published, and only then the old one
// is drained, so that every call runs on one graph from its beginning to its
// end. A profile that cannot be used changes nothing.
func (r *Runtime) Reload(ctx context.Context) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	err := r.reload(ctx)
	if errors.Is(err, errSilent) {
		err = r.reload(ctx)
	}
	last := &Reloaded{At: time.Now()}
	if err != nil {
		last.Error = err.Error()
		if r.reloaded.Load().Error != last.Error { // said once
			r.log.Error("profile not taken: what runs goes on", "err", err)
		}
	}
	r.reloaded.Store(last)
	r.followers.statusChanged()
	return err
}

func (r *Runtime) reload(ctx context.Context) error {
	if r.life.Err() != nil {
		return errors.New("the runtime is closing")
	}
	composed, err := profile.Load(r.opts.Dir, r.layers())
	if err != nil {
		return err
	}
	before := r.graph.Load()
	ready := r.prepare(composed)
	defer ready.making.Wait()
	b, err := r.build(ctx, ready, before)
	if err != nil {
		return err
	}
	if !b.changed {
		return nil
	}
	r.publish(ctx, b)
	r.log.Info("profile in force", "graph", b.graph.number, "entries", len(b.graph.units))
	r.replaced(before, b.graph)
	r.probeUnlisted()
	if slices.ContainsFunc(b.graph.units, func(u *unit) bool { return u.silent }) {
		return errSilent
	}
	return nil
}

// errSilent says that a plugin did not take its settings in time. The next
// reload starts it anew.
var errSilent = errors.New("a plugin does not take its settings")
