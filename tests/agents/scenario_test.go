package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// vendors are those of the profile in the order of its priority.
var vendors = []string{"anthropic", "kimi-coding", "deepseek"}

// scenario is what befalls the vendors while an agent does its task.
type scenario struct {
	name string
	// scripts are those of the vendors, see agent.script; as many as there are.
	// The simulated model calls the tool until it has the result, then answers
	// with text.
	scripts  []string
	dialects []string // that the vendors are spoken to in
	calls    calls
}

// calls are how many requests reach each vendor, if the agent …
type calls struct {
	plain  []int
	sticky []int // … names its conversation, so that a tool's result goes where the call came from
	again  []int // … does not give up when a stream breaks
}

// A vendor that is out of quota is asked once and then left alone. One that dies
// before its first content is asked twice for each request: the profile forgives
// it all failures.
var (
	third    = calls{plain: []int{1, 4, 2}, sticky: []int{1, 2, 2}}
	inAnswer = calls{plain: []int{2}, again: []int{3}}
	inCall   = calls{plain: []int{1}, again: []int{3}}
)

var scenarios = []scenario{
	{"quota, then error event, then chat", []string{"quota", "error-event=0", "ok TASK"}, []string{"anthropic", "responses", "openai"}, third},
	{"quota, then lost connection, then messages", []string{"quota", "cut=0", "ok TASK"}, []string{"openai", "openai", "anthropic"}, third},
	{"quota, then 500, then responses", []string{"quota", "500", "ok TASK"}, []string{"responses", "anthropic", "responses"}, third},
	{"chat is lost in the answer", []string{"ok TASK; cut=4; ok REST"}, []string{"openai"}, inAnswer},
	{"messages ends in the answer", []string{"ok TASK; eof=4; ok REST"}, []string{"anthropic"}, inAnswer},
	{"responses is lost in the tool call", []string{"cut=2 TASK; ok TASK"}, []string{"responses"}, inCall},
}

// expect returns how many calls reach each vendor, and whether the task gets done.
func (sc scenario) expect(a agent) (calls []int, done bool) {
	switch several := len(sc.scripts) > 1; {
	case several && a.sticky:
		return sc.calls.sticky, true
	case !several && a.onBreak != givesUp:
		return sc.calls.again, true
	default:
		return sc.calls.plain, several
	}
}

// further are the profile's other rows: what one of the agents calls the model
// by itself, and the plugin. Its threshold is out of reach, so that every request
// meets the vendor that dies on its way.
const further = `
- id: aliases
  name: aliases
  config: {deepseek-v4-flash: {route: anthropic/claude-sonnet-5}}
- id: failover
  name: failover
  config: {priority: [%s], failureThreshold: 1000}
`

func (sc scenario) run(t *testing.T, a agent, installed []string) {
	var upstream []sim.Vendor
	for i, script := range sc.scripts {
		upstream = append(upstream, sim.Vendor{Name: vendors[i], Script: a.script(script), Answer: sim.Answer{Text: report}})
	}
	sims := rig.Vendors(t, upstream...)
	rows, env := rig.Providers(sims, sc.dialects...)
	server := rig.Serve(t, rows+fmt.Sprintf(further, strings.Join(vendors[:len(upstream)], ", ")), env...)
	p := newPlace(t, installed, server.URL)

	got := p.run(a)

	want, done := sc.expect(a)
	secrets, aside := []string{clientKey}, 0
	for i, v := range sims.Vendors() {
		secrets = append(secrets, rig.Key(v.Name()))
		calls := v.Calls()
		n := len(calls)
		calls = slices.DeleteFunc(calls, func(c sim.Call) bool { return c.Step == asideStep })
		aside += n - len(calls)
		if len(calls) != want[i] {
			t.Errorf("%d calls reached %q, want %d", len(calls), v.Name(), want[i])
		}
	}
	if aside > a.aside {
		t.Errorf("%d calls were not of the task, want at most %d", aside, a.aside)
	}
	runs := 1
	switch {
	case !done:
		got.wantFailed(t)
		runs = want[0] - 1 // none if the only answer was the broken call
	case a.onBreak == resumes && strings.Contains(sc.scripts[0], "REST"):
		got.wantWhole(t, report)
	default:
		got.wantWhole(t, report+a.shell.after)
	}
	p.wantRuns(runs)
	if leaks := server.Leaks(secrets...); leaks != nil {
		t.Errorf("secrets stand where they must not: %q", leaks)
	}
}

// report is what the tool tells the agent.
const report = `Ferry 07:40 Åland time, quay "four"; <seats 12 & 13> 🚢.`

// saying is how the simulated model begins an answer with a tool's result.
const saying = "The tool told "

// wantWhole checks that the task was done: the answer is there, whole and once,
// and ends with end.
func (r result) wantWhole(t *testing.T, end string) {
	t.Helper()
	text := strings.TrimSpace(r.stdout)
	if r.status != 0 || strings.Count(text, saying) != 1 || strings.Count(text, report) != 1 || !strings.HasSuffix(text, end) {
		t.Errorf("exit status %d, printed %q, want 0 and one answer, ending with %q\nstandard error: %s", r.status, text, end, r.stderr)
	}
}

// wantFailed checks that nobody takes the task for done, and that the person is
// told where to look.
func (r result) wantFailed(t *testing.T) {
	t.Helper()
	if r.status == 0 || strings.Contains(r.stdout, report) || !strings.Contains(r.stderr, "spillway explain req_") {
		t.Errorf("exit status %d, printed %q, want a failure that names the request\nstandard error: %s", r.status, r.stdout, r.stderr)
	}
}

// wantRuns checks how often the tool ran.
func (p *place) wantRuns(n int) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, runsFile))
	if err != nil && !os.IsNotExist(err) {
		p.t.Fatal(err)
	}
	if got := strings.Count(string(data), "\n"); got != n {
		p.t.Errorf("the tool ran %d times, want %d", got, n)
	}
}
