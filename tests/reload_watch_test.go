package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/profile"
	"spillway/sdk"
)

// How files come to be changed: by editors, by mounts, by copies that take their
// time. The profiles have one vendor that nobody asks; what is in force is known
// by the model it lists.

// lists is the row of a vendor with one model.
func lists(model string) string {
	return fmt.Sprintf("{id: deepseek, name: provider-openai, config: {base_url: http://127.0.0.1:1/v1, key: k, models: [%s]}}\n", model)
}

// patched is a patch that gives the vendor another model. Whoever reads it warns
// of its second row, so the readings can be counted.
func patched(model string) string {
	return "- " + lists(model) + "- {id: ghost, disabled: true}\n"
}

func (w *watched) readings() int { return strings.Count(string(w.log.Bytes()), `ghost`) }

// listed waits until a model is in force.
func (w *watched) listed(model string) {
	w.t.Helper()
	w.until("the vendor lists "+model, func() bool {
		p, _ := w.rt.Graph().Catalogue().Provider("deepseek")
		return slices.ContainsFunc(p.Models, func(m sdk.Model) bool { return m.ID == model })
	})
}

// plain is a profile's folder whose vendor lists "base".
func plain(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "profile")
	folder(t, dir)
	save(t, filepath.Join(dir, profile.BaseFile), "- "+lists("base"))
	return dir
}

