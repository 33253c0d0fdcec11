package mcp

import (
	"os"
	"os/exec"
	"sync"
	"time"

	"spillway/host/procgroup"
)

const (
	// outputGrace is how long outputs are still read once the process has ended: a
	// grandchild may hold them open for ever.
	outputGrace = 100 * time.Millisecond
	// stopPatience is how long a server may take to end, when its input is closed
	// and again when it is asked.
	stopPatience = 2 * time.Second
	// killPatience is how long the kernel may take to end a killed process.
	killPatience = 2 * time.Second
)

// process is a server's process. Its ends of the pipes are closed by whoever
// reads and writes them.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	end    sync.Once // of its input
	done   chan struct{}
	err    error // of Wait; set before done is closed
}

// startProcess starts cmd, in a group of its own, with pipes to it.
func startProcess(cmd *exec.Cmd) (*process, error) {
	stdin, stdinW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, stdoutW, err := os.Pipe()
	if err != nil {
		stdin.Close()
		stdinW.Close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = stdin, stdoutW
	cmd.WaitDelay = outputGrace // for standard error
	procgroup.Isolate(cmd)
	err = cmd.Start()
	stdin.Close() // the child has its own
	stdoutW.Close()
	if err != nil {
		stdinW.Close()
		stdout.Close()
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdinW, stdout: stdout, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		procgroup.Kill(cmd.Process.Pid) // what it started goes with it
		_ = stdout.SetReadDeadline(time.Now().Add(outputGrace))
		close(p.done)
	}()
	return p, nil
}

// stop ends the process and its group, in bounded time: its input ends, then it
// is asked, then it is killed.
func (p *process) stop(patience time.Duration) {
	p.end.Do(func() { p.stdin.Close() })
	if p.within(patience) {
		return
	}
	procgroup.Terminate(p.cmd.Process.Pid)
	if p.within(patience) {
		return
	}
	p.kill()
	p.within(killPatience)
}

// kill ends the process and its group without waiting for it.
func (p *process) kill() {
	select {
	case <-p.done: // its number may be another's by now
	default:
		procgroup.Kill(p.cmd.Process.Pid)
	}
}

func (p *process) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// exit is how the process ended, once it has.
func (p *process) exit() string {
	select {
	case <-p.done:
	default:
		return "no end in sight"
	}
	if p.err != nil {
		return p.err.Error()
	}
	return "exit status 0"
}
