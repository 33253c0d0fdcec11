package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/story"
	"spillway/tests/internal/rig"
)

// TestAuthor follows "Write a plugin" of the README to the letter, as somebody
// does who has a checkout called spillway and a fresh account.
func TestAuthor(t *testing.T) {
	t.Parallel()
	blocks := map[string]string{} // by language
	for _, b := range codeBlocks(section(t, read(t, "../README.md"), "## Write a plugin")) {
		language, code, _ := strings.Cut(b, "\n")
		if blocks[language] != "" {
			t.Fatalf("README.md: two %s blocks in one section: which one is to be followed?", language)
		}
		blocks[language] = code
	}

	beside, home := t.TempDir(), t.TempDir()
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(checkout, filepath.Join(beside, "spillway")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(beside, "shout", "main.go"), blocks["go"])
	env := authorEnv(t, home)
	sh := exec.CommandContext(t.Context(), "sh", "-eu")
	sh.Dir, sh.Env, sh.Stdin = filepath.Join(beside, "shout"), env, strings.NewReader(blocks["sh"])
	rig.Run(t, sh)
	dir := filepath.Join(home, ".config", "spillway", "profiles", "default")
	write(t, filepath.Join(dir, profile.PatchFile), blocks["yaml"])

	// The profile is the default one. Only where its vendors are is patched.
	sims := rig.Vendors(t,
		sim.Vendor{Name: "anthropic", Script: "quota"},
		sim.Vendor{Name: "kimi-coding", Script: "ban"},
		sim.Vendor{Name: "deepseek", Answer: sim.Answer{Text: "a quiet answer"}})
	var rows strings.Builder
	for _, v := range sims.Vendors() {
		fmt.Fprintf(&rows, "- id: %s\n  config: {endpoints: {anthropic: %s/v1}, key: %s}\n", v.Name(), v.URL(), rig.Key(v.Name()))
	}
	patch := filepath.Join(t.TempDir(), "vendors.yml")
	write(t, patch, rows.String())
	run := exec.CommandContext(t.Context(), rig.Spillway(t), "run", "--patch", patch, "why?")
	run.Env = env
	if got, want := rig.Run(t, run), "A QUIET ANSWER\n"; got != want {
		t.Errorf("spillway run: got %q, want %q", got, want)
	}

	listed(t, rig.ServeProfile(t, dir, "ANTHROPIC_API_KEY=unused"), "shout")
}

// listed checks that a plugin is in the list of the page of serve, and runs.
func listed(t *testing.T, s *rig.Server, entry string) {
	t.Helper()
	resp, err := http.Get(s.URL + "/api/status")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct {
		View struct{ Status story.StatusView }
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	plugins := page.View.Status.Plugins
	i := slices.IndexFunc(plugins, func(p story.PluginView) bool { return p.Entry == entry })
	if i < 0 || !plugins[i].Up || plugins[i].Version == "" || plugins[i].PID == "" {
		t.Errorf("%q is not in the page's list, or does not run: %+v", entry, plugins)
	}
}

// section is the part of a Markdown text below a heading of the second level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	return section
}

// authorEnv is this process's environment with another home, but for what the
// go command keeps there: the caches and the settings of "go env -w".
func authorEnv(t *testing.T, home string) []string {
	t.Helper()
	names := []string{"GOCACHE", "GOENV", "GOMODCACHE", "GOPATH"}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "HOME" || name == "XDG_CONFIG_HOME" || name == "SPILLWAY_HOME" || slices.Contains(names, name)
	})
	values := rig.Run(t, exec.CommandContext(t.Context(), "go", append([]string{"env"}, names...)...))
	for i, value := range strings.Split(strings.TrimSuffix(values, "\n"), "\n") {
		env = append(env, names[i]+"="+value)
	}
	return append(env, "HOME="+home, "GORACE=atexit_sleep_ms=0")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
