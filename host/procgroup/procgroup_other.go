//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

// Isolate does nothing: without process groups only the process itself can be
// ended.
func Isolate(*exec.Cmd) {}

// Terminate ends the process.
func Terminate(pid int) { Kill(pid) }

// Kill ends the process.
func Kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
