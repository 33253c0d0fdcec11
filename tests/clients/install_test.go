package clients

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildGoSDK builds the Go client and returns its path.
func buildGoSDK(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gosdk")
	run(t, "gosdk", "go", "build", "-race=false", "-buildvcs=false", "-o", path, ".")
	return path
}

// installNodeSDK installs the JavaScript client and returns its command line.
// The packages stay in the user's cache, in a folder for each lock file.
func installNodeSDK(t *testing.T) []string {
	t.Helper()
	needNode(t)
	lock, err := os.ReadFile("npm/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache = filepath.Join(cache, "spillway-tests")
	installed := filepath.Join(cache, fmt.Sprintf("npm-%.6x", sha256.Sum256(lock)))
	if _, err := os.Stat(installed); err != nil {
		install(t, cache, installed)
	}
	// Modules are looked for beside the program that imports them.
	dir := t.TempDir()
	copyFile(t, "npm/probe.mjs", dir)
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return []string{"node", filepath.Join(dir, "probe.mjs")}
}

// install makes a folder with the locked packages, whole or not at all.
func install(t *testing.T, cache, to string) {
	t.Helper()
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	copyFile(t, "npm/package.json", dir)
	copyFile(t, "npm/package-lock.json", dir)
	run(t, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	if err := os.Rename(dir, to); err != nil {
		if _, lost := os.Stat(to); lost != nil { // no other process was faster
			t.Fatal(err)
		}
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
		run(t, ".", "sh", "-c", command)
	case os.Getenv("CI") == "true":
		run(t, ".", "sudo", "-n", "sh", "-c", command)
	default:
		t.Fatalf("node and npm are missing; type: sudo sh -c %q", command)
	}
}

func run(t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}

func copyFile(t *testing.T, from, dir string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(from)), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
