package host

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"time"

	"spillway/host/profile"
	"spillway/host/supervisor"
)

// Hidden is a plugin that comes with the program and does not run, since the
// profile has one of that name.
type Hidden struct {
	Path  string
	Newer bool // than the profile's
}

// HiddenBy is the plugin that f hides, if it is another one. After an upgrade a
// copy that was put into a profile goes on as it is.
func HiddenBy(o Options, f PluginFile) (h Hidden, ok bool) {
	if f.SHA256 == "" || filepath.Dir(f.Path) != filepath.Join(o.Dir, profile.PluginsDir) {
		return Hidden{}, false
	}
	for _, dir := range o.PluginDirs {
		other, err := supervisor.Inspect(filepath.Join(dir, f.Module))
		if err != nil || other.SHA256 == f.SHA256 {
			continue
		}
		return Hidden{Path: other.Source, Newer: older(f.Path, other.Source)}, true
	}
	return Hidden{}, false
}

// older compares what two programs were built of: their commits' times, if both
// tell them, for a copy is younger than what it is a copy of. Else it compares
// the files' times.
func older(a, b string) bool {
	of, knownA := commitTime(a)
	than, knownB := commitTime(b)
	if knownA && knownB {
		return of.Before(than)
	}
	fileA, errA := os.Stat(a)
	fileB, errB := os.Stat(b)
	return errA == nil && errB == nil && fileA.ModTime().Before(fileB.ModTime())
}

func commitTime(program string) (at time.Time, known bool) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return time.Time{}, false // not written in Go
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, err = time.Parse(time.RFC3339, s.Value)
			return at, err == nil
		}
	}
	return time.Time{}, false
}
