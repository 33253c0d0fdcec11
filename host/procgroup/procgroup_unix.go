//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Isolate makes cmd, which is not started yet, the first process of a group of
// its own. The group's number is the process's.
func Isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Terminate asks a group to end.
func Terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

// Kill ends a group.
func Kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
