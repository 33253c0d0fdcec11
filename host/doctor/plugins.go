package doctor

import (
	"os"
	"path/filepath"

	"spillway/host"
	"spillway/host/profile"
	"spillway/host/supervisor"
)

// plugins looks at the plugins' files.
func (x *examination) plugins() {
	files, err := host.PluginFiles(x.Host)
	if err != nil {
		x.add("plugins", Error, "delete the file; pin the plugins again with spillway plugin trust", "%v", err)
		return
	}
	if len(files) == 0 {
		x.add("plugins", Error, "run make build, or copy the plugin failover into "+filepath.Join(x.Host.Dir, profile.PluginsDir),
			"no plugin is there: nobody would move a failing call")
	}
	for _, f := range files {
		if f.Error != "" {
			x.add("plugins", Error, "as it says", "%s", f.Error)
			continue
		}
		trust := "trusted for its owner"
		if f.Pinned {
			trust = "pinned"
		}
		x.add("plugins", OK, "", "%s: %s, %s, sha256 %.12s", f.Module, f.Path, trust, f.SHA256)
		x.hidden(f)
	}
}

// hidden tells of a plugin of the profile's that hides another one beside the
// program: after an update the old one goes on.
func (x *examination) hidden(f host.PluginFile) {
	if filepath.Dir(f.Path) != filepath.Join(x.Host.Dir, profile.PluginsDir) {
		return
	}
	for _, dir := range x.Host.PluginDirs {
		other, err := supervisor.Inspect(filepath.Join(dir, f.Module))
		if err != nil || other.SHA256 == f.SHA256 {
			continue
		}
		age := "another one"
		if older(f.Path, other.Source) {
			age = "a newer one"
		}
		x.add("plugins", Warning, "delete "+f.Path+" to run the other, or copy the other there",
			"%s runs from the profile's own folder and hides %s, %s", f.Module, age, other.Source)
	}
}

// older reports whether file a was written before file b.
func older(a, b string) bool {
	of, err := os.Stat(a)
	if err != nil {
		return false
	}
	than, err := os.Stat(b)
	return err == nil && of.ModTime().Before(than.ModTime())
}
