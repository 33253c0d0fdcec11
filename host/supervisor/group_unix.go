//go:build unix

package supervisor

import (
	"os/exec"
	"syscall"
)

// isolate puts the process into a group of its own: signals to the host's group
// do not reach it, and it can be ended with everything it started.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
