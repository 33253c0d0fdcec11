package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/internal/rig"
)

// TestConfigDump runs "config dump" over the cases that were recorded from the
// original loader: its rows, its words for patches that it skips, and a refusal
// where it refuses.
func TestConfigDump(t *testing.T) {
	spillway := rig.Spillway(t)
	data, err := os.ReadFile("../host/profile/testdata/patch-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name    string
			Base    string
			Patches []string
			Expect  struct {
				Entries  any
				Warnings []string
				Error    any
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if want := 82; len(file.Cases) != want {
		t.Fatalf("got %d cases, want %d", len(file.Cases), want)
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			entries, told, code := dump(t, spillway, c.Base, c.Patches)
			if c.Expect.Error != nil {
				refused(t, entries, told, code)
				return
			}
			if code != 0 {
				t.Fatalf("exit code %d, want 0: %s", code, told)
			}
			var got any
			if err := json.Unmarshal([]byte(entries), &got); err != nil {
				t.Fatalf("%v in %s", err, entries)
			}
			if diff := cmp.Diff(c.Expect.Entries, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			warned(t, c.Expect.Warnings, told)
		})
	}
}

// dump runs the program in a folder of its own that holds the files.
func dump(t *testing.T, spillway, base string, patches []string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	args := []string{"config", "dump", "--json", "--base", put("cordis.yml", base)}
	for i, p := range patches {
		args = append(args, "--patch", put(fmt.Sprintf("p%d.yml", i), p))
	}
	cmd := exec.CommandContext(t.Context(), spillway, args...)
	var out, errs strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	cmd.Env = append(os.Environ(), "SPILLWAY_HOME="+filepath.Join(dir, "home"), "GORACE=atexit_sleep_ms=0")
	if err := cmd.Run(); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		code = e.ExitCode()
	}
	return out.String(), errs.String(), code
}

// refused checks that nothing was printed but one line with the file.
func refused(t *testing.T, stdout, stderr string, code int) {
	t.Helper()
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, standard output %q, want 2 and none", code, stdout)
	}
	line, rest, _ := strings.Cut(stderr, "\n")
	at, ok := strings.CutPrefix(line, "spillway: ")
	file, _, named := strings.Cut(at, ".yml:")
	if !ok || !named || strings.Contains(file, " ") || rest != "" {
		t.Errorf("standard error %q, want one line that begins with the file", stderr)
	}
}

// warned checks that each line begins with the original's words and goes on with
// the place.
func warned(t *testing.T, want []string, stderr string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(stderr) {
		lines = append(lines, line)
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d warnings, want %q:\n%s", len(lines), want, stderr)
	}
	for i, words := range want {
		if !strings.HasPrefix(lines[i], words+" (p") {
			t.Errorf("warning %q, want one that begins with %q and its file", lines[i], words)
		}
	}
}
