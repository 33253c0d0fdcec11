//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a process the leader of a group that its children belong to.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to all of the command's processes. There are none to
// get it if all have ended.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) { syscall.Kill(-cmd.Process.Pid, s) }

// groupAlive reports whether the command has any process left, if only one whose
// end nobody has asked for yet.
func groupAlive(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
