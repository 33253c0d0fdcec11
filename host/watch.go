package host

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"spillway/host/profile"
)

const (
	// settle is how long files must be quiet before they are read: editors and
	// copies write in several steps.
	settle = 50 * time.Millisecond
	// restless is how long at most the files are waited for.
	restless = 2 * time.Second
	// reread is when a file that is being written is looked at again: nothing
	// tells that it was closed.
	reread = 250 * time.Millisecond
	// maxLinks bounds the symbolic links on the way to one file, as Linux does.
	maxLinks = 40
	// maxRounds bounds how often the folders are looked at until they stay the
	// same.
	maxRounds = 20
)

// watcher follows the files of a profile.
type watcher struct {
	*fsnotify.Watcher
	runtime *Runtime
	places  places
}

// watcher begins to watch. What happens from here on is found by run.
func (r *Runtime) watcher() (*watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the profile: %w", err)
	}
	f := &watcher{Watcher: w, runtime: r}
	f.follow()
	return f, nil
}

// run reloads the profile whenever its files change, until the runtime closes.
func (w *watcher) run() {
	r := w.runtime
	defer w.Close()
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	var since time.Time // of the first change that was not read yet
	changed := func() {
		if since.IsZero() {
			since = time.Now()
		}
		quiet.Reset(min(settle, time.Until(since.Add(restless))))
	}
	again := func() {
		if slices.ContainsFunc(r.Graph().units, func(u *unit) bool { return errors.Is(u.err, errBeingWritten) }) {
			quiet.Reset(reread)
		}
	}
	again()
	for {
		select {
		case e := <-w.Events:
			if w.places.concern(e.Name) {
				changed()
			}
		case err := <-w.Errors:
			r.log.Warn("watching the profile", "err", err)
			changed() // events may be lost: look
		case <-quiet.C:
			since = time.Time{}
			w.follow()
			_ = r.Reload(r.life) // told in the log and in status
			again()
		case <-r.life.Done():
			return
		}
	}
}

// follow watches the places where the profile's files are now. What appears
// between the look and the watch is found by looking again.
func (w *watcher) follow() {
	w.places = w.runtime.places()
	for range maxRounds {
		for dir := range w.places {
			// One that has gone is noticed below.
			if err := w.Add(dir); err != nil && !os.IsNotExist(err) {
				w.runtime.log.Warn("folder not watched", "folder", dir, "err", err)
			}
		}
		again := w.runtime.places()
		if maps.EqualFunc(w.places, again, maps.Equal) {
			break
		}
		w.places = again
	}
	for _, dir := range w.WatchList() {
		if _, ok := w.places[dir]; !ok {
			_ = w.Remove(dir) // or it has gone by itself
		}
	}
}

// places are folders, and in each the names that decide what a profile's files
// say; everyName stands for all. Folders, not files, are watched, since editors
// replace files, and they have no symbolic link in their paths, since a watch
// does not notice that a link is changed. Nor does it notice that a folder further
// up is renamed.
type places map[string]map[string]bool

const everyName = ""

// places looks where the profile's files are, or would be.
func (r *Runtime) places() places {
	p := places{}
	files := append([]string{filepath.Join(r.opts.Dir, profile.BaseFile), filepath.Join(r.opts.Dir, profile.PatchFile)}, r.opts.Overlays...)
	if r.opts.Home != "" {
		files = append(files, filepath.Join(r.opts.Home, profile.PatchFile))
	}
	for _, f := range files {
		p.file(f)
	}
	for _, dir := range r.pluginDirs() {
		real, ok := p.resolve(dir)
		if !ok {
			continue
		}
		p.add(real, everyName)
		entries, _ := os.ReadDir(real)
		for _, e := range entries {
			if e.Type()&os.ModeSymlink != 0 {
				p.file(filepath.Join(real, e.Name()))
			}
		}
	}
	return p
}

func (p places) add(dir, name string) {
	if p[dir] == nil {
		p[dir] = map[string]bool{}
	}
	p[dir][name] = true
}

// concern reports whether a change at path may change the profile.
func (p places) concern(path string) bool {
	if _, ok := p[path]; ok {
		return true // a folder was moved or removed
	}
	names := p[filepath.Dir(path)]
	return names[everyName] || names[filepath.Base(path)]
}

// file adds the places that decide what the file at path is.
func (p places) file(path string) {
	if real, ok := p.resolve(path); ok {
		p.add(filepath.Dir(real), filepath.Base(real))
	}
}

// resolve returns path without symbolic links. It adds the place of each link on
// the way, and that of the first name that does not exist; then ok is false.
func (p places) resolve(path string) (real string, ok bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	root := func(path string) string { return filepath.VolumeName(path) + string(filepath.Separator) }
	at, rest := root(path), path[len(filepath.VolumeName(path)):]
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, string(filepath.Separator))
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			p.add(at, name)
			return "", false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		p.add(at, name)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		if filepath.IsAbs(target) {
			at, target = root(target), target[len(filepath.VolumeName(target)):]
		}
		rest = target + string(filepath.Separator) + rest
	}
	return at, true
}
