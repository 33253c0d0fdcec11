package tests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spillway/host/profile"
)

// How plugins' files come to be there, and go.

// TestReloadPluginFolders: the plugins folder, or a plugin's file, is a link, and
// the folders are removed and made again.
func TestReloadPluginFolders(t *testing.T) {
	w := watch(t, three(t), "- insert: [{id: louder, name: louder}]\n")
	top := t.TempDir()
	pid := ""
	replaced := func(what string) {
		t.Helper()
		w.until(what, func() bool {
			p := w.rt.Graph().Plugins()
			return len(p) == 2 && p[1].PID != pid && w.entry("louder").Error == ""
		})
		pid = w.rt.Graph().Plugins()[1].PID
		if text, _, _ := ask(t.Context(), w.rt, route("deepseek/m")); text != strings.ToUpper(whole("deepseek", 6)) {
			t.Errorf("%s: got %q", what, text)
		}
	}
	missed := func(what string) {
		t.Helper()
		w.until(what, func() bool { return strings.Contains(w.entry("louder").Error, "goes on as it was") })
		if got := w.rt.Graph().Plugins()[1].PID; got != pid {
			t.Errorf("%s: process %s in the place of %s", what, got, pid)
		}
	}
	plugins := filepath.Join(w.dir, profile.PluginsDir)
	for _, version := range []string{"1", "2", "3"} {
		drop(t, filepath.Join(top, version), "louder", "shout")
	}

	link(t, filepath.Join(top, "1"), plugins)
	replaced("a link to a folder")
	link(t, filepath.Join(top, "2"), plugins)
	replaced("the link swapped")
	drop(t, filepath.Join(top, "2"), "louder", "shout")
	replaced("a file in the link's folder")
	remove(t, filepath.Join(top, "2"))
	missed("the link's folder removed")
	drop(t, filepath.Join(top, "2"), "louder", "shout")
	replaced("the link's folder made again")
	remove(t, plugins)
	missed("the link removed")
	drop(t, plugins, "louder", "shout")
	replaced("a folder in the place of the link")
	remove(t, plugins)
	missed("the folder removed")
	drop(t, plugins, "louder", "shout")
	replaced("the folder made again")
	link(t, filepath.Join(top, "3", "louder"), filepath.Join(plugins, "louder"))
	replaced("a link to a file")
	drop(t, filepath.Join(top, "3"), "louder", "shout")
	replaced("the link's file replaced")
}

// TestReloadSlowCopy: a plugin's file is written over in several steps. What is
// there of it in between does not take over.
func TestReloadSlowCopy(t *testing.T) {
	w := watch(t, three(t), "- insert: [{id: louder, name: louder}]\n")
	w.drop("louder", "shout")
	w.until("it runs", func() bool { return len(w.rt.Graph().Plugins()) == 2 })
	pid := w.rt.Graph().Plugins()[1].PID
	path := filepath.Join(w.dir, profile.PluginsDir, "louder")
	b := programBytes(t, "shout")
	parts := slices.Collect(slices.Chunk(b, len(b)/4+1))
	overwrite(t, path, 0o755, func() {
		at := w.rt.Reloaded().At
		w.until("the piece was read", func() bool { return w.rt.Reloaded().At.After(at) })
		w.until("the piece is refused", func() bool { return strings.Contains(w.entry("louder").Error, "goes on as it was") })
		p := w.rt.Graph().Plugins()
		text, f, _ := ask(t.Context(), w.rt, route("deepseek/m"))
		if len(p) != 2 || p[1].PID != pid || text != strings.ToUpper(whole("deepseek", 6)) {
			t.Errorf("half a file runs: %+v; got %q, %v", p, text, f)
		}
	}, parts...)
	w.until("the whole runs", func() bool {
		p := w.rt.Graph().Plugins()
		return len(p) == 2 && p[1].PID != pid && w.entry("louder").Error == ""
	})
}

// TestReloadMode: a plugin's file is made executable once it is there.
func TestReloadMode(t *testing.T) {
	w := watch(t, three(t), "- insert: [{id: louder, name: louder}]\n")
	path := filepath.Join(w.dir, profile.PluginsDir, "louder")
	folder(t, filepath.Dir(path))
	overwrite(t, path, 0o644, func() {}, programBytes(t, "shout"))
	w.until("it is refused", func() bool { return strings.Contains(w.entry("louder").Error, "not executable") })
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	w.until("it runs", func() bool { return len(w.rt.Graph().Plugins()) == 2 && w.entry("louder").Error == "" })
}
