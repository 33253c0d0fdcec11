package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"spillway/host/agent/ledger"
	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// The agent edits a file by a server whose reply is lost. Without a terminal it
// stops; at one it asks. The file is edited once, whatever the answer comes to.
func TestPersonIsAsked(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	path := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(path, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	input := marshal(t, row{"path": path, "edits": []row{{"oldText": "first\n", "newText": "first\nagain\n"}}})
	vendors := rig.Vendors(t, sim.Vendor{Name: "anthropic", Script: fmt.Sprintf("call=files__edit_file args='%s'; ok", input)})
	rows, env := rig.Providers(vendors, "anthropic")
	server := marshal(t, losing(t, program(t, "server-filesystem", dir), "edit_file"))
	profile := rig.Profile(t, rows+fmt.Sprintf("- {id: files, name: mcp, config: %s}\n", server))
	spillway := func(args ...string) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, append(args, "--profile", profile+"/")...)
		cmd.Dir = dir
		cmd.Env = append(env, spillwayEnv+"=1", "HOME="+t.TempDir(), "SPILLWAY_HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
		return cmd
	}
	entry := func() ledger.Entry {
		t.Helper()
		var all []ledger.Entry
		if err := json.Unmarshal([]byte(rig.Run(t, spillway("ledger", "--json"))), &all); err != nil || len(all) != 1 {
			t.Fatalf("%d entries, %v", len(all), err)
		}
		return all[0]
	}

	alone := spillway("run", "--yes", "--model", "anthropic/claude-sonnet-5", "add a line")
	var told bytes.Buffer
	alone.Stderr = &told
	_ = alone.Run() // the exit code tells
	if got := alone.ProcessState.ExitCode(); got != 3 || !strings.Contains(told.String(), "a person must decide") {
		t.Fatalf("exit code %d, want 3:\n%s", got, &told)
	}
	if e := entry(); e.State != ledger.Unknown || e.Runs != 1 {
		t.Errorf("ledger: %s after %d runs", e.State, e.Runs)
	}

	const question = "[s]top here: "
	seen := converse(t, spillway("run", "--yes", "--model", "anthropic/claude-sonnet-5", "--continue"), question, "h")
	if n := strings.Count(seen, question); n != 1 || !strings.Contains(seen, "It is not known whether this happened: files__edit_file") {
		t.Errorf("asked %d times, want once:\n%s", n, seen)
	}
	if e := entry(); e.State != ledger.Succeeded || e.Runs != 1 {
		t.Errorf("ledger: %s after %d runs", e.State, e.Runs)
	}
	if got := content(t, path); got != "first\nagain\n" {
		t.Errorf("the file has %q, want one edit", got)
	}
}

// converse runs cmd at a terminal, answers its question, and returns what it
// wrote. It must exit with 0.
func converse(t *testing.T, cmd *exec.Cmd, question, answer string) string {
	t.Helper()
	ours, theirs := terminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, io.Discard, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close() // then our end fails when the program has ended
	var seen strings.Builder
	answered := false
	for buf := make([]byte, 4096); ; {
		n, err := ours.Read(buf)
		seen.Write(buf[:n])
		if !answered && strings.Contains(seen.String(), question) {
			answered = true
			if _, err := ours.WriteString(answer + "\n"); err != nil {
				t.Error(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v:\n%s", err, &seen)
	}
	return seen.String()
}

// terminal makes a pseudo-terminal.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}
