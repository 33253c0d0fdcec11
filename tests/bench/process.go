package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"spillway/tests/bench/upstream"
)

const (
	// startTime bounds how long a process takes to listen.
	startTime = 30 * time.Second
	// stopTime is how long it has to end after SIGTERM.
	stopTime = 10 * time.Second
)

// process is a gateway that runs.
type process struct {
	url       string
	pid       int
	began     time.Time
	listening time.Duration // from there to the line that says where
	stop      func()
}

// startProcess runs a command that prints "listening on URL". What it writes to
// standard error goes to a file in dir.
func startProcess(ctx context.Context, dir string, env []string, name string, args ...string) (p *process, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	log, err := os.Create(filepath.Join(dir, "stderr"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// That it was told to end is how it ends.
	stop := func() { cancel(); _ = cmd.Wait() }
	late := time.AfterFunc(startTime, cancel)
	defer late.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s printed %q (%v), want where it listens\n%s", filepath.Base(name), line, err, said)
	}
	return &process{url: url, pid: cmd.Process.Pid, began: began, listening: time.Since(began), stop: stop}, nil
}

// startVendors runs the vendors in a process of their own, so that what they use
// is not the load generator's. They end with this process, or with stop.
func startVendors(ctx context.Context, self, addresses string) (c *upstream.Control, pid int, stop func(), err error) {
	a, b, ok := strings.Cut(addresses, ",")
	if !ok {
		return nil, 0, nil, fmt.Errorf("-vendors: %q are not two addresses", addresses)
	}
	cmd := exec.CommandContext(ctx, self, roleVendors, a, b)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, 0, nil, err
	}
	stop = func() { _ = in.Close(); _ = cmd.Wait() }
	if c, err = upstream.NewControl(in, out); err != nil {
		stop()
		return nil, 0, nil, err
	}
	return c, cmd.Process.Pid, stop, nil
}
