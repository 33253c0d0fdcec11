// Package machine gives the tests what they need on the machine that they run
// on. Several test binaries run at the same time, so whatever is installed is
// installed by one of them while the others wait.
package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Cache is a folder of the user's for what tests install.
func Cache(tb testing.TB) string {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	cache = filepath.Join(cache, "spillway-tests")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		tb.Fatal(err)
	}
	return cache
}

// Alone waits until no other process is alone with the same thing. The result
// lets the next one in.
func Alone(tb testing.TB, thing string) (leave func()) {
	tb.Helper()
	f, err := os.OpenFile(filepath.Join(Cache(tb), thing+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		tb.Fatal(err)
	}
	return func() { f.Close() }
}

// Need makes sure that there are programs: it installs the Debian packages that
// have them where that disturbs nobody (as root, or in CI), and else says how.
func Need(tb testing.TB, packages string, programs ...string) {
	tb.Helper()
	if len(missing(programs)) == 0 {
		return
	}
	defer Alone(tb, "apt")()
	lacking := missing(programs)
	if len(lacking) == 0 {
		return
	}
	script := "apt-get update && apt-get install -y --no-install-recommends " + packages
	cmd := exec.CommandContext(tb.Context(), "sh", "-c", script)
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "true" {
			tb.Fatalf("%s missing; type: sudo sh -c %q", strings.Join(lacking, " and "), script)
		}
		cmd = exec.CommandContext(tb.Context(), "sudo", "-n", "sh", "-c", script)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", script, err, out)
	}
	if lacking := missing(programs); len(lacking) > 0 {
		tb.Fatalf("%s missing after %s", strings.Join(lacking, " and "), script)
	}
}

func missing(programs []string) []string {
	var lacking []string
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			lacking = append(lacking, p)
		}
	}
	return lacking
}
