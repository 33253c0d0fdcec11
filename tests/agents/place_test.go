package agents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agent is a program that people use, as the README says to set it up.
type agent struct {
	name string
	call string // of its shell: the option of a simulated vendor's step
	// sticky says that it names its conversation in its requests.
	sticky bool
	// repeats says that it asks again when a stream breaks after its first
	// content. Others give up.
	repeats bool
	// command writes its configuration and returns how it is started.
	command func(p *place) (args, env []string)
}

// shell is the option that has the model call a tool with a command line. rest
// are further arguments.
func shell(tool, argument, rest string) string {
	return "tool=" + tool + ` args='{"` + argument + `":"` + "echo ran >> " + runsFile + " && cat " + reportFile + `"` + rest + `}'`
}

const (
	runsFile   = "runs.txt"   // has a line for each time the tool ran
	reportFile = "report.txt" // is what the tool prints

	// clientKey is what agents send as their key.
	clientKey = "canary-of-the-agent"
	prompt    = "When does the ferry leave?"
)

// place is where an agent works: a home of its own, and a folder in which its
// tool runs.
type place struct {
	t         *testing.T
	home, dir string
	installed string // the agents' packages
	url       string // of the gateway
}

func newPlace(t *testing.T, installed, url string) *place {
	t.Helper()
	p := &place{t: t, home: t.TempDir(), dir: t.TempDir(), installed: installed, url: url}
	p.write(filepath.Join(p.dir, reportFile), report)
	return p
}

// write writes a file below the home, unless path is absolute.
func (p *place) write(path, content string) {
	p.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.home, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// module is the path of a file of an installed package.
func (p *place) module(path string) string { return filepath.Join(p.installed, path) }

// node is the path of the Node that came with the agents.
func (p *place) node() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return p.module("node-linux-" + arch + "/bin/node")
}

// result is what an agent left behind.
type result struct {
	status         int
	stdout, stderr string
}

// runTime is far more than any agent takes.
const runTime = 2 * time.Minute

// run runs the agent to its end. All processes it started end with it.
func (p *place) run(a agent) result {
	p.t.Helper()
	args, env := a.command(p)
	ctx, cancel := context.WithTimeout(p.t.Context(), runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.node(), args...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{"HOME=" + p.home, "PATH=" + filepath.Dir(p.node()) + ":/usr/bin:/bin", "LANG=C.UTF-8"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	if ctx.Err() != nil {
		p.t.Errorf("the agent did not end in %v", runTime)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
