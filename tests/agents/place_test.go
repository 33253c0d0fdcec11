package agents

import (
	"context"
	"fmt"
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
	name  string
	shell shell
	// sticky says that it names its conversation in its requests.
	sticky bool
	// onBreak is what it does when a stream breaks after its first content.
	onBreak onBreak
	// aside is how often vendors may be asked for something else than the task,
	// a title of the conversation say: by requests that do not offer the shell.
	aside int
	names []string // that it looks up, whatever one tells it
	// command writes its configuration and returns how it is started.
	command func(p *place) (argv, env []string)
}

// onBreak is what an agent does when a stream breaks.
type onBreak uint8

const (
	givesUp onBreak = iota
	repeats         // it asks again, for the whole answer
	resumes         // it asks for the rest of a text, and again for the whole of a tool call
)

// shell is the tool with which an agent runs commands.
type shell struct {
	tool     string
	argument string // that is the command line
	further  string // arguments that it wants besides, as JSON after a comma
	after    string // what it adds to the command's output at the end
}

// script is a simulated vendor's script for requests that offer the shell. TASK
// stands for a call of it, REST for what completes a broken answer.
func (a agent) script(text string) string {
	s := a.shell
	task := fmt.Sprintf(`tool=%s args='{%q:"echo ran >> %s && cat %s"%s}'`, s.tool, s.argument, runsFile, reportFile, s.further)
	rest := task
	if a.onBreak == resumes {
		rest = "" // the text of every answer without a tool
	}
	return "offers=" + s.tool + " => " + strings.NewReplacer("TASK", task, "REST", rest).Replace(text) + "\n" + asideStep
}

// asideStep is the step for requests that do not offer the shell.
const asideStep = "ok tokens=5"

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
	installed []string // folders with the agents' packages
	url       string   // of the gateway
}

func newPlace(t *testing.T, installed []string, url string) *place {
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
func (p *place) module(path string) string {
	p.t.Helper()
	for _, dir := range p.installed {
		if file := filepath.Join(dir, path); exists(file) {
			return file
		}
	}
	p.t.Fatalf("%s was not installed", path)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// native is the path of a program that is in a package of its own for each
// architecture.
func (p *place) native(pkg, path string) string {
	p.t.Helper()
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return p.module(pkg + "-linux-" + arch + "/" + path)
}

// node is the path of the Node that came with the agents.
func (p *place) node() string {
	p.t.Helper()
	return p.native("node", "bin/node")
}

// clean is the environment of every process here.
func (p *place) clean() []string {
	p.t.Helper()
	return []string{"HOME=" + p.home, "PATH=" + filepath.Dir(p.node()) + ":/usr/bin:/bin", "LANG=C.UTF-8"}
}

// result is what an agent left behind.
type result struct {
	status         int
	stdout, stderr string
}

// runTime is far more than any agent takes.
const runTime = 5 * time.Minute

// run runs the agent to its end. All processes it started end with it.
func (p *place) run(a agent) result {
	p.t.Helper()
	argv, env := a.command(p)
	ctx, cancel := context.WithTimeout(p.t.Context(), runTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(p.clean(), env...)
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
