package rig

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// isolatedEnv tells a test binary that it runs in namespaces of its own.
const isolatedEnv = "SPILLWAY_RIG_ISOLATED"

// Isolate runs this test binary once more with args, in a network without any
// interface that is up and with mounts of its own, and in the further namespaces
// that flags ask for (syscall.CLONE_NEWPID). It reports true in that process. The
// one outside gets false once the other has ended, and the test has failed if that
// one did. A network ends with the last process in it; the process inside ends when
// the one outside does.
func Isolate(t *testing.T, flags uintptr, out io.Writer, args ...string) bool {
	t.Helper()
	if os.Getenv(isolatedEnv) != "" {
		return true
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = slices.Concat(os.Environ(), Built(t), []string{isolatedEnv + "=1"})
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	// The signal at our death comes at that of the thread that has started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		t.Errorf("the tests in the namespace: %v", err)
		return false
	}
	if err != nil {
		t.Fatalf("no network namespace to be had (%v): run the tests as root with CAP_SYS_ADMIN, "+
			"or let users have namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_net_namespaces=100", err)
	}
	return false
}
