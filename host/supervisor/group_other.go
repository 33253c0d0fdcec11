//go:build !unix

package supervisor

import (
	"os"
	"os/exec"
)

// Without process groups only the process itself can be ended.

func isolate(*exec.Cmd) {}

func terminateGroup(pid int) { killGroup(pid) }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
