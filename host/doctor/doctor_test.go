package doctor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/profile"
)

// script is a file that the system can run.
const script = "#!/bin/sh\nexit 1\n"

// TestExamine: what is wrong with a machine is found, each with how to mend it.
func TestExamine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir, beside := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, profile.BaseFile), "- {id: a, name: provider-openai, config: {base_url: \"http://127.0.0.1:1\", key: !env A_KEY, models: [m]}}\n", 0o666)
	own, other := filepath.Join(dir, profile.PluginsDir, "extra"), filepath.Join(beside, "extra")
	write(own, script, 0o755)
	write(other, script+"# newer\n", 0o755)
	write(filepath.Join(dir, profile.StateDir, "notes"), "", 0o644)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(own, long, long); err != nil {
		t.Fatal(err)
	}
	to := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, profile.StateDir, "notes"), to, to); err != nil {
		t.Fatal(err)
	}
	r, err := Examine(t.Context(), Options{
		Listen: taken.Addr().String(),
		Host: host.Options{Dir: dir, PluginDirs: []string{beside}, Env: func(name string) (string, bool) {
			return "sk-canary", name == "A_KEY"
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{
		"profile: 1 entries, no fault": OK,
		"keys: a: A_KEY is set":        OK,
		"files: " + filepath.Join(dir, profile.BaseFile) + " can be changed by others (mode 0666)":                                  Warning,
		"files: " + filepath.Join(dir, profile.StateDir, "notes") + " is open to others (mode 0644)":                                Warning,
		"plugins: extra runs from the profile's own folder and hides a newer one, " + other:                                         Warning,
		"port: " + taken.Addr().String() + " cannot be had: listen tcp " + taken.Addr().String() + ": bind: address already in use": Error,
		"store: nothing is stored yet":                 OK,
		"clock: state/notes was written in the future": Warning,
		"hosts: no host runs this profile":             OK,
	}
	for _, f := range r.Findings {
		text := f.Check + ": " + f.What
		if strings.Contains(text, "sk-canary") {
			t.Errorf("a key is told: %s", text)
		}
		if f.State == Warning && f.Mend == "" || f.State == Error && f.Mend == "" {
			t.Errorf("%s: nothing says how to mend it", text)
		}
		if s, ok := want[text]; ok && s == f.State {
			delete(want, text)
		} else if f.State != OK {
			t.Errorf("%s: %s was not expected", f.State, text)
		}
	}
	for text, state := range want {
		t.Errorf("%s: %s was not found", state, text)
	}
}

func TestNoProfile(t *testing.T) {
	if _, err := Examine(t.Context(), Options{Host: host.Options{Dir: filepath.Join(t.TempDir(), "none")}}); err == nil {
		t.Error("no error for a profile that is not there")
	}
}
