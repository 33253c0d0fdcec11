//go:build unix

package mcp

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"spillway/host/agent/tool"
)

// A server that does not read is no reason to wait for ever.
func TestDeafProcess(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	file := filepath.Join(t.TempDir(), "log")
	if err := s.current.proc.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.config.Timeout = milliseconds(time.Second)
	_, err := use(t.Context(), t, s, "append", `{"x":"`+strings.Repeat("x", 256<<10)+`"}`) // no pipe holds that
	s.config.Timeout = milliseconds(time.Minute)
	if err == nil || errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v, want an error that leaves open what happened", err)
	}
	<-s.current.ended // it was killed: nothing after half a message is understood
	mustUse(t, s, "append", fileInput(file))
	if n := executed(t, file); n != 1 {
		t.Errorf("executed %d times, want once", n)
	}
}
