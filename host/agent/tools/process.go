package tools

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"spillway/host/agent/tool"
)

const (
	// backgroundWait is how long the end of a command's output is waited for when
	// the command has ended, but a process that it left behind may still write.
	backgroundWait = time.Second
	// grace is what the processes of a command have between TERM and KILL.
	grace = 2 * time.Second
)

// process is a command that runs, with all the processes of its group.
type process struct {
	cmd  *exec.Cmd
	out  *ends         // to be read when done is closed
	done chan struct{} // closed when the command has ended and its output was read
	left bool          // a process that it has left behind holds the output; valid then
}

// start starts a command. Its output and its errors are one pipe, so that what came
// first stands first; its input is empty.
func start(cmd *exec.Cmd, out *ends) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p := &process{cmd: cmd, out: out, done: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		io.Copy(out, r) // until all who hold the pipe are gone, or it is closed here
		close(read)
	}()
	go func() {
		cmd.Wait() // how it ended is in cmd.ProcessState
		select {
		case <-read:
		case <-time.After(backgroundWait):
			p.left = true
		}
		r.Close()
		<-read
		close(p.done)
	}()
	return p, nil
}

// ended is the result of a command that ended by itself.
func (p *process) ended() (tool.Result, error) {
	state := p.cmd.ProcessState
	if state == nil {
		return tool.Result{}, errors.New("the system does not tell how the command ended")
	}
	text := p.out.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if p.left {
		text += "[a process that it started still runs, and its output is no longer read]\n"
	}
	if state.Success() {
		return tool.Text(cmp.Or(text, "[no output]\n")), nil
	}
	return tool.Failed("%s[%s]\n", text, strings.Replace(state.String(), "exit status", "exit code", 1)), nil
}

// stopped ends the command, and is its result.
func (p *process) stopped(why string) tool.Result {
	p.stop()
	end := "its processes were ended"
	if p.left {
		end = "its processes were ended but for one that has left their group, and still runs"
	}
	return tool.Failed("%s\n[%s; %s]\n", p.out.String(), why, end)
}

// stop ends the processes, and returns when none of the group can do anything any
// more.
func (p *process) stop() {
	signalGroup(p.cmd, syscall.SIGTERM)
	patience := time.NewTimer(grace)
	defer patience.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for over := false; !over && groupAlive(p.cmd); {
		select {
		case <-look.C:
		case <-patience.C:
			over = true
		}
	}
	signalGroup(p.cmd, syscall.SIGKILL)
	<-p.done
}
