package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"spillway/tests/internal/rig"
)

// buildGoSDK builds the Go client and returns its path.
func buildGoSDK(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gosdk")
	build := exec.CommandContext(t.Context(), "go", "build", "-race=false", "-buildvcs=false", "-o", path, ".")
	build.Dir = "gosdk"
	rig.Run(t, build)
	return path
}

// installNodeSDK installs the JavaScript client and returns its command line.
func installNodeSDK(t *testing.T) []string {
	t.Helper()
	modules := rig.NodeModules(t, "npm")
	// Modules are looked for beside the program that imports them.
	dir := t.TempDir()
	program := filepath.Join(dir, "probe.mjs")
	data, err := os.ReadFile("npm/probe.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return []string{"node", program}
}
