package rig

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "spillway-tests")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	defer alone(t, filepath.Join(cache, "lock"))()
	needNode(t)
	installed := filepath.Join(cache, fmt.Sprintf("npm-%.6x", sha256.Sum256(lock)))
	if _, err := os.Stat(installed); err != nil {
		install(t, dir, cache, installed)
	}
	return filepath.Join(installed, "node_modules")
}

// alone waits until no other process installs something: several test binaries
// run at the same time. The result lets the next one in.
func alone(t *testing.T, path string) (leave func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

// install makes a folder with the locked packages, whole or not at all.
func install(t *testing.T, dir, cache, to string) {
	t.Helper()
	tmp, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ci := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	ci.Dir = tmp
	Run(t, ci)
	if err := os.Rename(tmp, to); err != nil {
		t.Fatal(err)
	}
}

// needNode makes sure that there are node and npm: it installs them where that
// disturbs nobody, and else says how.
func needNode(t *testing.T) {
	t.Helper()
	_, noNode := exec.LookPath("node")
	_, noNPM := exec.LookPath("npm")
	if noNode == nil && noNPM == nil {
		return
	}
	const command = "apt-get update && apt-get install -y --no-install-recommends nodejs npm"
	switch {
	case os.Geteuid() == 0:
		Run(t, exec.CommandContext(t.Context(), "sh", "-c", command))
	case os.Getenv("CI") == "true":
		Run(t, exec.CommandContext(t.Context(), "sudo", "-n", "sh", "-c", command))
	default:
		t.Fatalf("node and npm are missing; type: sudo sh -c %q", command)
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
