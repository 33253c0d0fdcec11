package supervisor

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"spillway/host/procgroup"
)

// outputGrace is how long outputs are still read once the process has ended: a
// grandchild may hold them open for ever.
const outputGrace = 100 * time.Millisecond

// process is one plugin process. It is go-plugin's Runner, which gets the
// handshake line from it and nothing else to read.
type process struct {
	start    context.Context // its end aborts a start that hangs
	abort    func() bool     // after Start: no longer
	cmd      *exec.Cmd
	output   func(stderr bool, line string) // called from two goroutines
	lifeline *os.File                       // our end; closing it ends the plugin

	handshake  *io.PipeReader
	handshakeW *io.PipeWriter
	silence    *io.PipeReader // in the place of stderr
	silenceW   *io.PipeWriter

	shaken atomic.Pointer[string] // its handshake line
	killed atomic.Bool            // we ended it
	done   chan struct{}          // closed when the process has ended and its output is read
	err    error                  // of Wait; set before done is closed
	once   sync.Once
}

var _ runner.Runner = (*process)(nil)

// newProcess prepares path to run with env. output gets every line that it
// writes. The process is killed if start ends before abort is called.
func newProcess(start context.Context, path string, env []string, output func(stderr bool, line string)) *process {
	p := &process{start: start, cmd: exec.Command(path), output: output, done: make(chan struct{})}
	p.cmd.Env = env
	p.cmd.Dir = "/"
	procgroup.Isolate(p.cmd)
	p.handshake, p.handshakeW = io.Pipe()
	p.silence, p.silenceW = io.Pipe()
	return p
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) (err error) {
	var open []*os.File
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			if r, w, err = os.Pipe(); err == nil {
				open = append(open, r, w)
			}
		}
		return r, w
	}
	stdout, stdoutW := pipe()
	stderr, stderrW := pipe()
	life, lifeW := pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdin = nil // /dev/null
	p.cmd.Stdout, p.cmd.Stderr = stdoutW, stderrW
	p.cmd.ExtraFiles = []*os.File{life} // descriptor 3
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.lifeline = lifeW
	p.abort = context.AfterFunc(p.start, func() { p.end(0) })
	open = []*os.File{stdoutW, stderrW, life} // the child has its own

	var readers sync.WaitGroup
	readers.Go(func() { p.readStdout(stdout) })
	readers.Go(func() { readLines(stderr, func(l string) { p.output(true, l) }) })
	go func() {
		err := p.cmd.Wait()
		procgroup.Kill(p.cmd.Process.Pid) // what it started goes with it
		deadline := time.Now().Add(outputGrace)
		_ = stdout.SetReadDeadline(deadline)
		_ = stderr.SetReadDeadline(deadline)
		readers.Wait()
		stdout.Close()
		stderr.Close()
		// go-plugin, which kills at the end of the handshake, comes after the facts:
		// a process that has ended by itself is not taken for one that was killed.
		p.err = err
		close(p.done)
		p.handshakeW.Close()
		p.silenceW.Close()
	}()
	return nil
}

// readStdout passes the first line that is a handshake to go-plugin.
// What else is printed there, before or after, is output like any other.
func (p *process) readStdout(r io.Reader) {
	readLines(r, func(l string) {
		if p.shaken.Load() == nil && isHandshake(l) {
			p.shaken.Store(&l)
			_, _ = io.WriteString(p.handshakeW, l+"\n")
			return
		}
		p.output(false, l)
	})
}

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error {
	<-p.done
	return p.err
}

// Kill implements runner.Runner: go-plugin calls it for a start that failed.
func (p *process) Kill(context.Context) error {
	p.stop(0)
	return nil
}

// killTimeout is how long the kernel may take to end a killed process. One that
// hangs in the kernel longer is left behind.
const killTimeout = 2 * time.Second

// stop ends the process and its group: its lifeline is cut, then it is asked,
// then it is killed. Each step may take patience; without any it is killed at
// once. It reports whether there is no process any more.
func (p *process) stop(patience time.Duration) bool {
	if p.cmd.Process == nil {
		return true
	}
	p.abort()
	return p.end(patience)
}

func (p *process) end(patience time.Duration) bool {
	p.once.Do(func() { p.lifeline.Close() })
	if p.ended() {
		return true // with its group; the number may be another's by now
	}
	p.killed.Store(true)
	pid := p.cmd.Process.Pid
	if patience > 0 {
		if p.within(patience) {
			return true
		}
		procgroup.Terminate(pid)
		if p.within(patience) {
			return true
		}
	}
	procgroup.Kill(pid)
	return p.within(killTimeout)
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

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stdout implements runner.Runner.
func (p *process) Stdout() io.ReadCloser { return p.handshake }

// Stderr implements runner.Runner. go-plugin reads nothing from it.
func (p *process) Stderr() io.ReadCloser { return p.silence }

// Name implements runner.Runner.
func (p *process) Name() string { return p.cmd.Path }

// ID implements runner.Runner.
func (p *process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// Diagnose implements runner.Runner. The caller of a start that failed asks the
// process itself.
func (p *process) Diagnose(context.Context) string { return "" }

// ours reports whether the process has ended because we killed it.
func (p *process) ours() bool {
	if !p.killed.Load() || !p.ended() {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](p.err)
	return ok && exit.ExitCode() < 0 // by a signal
}

// exit is how the process ended, once it has.
func (p *process) exit() string {
	switch {
	case !p.ended():
		return "no end in sight"
	case p.err != nil:
		return p.err.Error()
	}
	return "exit status 0"
}

// PluginToHost implements runner.Runner.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
