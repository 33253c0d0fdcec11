package rig

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/state/statetest/machine"
)

// NodeModules installs the npm packages that package-lock.json in dir names and
// returns the folder node_modules with them. It is in the user's cache, one for
// each lock file, so nothing is written into the checkout. Node itself is
// installed if it is missing and that disturbs nobody.
func NodeModules(t *testing.T, dir string) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	machine.Need(t, "nodejs npm", "node", "npm")
	defer machine.Alone(t, "npm")()
	cache := machine.Cache(t)
	installed := filepath.Join(cache, fmt.Sprintf("npm-%.6x", sha256.Sum256(lock)))
	if _, err := os.Stat(installed); err != nil {
		install(t, dir, cache, installed)
	}
	return filepath.Join(installed, "node_modules")
}

// install makes a folder with the locked packages, whole or not at all.
func install(t *testing.T, dir, cache, to string) {
	t.Helper()
	tmp, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if name == ".npmrc" && errors.Is(err, fs.ErrNotExist) {
			continue // few need npm to be told anything
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Not "npm ci": it refuses a lock file that lacks packages for other systems,
	// as one has that was made with a registry without them.
	npm := exec.CommandContext(t.Context(), "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = tmp
	Run(t, npm)
	if err := os.Rename(tmp, to); err != nil {
		t.Fatal(err)
	}
}

// Run runs a command, which must exit with 0, and returns its standard output.
func Run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s%s", cmd.Args, err, &stdout, &stderr)
	}
	return stdout.String()
}
