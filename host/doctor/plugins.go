package doctor

import (
	"path/filepath"

	"spillway/host"
	"spillway/host/profile"
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
// program: after an upgrade the old one goes on.
func (x *examination) hidden(f host.PluginFile) {
	h, ok := host.HiddenBy(x.Host, f)
	if !ok {
		return
	}
	age := "another one"
	if h.Newer {
		age = "a newer one"
	}
	x.add("plugins", Warning, "delete "+f.Path+" to run the other, or copy the other there",
		"%s runs from the profile's own folder and hides %s, %s", f.Module, age, h.Path)
}
