package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent/ledger"
	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// The agent as its users run it: the program, its plugin's process, and strict
// vendors that refuse a history which is not sound.

// bench is a profile with a working folder.
type bench struct {
	t       *testing.T
	profile string
	folder  string
	env     []string
}

const agentRows = `- id: failover
  name: failover
  config: {priority: [anthropic/claude-sonnet-5, kimi-coding/k3, deepseek/deepseek-flash]}
- {id: files, name: tools-files}
- {id: shell, name: tools-shell}
`

func newBench(t *testing.T, rows string, env ...string) *bench {
	t.Helper()
	b := &bench{t: t, profile: rig.Profile(t, rows), folder: t.TempDir()}
	b.env = append([]string{"HOME=" + b.folder, "PATH=" + os.Getenv("PATH"), "SPILLWAY_HOME=" + filepath.Dir(filepath.Dir(b.profile)), "GORACE=atexit_sleep_ms=0"}, env...)
	return b
}

// command is spillway with the arguments, in the working folder.
func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(rig.Spillway(b.t), append(args, "--profile", b.profile+"/")...)
	cmd.Dir, cmd.Env = b.folder, b.env
	return cmd
}

// run runs spillway, which must exit with the code.
func (b *bench) run(code int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	cmd := b.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code tells
	if got := cmd.ProcessState.ExitCode(); got != code {
		b.t.Fatalf("%q: exit code %d, want %d\n%s%s", args, got, code, &out, &errs)
	}
	return out.String(), errs.String()
}

func (b *bench) file(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.folder, name))
	if err != nil {
		b.t.Error(err)
	}
	return string(data)
}

// ledger lists the tool calls that change something.
func (b *bench) ledger() []ledger.Entry {
	b.t.Helper()
	out, _ := b.run(0, "ledger", "--json")
	var all []ledger.Entry
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
	return all
}

// refusals lists the vendors' answers to histories that they do not take.
func refusals(s *sim.Server) (all []string) {
	for _, c := range s.Calls() {
		if c.Status == 400 {
			all = append(all, c.Vendor+" "+c.Step)
		}
	}
	return all
}

func reasoning(name, script string) sim.Vendor {
	return sim.Vendor{Name: name, Script: script, Answer: sim.Answer{Tokens: 8, Reasoning: 3, Numbered: true}}
}

// A task of several steps: Claude's plan is used up at the second, Kimi dies in
// mid-answer at the fourth. The files are right, and each write ran once.
func TestAgentTask(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t,
		reasoning("anthropic", `call=write_file args='{"path":"plan.txt","content":"the plan\n"}'; quota`),
		reasoning("kimi-coding", `call=shell args='{"command":"echo two >> log.txt"}'; call=edit_file args='{"path":"plan.txt","old_text":"plan","new_text":"work"}'; cut=5`),
		reasoning("deepseek", `call=shell args='{"command":"echo four >> log.txt; cat plan.txt"}'; ok tokens=4`))
	rows, env := rig.Providers(s, "anthropic", "openai", "openai")
	b := newBench(t, rows+agentRows, env...)
	stdout, stderr := b.run(0, "run", "--yes", "do the work")

	if !strings.HasPrefix(stdout, "The tool told deepseek:") {
		t.Errorf("answer: got %q", stdout)
	}
	if got := b.file("plan.txt"); got != "the work\n" {
		t.Errorf("plan.txt: got %q", got)
	}
	if got := b.file("log.txt"); got != "two\nfour\n" {
		t.Errorf("log.txt: got %q", got)
	}
	var calls []string
	for _, e := range b.ledger() {
		calls = append(calls, e.Tool)
		if e.State != ledger.Succeeded || e.Runs != 1 {
			t.Errorf("%s: %s after %d runs, want one that succeeded", e.Tool, e.State, e.Runs)
		}
	}
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"edit_file", "shell", "shell", "write_file"}, calls); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if got := refusals(s); got != nil {
		t.Errorf("vendors refused the history: %q", got)
	}
	// Each change of the route is told once, though each call passes over Claude.
	if n := strings.Count(stderr, "the answer broke off (TRANSPORT"); n < 2 || n > 4 { // its circuit opens with the second
		t.Errorf("%d answers of Kimi were withdrawn, want 2:\n%s", n, stderr)
	}
	for line, times := range map[string]int{
		"switched to kimi-coding/k3: anthropic/claude-sonnet-5 is out of quota (QUOTA)": 1,
		"switched to deepseek/deepseek-flash":                                           1,
		"the answer broke off (TRANSPORT":                                               2, // its circuit opens with the second
	} {
		if got := strings.Count(stderr, line); got != times {
			t.Errorf("%q was told %d times, want %d:\n%s", line, got, times, stderr)
		}
	}
}

