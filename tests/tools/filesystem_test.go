package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
)

func TestFilesystem(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := open(t, "files", dir, program(t, "server-filesystem", dir))
	for name, want := range map[string]tool.Effect{
		"files__read_text_file": tool.ReadOnly,
		"files__write_file":     tool.Idempotent,
		"files__edit_file":      tool.Write,
		"files__move_file":      tool.Write,
	} {
		spec := named(t, s, name).Spec()
		if spec.Effect != want || spec.Description == "" || !strings.Contains(string(spec.Schema), `"path"`) && name != "files__move_file" {
			t.Errorf("%s: %s, %q, %s", name, spec.Effect, spec.Description, spec.Schema)
		}
	}
	path := filepath.Join(dir, "notes.txt")
	if res := use(t.Context(), t, s, "files__write_file", row{"path": path, "content": "first\n"}); res.Error {
		t.Fatalf("write_file: %s", textOf(res))
	}
	if got := content(t, path); got != "first\n" {
		t.Errorf("the file has %q", got)
	}
	if got := textOf(use(t.Context(), t, s, "files__read_text_file", row{"path": path})); got != "first\n" {
		t.Errorf("read_text_file: %q", got)
	}
	for _, bad := range []row{{"path": "/etc/hostname"}, {"path": filepath.Join(dir, "missing")}, {"path": 7}} {
		if res := use(t.Context(), t, s, "files__read_text_file", bad); !res.Error {
			t.Errorf("read_text_file of %v: %q, want a failure", bad, textOf(res))
		}
	}
}

// A person is asked about what a write tool may have done; until then it is not
// done again.
func TestLostReply(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := open(t, "files", dir, losing(t, program(t, "server-filesystem", dir), "edit_file"))
	path := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(path, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := named(t, s, "files__edit_file")
	input := marshal(t, row{"path": path, "edits": []row{{"oldText": "first\n", "newText": "first\nagain\n"}}})
	if what, ask := edit.(tool.Confirmer).Confirm(input); !ask || !strings.HasPrefix(what, "files: edit_file {") {
		t.Errorf("a person reads %q, and is asked: %t", what, ask)
	}

	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	action := ledger.Action{Session: "s", Message: "m", Tool: edit.Spec().Name, Input: input}
	for range 2 { // the second time the ledger answers alone
		e, err := l.Run(t.Context(), action, edit)
		if !errors.Is(err, ledger.ErrUnknown) || errors.Is(err, tool.ErrNotRun) {
			t.Fatalf("got %v", err)
		}
		if e.State != ledger.Unknown || !e.NeedsPerson() || e.Runs != 1 {
			t.Errorf("entry: %s after %d runs, a person is needed: %t", e.State, e.Runs, e.NeedsPerson())
		}
		if got := content(t, path); got != "first\nagain\n" {
			t.Errorf("the file has %q, want one edit", got)
		}
	}
	// The server comes back for what is asked next.
	if got := textOf(use(t.Context(), t, s, "files__read_text_file", row{"path": path})); got != "first\nagain\n" {
		t.Errorf("read_text_file: %q", got)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
