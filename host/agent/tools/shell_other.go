//go:build !unix

package tools

import (
	"os/exec"
	"syscall"
)

// Where there are no groups of processes only the command itself is ended.

func ownGroup() *syscall.SysProcAttr { return nil }

func signalGroup(cmd *exec.Cmd, _ syscall.Signal) { cmd.Process.Kill() }

func groupAlive(*exec.Cmd) bool { return false }
