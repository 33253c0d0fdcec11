package agents

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"spillway/tests/internal/rig"
)

// isolatedEnv tells this test binary that it runs in namespaces of its own.
const isolatedEnv = "SPILLWAY_AGENTS_ISOLATED"

// isolate runs this test binary once more, in a network of its own that has
// loopback and a name server that knows no name. The server is for the process
// in there; the one outside gets nil when the other has ended.
func isolate(t *testing.T) *names {
	t.Helper()
	if os.Getenv(isolatedEnv) != "" {
		loopbackUp(t)
		return serveNames(t)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The list of files that a test reads is for the go command and has one writer.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.testlogfile")
	})
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = slices.Concat(os.Environ(), rig.Built(t), []string{isolatedEnv + "=1"})
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	err = cmd.Run()
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		t.Fatalf("the tests in the namespace: %v", err)
	}
	if err != nil {
		t.Fatalf("no network namespace to be had (%v): run the tests as root with CAP_SYS_ADMIN, "+
			"or let users have namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_net_namespaces=100", err)
	}
	return nil
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
