// Package rig is what black-box tests share: the programs of this repository,
// built once for a test binary, and with the race detector if that has it.
//
// A test starts simulated Vendors, writes a profile for them (Providers has
// their rows) and runs it with Serve. Vendors live in the test's process, so it
// reads there what reached whom. A Server is stopped at the end of its test at
// the latest, with SIGTERM, and must then exit with 0.
package rig

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programs are what is built: file below the folder, package.
var programs = map[string]string{
	"spillway":         "spillway/host/cmd/spillway",
	"broken":           "spillway/tests/plugins/broken",
	"dials":            "spillway/tests/plugins/dials",
	"plugins/failover": "spillway/plugin/failover",
	"plugins/rogue":    "spillway/tests/plugins/rogue",
	"plugins/shout":    "spillway/tests/plugins/shout",
}

// builtEnv names the folder with the programs in the environment of a test
// binary that another one runs.
const builtEnv = "SPILLWAY_RIG"

// folder has the programs that this test binary has built, "" if it needed none.
var folder string

var build = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(builtEnv); dir != "" {
		return dir, nil
	}
	// No test's own folder: it serves all of them.
	dir, err := os.MkdirTemp("", "spillway-rig-")
	if err != nil {
		return "", err
	}
	folder = dir
	for file, pkg := range programs {
		args := []string{"build", "-o", filepath.Join(dir, file)}
		if Race {
			args = append(args, "-race")
		}
		if out, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	return dir, nil
})

func binaries(tb testing.TB) string {
	tb.Helper()
	dir, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Spillway is the path of the spillway program. The plugins stand beside it.
func Spillway(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(binaries(tb), "spillway")
}

// Plugins is a folder with the plugins of this repository: failover, rogue and
// shout.
func Plugins(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(binaries(tb), "plugins")
}

// Built is the environment by which a test binary that this one runs finds the
// programs instead of building them again.
func Built(tb testing.TB) []string {
	tb.Helper()
	return []string{builtEnv + "=" + binaries(tb)}
}

// Remove deletes what this test binary has built, if it has built anything. Its
// TestMain calls it at the end.
func Remove() {
	if folder != "" {
		os.RemoveAll(folder)
	}
}