func folder(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link, in the place of one that is there.
func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path+"~"); err != nil {
		t.Fatal(err)
	}
	rename(t, path+"~", path)
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes a file where it is, in as many steps as there are parts.
func overwrite(t *testing.T, path string, mode os.FileMode, between func(), parts ...[]byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parts {
		if i > 0 {
			between()
		}
		if _, err := f.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReloadSaves(t *testing.T) {
	for _, tt := range []struct {
		name string
		save func(t *testing.T, path, text string)
	}{
		{"renamed over", save},
		{"truncated and written", func(t *testing.T, path, text string) {
			overwrite(t, path, 0o600, func() {}, []byte(text))
		}},
		{"written in pieces, at rest between them", func(t *testing.T, path, text string) {
			half := len(text) / 2
			overwrite(t, path, 0o600, func() { pause(t, 150*time.Millisecond, 150*time.Millisecond) }, []byte(text[:half]), []byte(text[half:]))
		}},
		{"old one moved away first", func(t *testing.T, path, text string) {
			rename(t, path, path+".bak")
			overwrite(t, path, 0o600, func() {}, []byte(text))
			remove(t, path+".bak")
		}},
		{"deleted and created", func(t *testing.T, path, text string) {
			remove(t, path)
			pause(t, 150*time.Millisecond, 150*time.Millisecond)
			overwrite(t, path, 0o600, func() {}, []byte(text))
		}},
		{"mounted away and back", func(t *testing.T, path, text string) {
			dir := filepath.Dir(path)
			rename(t, dir, dir+".away")
			save(t, filepath.Join(dir+".away", filepath.Base(path)), text)
			pause(t, 150*time.Millisecond, 150*time.Millisecond)
			rename(t, dir+".away", dir)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := plain(t)
			patch := filepath.Join(dir, profile.PatchFile)
			save(t, patch, patched("m0"))
			w := follow(t, host.Options{Dir: dir})
			w.listed("m0")
			for i := range 3 { // it is followed further
				model := fmt.Sprintf("m%d", i+1)
				tt.save(t, patch, patched(model))
				w.listed(model)
			}
		})
	}
}

// TestReloadLinks: what a link means changes where the link is, or where it
// leads.
func TestReloadLinks(t *testing.T) {
	for _, tt := range []struct {
		name string
		// make makes the profile, whose patch lists "m0", and returns its folder;
		// change makes it list the model.
		make   func(t *testing.T, dir string) string
		change func(t *testing.T, dir, model string)
	}{
		{
			name: "target replaced",
			make: func(t *testing.T, dir string) string {
				save(t, filepath.Join(dir, "elsewhere.yml"), patched("m0"))
				link(t, "../elsewhere.yml", filepath.Join(dir, "profile", profile.PatchFile))
				return filepath.Join(dir, "profile")
			},
			change: func(t *testing.T, dir, model string) { save(t, filepath.Join(dir, "elsewhere.yml"), patched(model)) },
		},
		{
			name: "target written",
			make: func(t *testing.T, dir string) string {
				save(t, filepath.Join(dir, "elsewhere.yml"), patched("m0"))
				link(t, filepath.Join(dir, "elsewhere.yml"), filepath.Join(dir, "profile", profile.PatchFile))
				return filepath.Join(dir, "profile")
			},
			change: func(t *testing.T, dir, model string) {
				overwrite(t, filepath.Join(dir, "elsewhere.yml"), 0o600, func() {}, []byte(patched(model)))
			},
		},
		{
			name: "target not there yet",
			make: func(t *testing.T, dir string) string {
				link(t, filepath.Join(dir, "deep", "deeper", "elsewhere.yml"), filepath.Join(dir, "profile", profile.PatchFile))
				save(t, filepath.Join(dir, "profile", profile.BaseFile), "- "+lists("m0"))
				return filepath.Join(dir, "profile")
			},
			change: func(t *testing.T, dir, model string) {
				folder(t, filepath.Join(dir, "deep", "deeper"))
				save(t, filepath.Join(dir, "deep", "deeper", "elsewhere.yml"), patched(model))
			},
		},
		{
			name: "link in the middle changed",
			make: func(t *testing.T, dir string) string {
				save(t, filepath.Join(dir, "m0.yml"), patched("m0"))
				folder(t, filepath.Join(dir, "middle"))
				link(t, "../m0.yml", filepath.Join(dir, "middle", "now"))
				link(t, filepath.Join(dir, "middle", "now"), filepath.Join(dir, "profile", profile.PatchFile))
				return filepath.Join(dir, "profile")
			},
			change: func(t *testing.T, dir, model string) {
				save(t, filepath.Join(dir, model+".yml"), patched(model))
				link(t, "../"+model+".yml", filepath.Join(dir, "middle", "now"))
			},
		},
		{
			name: "mounted file, swapped like Kubernetes does",
			make: func(t *testing.T, dir string) string {
				p := filepath.Join(dir, "profile")
				folder(t, filepath.Join(p, "..m0"))
				save(t, filepath.Join(p, "..m0", profile.PatchFile), patched("m0"))
				link(t, "..m0", filepath.Join(p, "..data"))
				link(t, "..data/"+profile.PatchFile, filepath.Join(p, profile.PatchFile))
				return p
			},
			change: func(t *testing.T, dir, model string) {
				p := filepath.Join(dir, "profile")
				folder(t, filepath.Join(p, ".."+model))
				save(t, filepath.Join(p, ".."+model, profile.PatchFile), patched(model))
				old, err := os.Readlink(filepath.Join(p, "..data"))
				if err != nil {
					t.Fatal(err)
				}
				link(t, ".."+model, filepath.Join(p, "..data"))
				remove(t, filepath.Join(p, old))
			},
		},
		{
			name: "mounted folder, swapped like Kubernetes does",
			make: func(t *testing.T, dir string) string {
				swapFolder(t, dir, "m0")
				link(t, "mount/..data", filepath.Join(dir, "linked"))
				return filepath.Join(dir, "linked")
			},
			change: swapFolder,
		},
		{
			name: "folder of all profiles changed",
			make: func(t *testing.T, dir string) string {
				swapFolder(t, dir, "m0")
				link(t, "mount/..m0", filepath.Join(dir, "linked"))
				return filepath.Join(dir, "linked")
			},
			change: func(t *testing.T, dir, model string) {
				swapFolder(t, dir, model)
				link(t, "mount/.."+model, filepath.Join(dir, "linked"))
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Dir(plain(t))
			w := follow(t, host.Options{Dir: tt.make(t, dir)})
			w.listed("m0")
			for i := range 3 {
				model := fmt.Sprintf("m%d", i+1)
				tt.change(t, dir, model)
				w.listed(model)
			}
		})
	}
}

// swapFolder makes mount/..data lead to a folder with a whole profile.
func swapFolder(t *testing.T, dir, model string) {
	t.Helper()
	folder(t, filepath.Join(dir, "mount", ".."+model))
	save(t, filepath.Join(dir, "mount", ".."+model, profile.BaseFile), "- "+lists(model))
	link(t, ".."+model, filepath.Join(dir, "mount", "..data"))
}

// TestReloadFolders: folders come, go, and come again.
func TestReloadFolders(t *testing.T) {
	for _, tt := range []struct {
		name string
		path func(top string) string // of the folder
		opts func(o *host.Options, dir string)
		file string
	}{
		{
			name: "home", file: profile.PatchFile,
			path: func(top string) string { return filepath.Join(top, "a", "b", "home") },
			opts: func(o *host.Options, dir string) { o.Home = dir },
		},
		{
			name: "overlay's folder", file: "overlay.yml",
			path: func(top string) string { return filepath.Join(top, "a", "b", "overlays") },
			opts: func(o *host.Options, dir string) { o.Overlays = []string{filepath.Join(dir, "overlay.yml")} },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := plain(t)
			top := filepath.Dir(dir)
			o, at := host.Options{Dir: dir}, tt.path(top)
			tt.opts(&o, at)
			if o.Overlays != nil { // it must be there at the start
				folder(t, at)
				save(t, filepath.Join(at, tt.file), patched("m0"))
			}
			w := follow(t, o)
			for i := range 4 {
				model := fmt.Sprintf("m%d", i+1)
				if i%2 == 0 {
					remove(t, filepath.Join(top, "a"))
				} else {
					rename(t, at, filepath.Join(top, fmt.Sprint("gone", i)))
				}
				w.until("the folder was missed", func() bool {
					p, _ := w.rt.Graph().Catalogue().Provider("deepseek")
					return w.rt.Reloaded().Error != "" || p.Models[0].ID == "base"
				})
				folder(t, at)
				save(t, filepath.Join(at, tt.file), patched(model))
				w.listed(model)
			}
		})
	}
}

// TestReloadAtOnce: a save while the profile is being started is not missed.
func TestReloadAtOnce(t *testing.T) {
	dir := plain(t)
	save(t, filepath.Join(dir, profile.BaseFile), "- {id: spare, name: provider-openai, config: {base_url: http://127.0.0.1:1/v1, key: !env SPARE}}\n- "+lists("base"))
	w := follow(t, host.Options{Dir: dir, Env: func(string) (string, bool) { // asked when the files have been read
		save(t, filepath.Join(dir, profile.PatchFile), patched("m1"))
		return "k", true
	}})
	w.listed("m1")
}

// TestReloadBurst: many saves are one reading, or a few.
func TestReloadBurst(t *testing.T) {
	const saves = 200
	dir := plain(t)
	w := follow(t, host.Options{Dir: dir})
	for i := range saves {
		w.write(profile.PatchFile, patched(fmt.Sprintf("m%d", i)))
	}
	w.listed(fmt.Sprintf("m%d", saves-1))
	if n := w.readings(); n > saves/10 {
		t.Errorf("%d saves at once were read %d times", saves, n)
	}
}

// TestReloadRestless: files that never come to rest are read all the same.
func TestReloadRestless(t *testing.T) {
	dir := plain(t)
	w := follow(t, host.Options{Dir: dir})
	i := 0
	w.until("it was read in between", func() bool {
		w.write(profile.PatchFile, patched(fmt.Sprintf("m%d", i)))
		i++
		return w.readings() > 0
	})
	t.Logf("read after %d saves", i)
}

// TestReloadNothing: modes, other files and what the host itself writes change
// nothing and are not read for ever.
func TestReloadNothing(t *testing.T) {
	w := watch(t, three(t), "- {id: ghost, disabled: true}\n")
	w.drop("louder", "shout")
	w.write(profile.PatchFile, "- insert: [{id: louder, name: louder}]\n- {id: ghost, disabled: true}\n")
	w.until("both plugins run", func() bool { return len(w.rt.Graph().Plugins()) == 2 })
	quiet := func() int { // the number of readings, once there are no more
		for n := -1; ; pause(t, 300*time.Millisecond, 300*time.Millisecond) {
			if now := w.readings(); now == n {
				return n
			} else {
				n = now
			}
		}
	}
	before, g := quiet(), w.rt.Graph()
	for range 20 { // records, circuits, statuses
		ask(t.Context(), w.rt, route("anthropic/m"))
	}
	w.write("notes.txt", "not of the profile")
	if n := quiet(); n != before {
		t.Errorf("read %d times for what is not of the profile", n-before)
	}
	if err := os.Chmod(filepath.Join(w.dir, profile.PatchFile), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(w.dir, profile.PluginsDir, "louder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n := quiet(); n > before+2 {
		t.Errorf("read %d times for two modes", n-before)
	}
	if w.rt.Graph() != g {
		t.Error("a mode made a new graph")
	}
}
