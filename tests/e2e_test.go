package tests

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"spillway/tests/internal/rig"
)

// TestScripts runs the program as its users do: testdata/script/README.md says
// what the scripts may use.
func TestScripts(t *testing.T) {
	spillway := rig.Spillway(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", filepath.Dir(spillway)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("SPILLWAY_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("SPILLWAY_PLAN", os.Getenv("SPILLWAY_PLAN")) // make plan-off
			// A program under the race detector sleeps for a second when it ends.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Values[rigKey{}] = new(scriptRig)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asked":     asked,
			"atmost":    atMost,
			"capture":   capture,
			"empty":     empty,
			"exits":     exits,
			"gone":      gone,
			"holds":     holds,
			"http":      request,
			"json":      jsonValue,
			"locked":    locked,
			"memory":    memory,
			"mode":      mode,
			"processes": processes,
			"reply":     reply,
			"sim":       simulate,
			"start":     start,
			"term":      term,
			"toolcall":  toolCall,
			"waitfor":   waitFor,
		},
		RequireUniqueNames: true,
	})
}

// scriptRig is what runs for one script.
type scriptRig struct {
	daemon  *daemon
	vendors vendorSet
	reply   *pendingReply
}

type rigKey struct{}

func rigOf(ts *testscript.TestScript) *scriptRig { return ts.Value(rigKey{}).(*scriptRig) }

// usage fails the script with the form of a line that is not ok.
func usage(ts *testscript.TestScript, ok bool, form string) {
	if !ok {
		ts.Fatalf("usage: %s", form)
	}
}

// exits runs a program that must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 2 && !neg, "exits CODE PROGRAM [ARGUMENT]...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
