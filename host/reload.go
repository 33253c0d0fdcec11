package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"spillway/host/profile"
)

const (
	// settle is how long files must be quiet before they are read: editors and
	// copies write in several steps.
	settle = 50 * time.Millisecond
	// drainLimit bounds how long a plugin that was replaced lives on for the
	// answers that it relays. A stream lasts 30 minutes at most.
	drainLimit = 35 * time.Minute
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
	last := &Reloaded{At: time.Now()}
	if err != nil {
		last.Error = err.Error()
		if r.reloaded.Load().Error != last.Error { // said once
			r.log.Error("profile not taken: what runs goes on", "err", err)
		}
	}
	r.reloaded.Store(last)
	return err
}

func (r *Runtime) reload(ctx context.Context) error {
	if r.life.Err() != nil {
		return errors.New("the runtime is closing")
	}
	composed, err := profile.Load(r.opts.Dir, profile.Options{Home: r.opts.Home, Overlays: r.opts.Overlays})
	if err != nil {
		return err
	}
	before := r.graph.Load()
	b, err := r.build(ctx, composed, before)
	if err != nil {
		return err
	}
	if !b.changed {
		return nil
	}
	r.graph.Store(b.graph)
	r.log.Info("profile in force", "entries", len(b.graph.units))
	for _, p := range b.graph.plugins() {
		p.SetCatalogue(ctx, b.graph.Catalogue())
	}
	r.replaced(before, b.graph)
	return nil
}

// replaced stops what only the old graph has, once its calls are decided.
func (r *Runtime) replaced(old, now *Graph) {
	var gone []*unit
	for _, u := range old.units {
		n := now.find(u.entry.ID)
		if n == nil || n.plugin != u.plugin || n.provider != u.provider {
			gone = append(gone, u)
		}
	}
	old.retire()
	r.background.Go(func() {
		select {
		case <-old.idle:
		case <-r.life.Done():
		}
		ctx, cancel := context.WithTimeout(r.life, drainLimit)
		defer cancel()
		for _, u := range slices.Backward(gone) {
			u.stop(ctx)
		}
	})
}

// watch reloads the profile whenever its files change, until the runtime closes.
func (r *Runtime) watch(w *fsnotify.Watcher) {
	defer w.Close()
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	for {
		select {
		case e := <-w.Events:
			if r.concerns(e.Name) {
				quiet.Reset(settle)
			}
		case err := <-w.Errors:
			r.log.Warn("watching the profile", "err", err)
			quiet.Reset(settle) // events may be lost: look
		case <-quiet.C:
			r.follow(w)
			_ = r.Reload(r.life) // told in the log and in status
		case <-r.life.Done():
			return
		}
	}
}

// concerns leaves out what the host itself writes into the profile's folder.
func (r *Runtime) concerns(name string) bool {
	return filepath.Clean(name) != filepath.Join(r.opts.Dir, profile.StateDir)
}

// follow watches every folder that holds a file of the profile, or the nearest
// one above it that exists. Folders, not files: editors replace files.
func (r *Runtime) follow(w *fsnotify.Watcher) {
	dirs := append([]string{r.opts.Dir}, r.pluginDirs()...)
	if r.opts.Home != "" {
		dirs = append(dirs, r.opts.Home)
	}
	for _, f := range r.opts.Overlays {
		dirs = append(dirs, filepath.Dir(f))
	}
	for _, dir := range dirs {
		for {
			_, err := os.Stat(dir)
			if err == nil {
				if err := w.Add(dir); err != nil {
					r.log.Warn("folder not watched", "folder", dir, "err", err)
				}
				break
			}
			parent := filepath.Dir(dir)
			if !errors.Is(err, fs.ErrNotExist) || parent == dir {
				break
			}
			dir = parent
		}
	}
}
