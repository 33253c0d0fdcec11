package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

func TestMain(m *testing.M) {
	code := m.Run()
	rig.Remove()
	os.Exit(code)
}

func TestGoSDK(t *testing.T) {
	t.Parallel()
	program := buildGoSDK(t)
	survive(t, 0, program)
	notice(t, program)
}

func TestNodeSDK(t *testing.T) {
	t.Parallel()
	program := installNodeSDK(t)
	survive(t, 1, program...)
	notice(t, program...)
}

// vendors are those of the profile in the order of its priority.
var vendors = []string{"anthropic", "kimi-coding", "deepseek"}

// scenario is what befalls the vendors while a client has its conversations.
type scenario struct {
	name    string
	scripts [3]string // see sim.Parse
	steps   []string  // of the task
	calls   [3]int    // that reach each vendor
}

var (
	wholeFirst  = []string{"call", "tool", "stream", "tool-stream"}
	streamFirst = []string{"tool-stream", "stream", "tool", "call"}
)

// The conversations have six requests. A vendor that is out of quota, or has
// closed the account, is asked once and then left alone. One that dies on its
// way is asked twice for each request: the profile forgives it all failures.
var scenarios = []scenario{
	{"healthy", [3]string{"ok", "ok", "ok"}, wholeFirst, [3]int{6, 0, 0}},
	{"quota then ban, not streamed first", [3]string{"quota", "ban", "ok"}, wholeFirst, [3]int{1, 1, 6}},
	{"quota then ban, streamed first", [3]string{"quota", "ban", "ok"}, streamFirst, [3]int{1, 1, 6}},
	{"quota then reset", [3]string{"quota", "reset", "ok"}, streamFirst, [3]int{1, 12, 6}},
	{"quota then error event", [3]string{"quota", "error-event=0", "ok"}, streamFirst, [3]int{1, 12, 6}},
	{"quota then 500", [3]string{"quota", "500", "ok"}, wholeFirst, [3]int{1, 12, 6}},
}

// sdks are the clients of a program, with what vendors are spoken to in, by
// turns: that of the first answers, and is the SDK's own or another one. The
// second vendor never speaks that of its neighbours.
var sdks = map[string][][]string{
	"openai":    {{"openai", "anthropic"}, {"anthropic", "openai"}},
	"responses": {{"responses", "openai"}, {"openai", "anthropic"}, {"anthropic", "responses"}},
	"anthropic": {{"openai", "anthropic"}, {"anthropic", "openai"}},
}

// survive runs a client program through scenarios, with each of its SDKs. What
// befalls the vendors and what is spoken to them hardly meet, so that not every
// scenario is tried with every dialect: with each the healthy one and two others,
// by turns. The programs begin at different ones, so each SDK has met them all.
func survive(t *testing.T, turn int, program ...string) {
	ill := scenarios[1:]
	for sdk, all := range sdks {
		for i, dialects := range all {
			at := 2*i + turn*2*len(all)
			for _, sc := range []scenario{scenarios[0], ill[at%len(ill)], ill[(at+1)%len(ill)]} {
				t.Run(fmt.Sprintf("%s SDK/%s answer/%s", sdk, dialects[0], sc.name), func(t *testing.T) {
					t.Parallel()
					sc.run(t, program, sdk, dialects)
				})
			}
		}
	}
}

func (sc scenario) run(t *testing.T, program []string, sdk string, dialects []string) {
	upstream := make([]sim.Vendor, len(vendors))
	for i, name := range vendors {
		upstream[i] = sim.Vendor{Name: name, Script: sc.scripts[i], Answer: sim.Answer{Text: says(name)}}
	}
	sims := rig.Vendors(t, upstream...)
	rows, env := rig.Providers(sims, dialects...)
	server := rig.Serve(t, rows+failover, env...)

	got, err := converse(t, slices.Concat(program, []string{server.URL, sdk}), sc.steps)
	if err != nil {
		t.Errorf("the client met an error: %v", err)
	}

	calls := [3]int{}
	secrets := []string{clientKey, toolResult}
	var answering string
	for i, name := range vendors {
		calls[i] = len(sims.Vendor(name).Calls())
		secrets = append(secrets, rig.Key(name))
		if sc.scripts[i] == "ok" && answering == "" {
			answering = name
		}
	}
	if calls != sc.calls {
		t.Errorf("calls that reached %q: got %v, want %v", vendors, calls, sc.calls)
	}
	want := answers(t, sdk, answering, sc.steps, sims.Vendor(answering).Calls())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the client understood (-want +got):\n%s", diff)
	}
	if leaks := server.Leaks(secrets...); leaks != nil {
		t.Errorf("secrets stand where they must not: %q", leaks)
	}
}

// failover is the plugin's row. Its threshold is out of reach, so that every
// request meets the vendor that dies on its way.
const failover = `
- id: failover
  name: failover
  config:
    priority: [anthropic, kimi-coding, deepseek]
    failureThreshold: 1000
`

// converse runs a client and returns what it understood, and what stopped it.
func converse(t *testing.T, argv, steps []string) (got []answer, failed error) {
	t.Helper()
	task, err := json.Marshal(newTask(steps))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	cmd.Stdin = bytes.NewReader(task)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		failed = fmt.Errorf("%w: %s", err, &stderr)
	}
	for line := range bytes.Lines(out) {
		a, err := parseAnswer(line)
		if err != nil {
			t.Fatalf("the client printed %q: %v", line, err)
		}
		got = append(got, a)
	}
	return got, failed
}
