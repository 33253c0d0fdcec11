package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write makes the files of a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoadLayers(t *testing.T) {
	dir, home, other := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{
		BaseFile:  "- {id: llm, name: base, config: {from: base}}\n- {id: gw, name: gateway, config: {from: base}}\n",
		PatchFile: "- {id: gw, config: {from: profile}, p: 1}\n- {id: llm, config: {from: profile}}\n- {id: core, p: 1}\n",
	})
	write(t, home, map[string]string{PatchFile: "- {id: llm, config: {from: home}}\n- {id: gw, h: 1}\n"})
	write(t, other, map[string]string{"x.yml": "- {id: llm, config: {from: x}}\n", "y.yml": "- {id: llm, config: {from: y}}\n- {id: nobody}\n"})
	bundle := []byte("- insert: [{id: core, name: core}, {id: llm, name: bundle}]\n- {id: gw, config: {from: bundle}}\n")
	y := filepath.Join(other, "y.yml")

	p, err := Load(dir, Options{Home: home, Bundle: bundle, Overlays: []string{filepath.Join(other, "x.yml"), y}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"id":"core","name":"core","p":1},{"id":"llm","name":"bundle"},` +
		`{"id":"llm","name":"base","config":{"from":"y"}},{"id":"gw","name":"gateway","config":{"from":"profile"},"p":1,"h":1}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var layers []string
	for _, l := range p.Layers {
		layers = append(layers, l.Name)
	}
	if diff := cmp.Diff([]string{"bundle", "base", "profile patch", "home patch", "--patch", "--patch"}, layers); diff != "" {
		t.Errorf("layers (-want +got):\n%s", diff)
	}
	var warnings []string
	for _, w := range p.Warnings {
		warnings = append(warnings, w.String())
	}
	wantWarnings := []string{`patch: entry "gw" not found (` + "(built in):2:3)", `patch: entry "nobody" not found (` + y + ":2:3)"}
	if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	pos, _ := p.Rows[2].Origin("config")
	if pos.Layer != "--patch" || pos.File != y {
		t.Errorf("config comes from %+v, want the last overlay", pos)
	}
}

func TestLoadMissingFiles(t *testing.T) {
	dir := t.TempDir()
	p, err := Load(dir, Options{Home: filepath.Join(dir, "nowhere")})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Layers) != 0 || len(p.Rows) != 0 {
		t.Errorf("got %d layers and %d rows, want none", len(p.Layers), len(p.Rows))
	}
	if _, err := Load(dir, Options{Overlays: []string{filepath.Join(dir, "x.yml")}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing overlay: got %v, want fs.ErrNotExist", err)
	}
	if _, err := Load(filepath.Join(dir, "nowhere"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing profile: got %v, want fs.ErrNotExist", err)
	}
	write(t, dir, map[string]string{"file": ""})
	if _, err := Load(filepath.Join(dir, "file"), Options{}); err == nil {
		t.Error("a file as profile: got no error")
	}
}

func TestLoadTellsEverything(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{BaseFile: "a: 1\n", PatchFile: "# only this\n"})
	write(t, home, map[string]string{PatchFile: "- {id: a\n"})
	if err := os.Mkdir(filepath.Join(home, "folder.yml"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(dir, Options{Home: home, Overlays: []string{filepath.Join(home, "folder.yml")}})
	if err == nil {
		t.Fatal("got no error")
	}
	want := strings.Join([]string{
		filepath.Join(dir, BaseFile) + `:1:1: the file holds a mapping (allowed: a list of entries, each beginning with "- ")`,
		filepath.Join(dir, PatchFile) + ": the file holds nothing (allowed: write [] for no patches)",
		filepath.Join(home, PatchFile) + ":1:3: { is never closed (allowed: } at its end)",
		filepath.Join(home, "folder.yml") + ": a folder, not a file",
	}, "\n")
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestSurveyGoesOn(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{BaseFile: "- {id: a, name: x}\n", PatchFile: "- {id: b\n"})
	write(t, home, map[string]string{PatchFile: "- {id: a, p: 1}\n"})
	p, errs := Survey(dir, Options{Home: home, Overlays: []string{filepath.Join(home, "nosuch.yml")}})
	if len(errs) != 2 || !errors.Is(errs[1], fs.ErrNotExist) {
		t.Errorf("got %v, want the profile patch and the overlay", errs)
	}
	got, err := p.MarshalJSON()
	if want := `[{"id":"a","name":"x","p":1}]`; err != nil || string(got) != want {
		t.Errorf("rows: got %s, %v, want %s", got, err, want)
	}
	if diff := cmp.Diff([]string{"id", "name", "p"}, p.Rows[0].Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}

	// What cannot be composed leaves no rows.
	write(t, dir, map[string]string{PatchFile: "- insert: 5\n"})
	if p, errs = Survey(dir, Options{}); len(errs) != 1 || len(p.Rows) != 0 {
		t.Errorf("got %v and %d rows, want one error and none", errs, len(p.Rows))
	}
	if p, errs = Survey(filepath.Join(dir, "nowhere"), Options{}); p != nil || len(errs) != 1 {
		t.Errorf("got %v, %v, want no profile and one error", p, errs)
	}
}

func TestLoadRefusesBigFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{PatchFile: "[]" + strings.Repeat(" ", 2*MaxFile)})
	_, err := Load(dir, Options{})
	if want := "the file is too large"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