// A nested agent meets a dead vendor: the same hook serves it, its vendor is
// charged, and its parent goes on with the one that answers.
func TestAgentNested(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t,
		reasoning("anthropic", `call=task args='{"prompt":"write it down"}'; quota`),
		reasoning("kimi-coding", `call=shell args='{"command":"echo nested >> log.txt"}'; ok; ok`))
	rows, env := rig.Providers(s, "anthropic", "openai")
	b := newBench(t, rows+agentRows, env...)
	stdout, stderr := b.run(0, "run", "--yes", "--json", "have it written down")
	if got := b.file("log.txt"); got != "nested\n" {
		t.Errorf("log.txt: got %q", got)
	}
	if !strings.Contains(stdout, `"depth":1,"event":"tool_start"`) || !strings.Contains(stdout, `"event":"done","exit":0`) {
		t.Errorf("events:\n%s%s", stdout, stderr)
	}
	if n := len(s.Vendor("anthropic").Calls()); n != 2 {
		t.Errorf("Claude was asked %d times, want 2: its failure is known to parent and child", n)
	}
	if got := refusals(s); got != nil {
		t.Errorf("vendors refused the history: %q", got)
	}
	status, _ := b.run(0, "status", "--json")
	if !strings.Contains(status, `"target": "anthropic"`) {
		t.Errorf("status does not charge the vendor:\n%s", status)
	}
}

// Without a terminal nobody agrees to a command, and the model is told so; --tools
// leaves out what would change something.
func TestAgentConsent(t *testing.T) {
	t.Parallel()
	const script = `call=shell args='{"command":"echo yes >> log.txt"}'; ok`
	s := rig.Vendors(t, reasoning("anthropic", script+"; "+script))
	rows, env := rig.Providers(s, "anthropic")
	b := newBench(t, rows+agentRows, env...)
	stdout, stderr := b.run(0, "run", "write")
	if !strings.Contains(stdout, "nobody is there to be asked: run: echo yes >> log.txt") {
		t.Errorf("got %q\n%s", stdout, stderr)
	}
	b.run(0, "run", "--tools", "read-only", "write")
	if _, err := os.Stat(filepath.Join(b.folder, "log.txt")); err == nil {
		t.Error("the command ran")
	}
	last := s.Vendor("anthropic").Calls()
	if body := string(last[len(last)-1].Body); strings.Contains(body, `"name":"shell"`) || !strings.Contains(body, `"name":"read_file"`) {
		t.Errorf("offered: %s", body)
	}
}

// Ctrl-C keeps what was said; the next message goes on with it.
func TestAgentInterrupted(t *testing.T) {
	t.Parallel()
	s := rig.Vendors(t, sim.Vendor{Name: "anthropic", Script: "stall=4; ok", Answer: sim.Answer{Tokens: 8, Numbered: true}})
	rows, env := rig.Providers(s, "anthropic")
	b := newBench(t, rows+agentRows, env...)
	cmd := b.command("run", "--json", "count")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if last = lines.Text(); strings.Contains(last, "w3@anthropic") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // the exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(last, `"event":"done","exit":130`) {
		t.Errorf("exit code %d, want 130; the last event: %s", code, last)
	}
	b.run(0, "run", "--continue", "go on")
	calls := s.Vendor("anthropic").Calls()
	body := string(calls[len(calls)-1].Body)
	for _, want := range []string{"w3@anthropic", "The user interrupted you here", "go on"} {
		if !strings.Contains(body, want) {
			t.Errorf("the next call lacks %q: %s", want, body)
		}
	}
}
