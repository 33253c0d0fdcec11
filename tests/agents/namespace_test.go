package agents

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"spillway/tests/internal/rig"
)

// isolate runs this test binary once more, in a network of its own that has
// loopback and a name server that knows no name. The server is for the process
// in there; the one outside gets nil when the other has ended.
func isolate(t *testing.T) *names {
	t.Helper()
	// The list of files that a test reads is for the go command and has one writer.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.testlogfile")
	})
	if !rig.Isolate(t, 0, os.Stdout, args...) {
		return nil
	}
	loopbackUp(t)
	return serveNames(t)
}

// loopbackUp switches on the only interface of a new network.
func loopbackUp(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatalf("loopback: %v", err)
	}
}

// resolveHere makes 127.0.0.1 the name server of everything in this mount
// namespace.
func resolveHere(t *testing.T) {
	t.Helper()
	const system = "/etc/resolv.conf"
	target, err := filepath.EvalSymlinks(system)
	if errors.Is(err, os.ErrNotExist) {
		return // 127.0.0.1 is what a system without the file asks
	}
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(own, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatalf("mount namespace: %v", err)
	}
	if err := unix.Mount(own, target, "", unix.MS_BIND, ""); err != nil {
		t.Fatalf("bind %s: %v", target, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(target, 0); err != nil {
			t.Error(err)
		}
	})
}
