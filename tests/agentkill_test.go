package tests

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/agent/ledger"
)

var agentKills = flag.Int("agent.kills", 50, "how often TestAgentKilled kills the agent")

// killSteps is how many lines a task of TestAgentKilled writes.
const killSteps = 6

// scribe is a vendor whose answer follows from the history alone, so that it
// does not matter which of its answers got lost: one command after the other, and
// a word at the end. It counts the tool results of each history it is shown.
func scribe() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct {
				Role string `json:"role"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		step := 1
		for _, m := range in.Messages {
			if m.Role == "tool" {
				step++
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(delta, finish string) {
			fmt.Fprintf(w, `data: {"id":"a","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		}
		if step > killSteps {
			say(`{"role":"assistant","content":"done"}`, `null`)
			say(`{}`, `"stop"`)
		} else {
			args, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("sleep 0.01; echo line %d >> out.txt", step)})
			quoted, _ := json.Marshal(string(args))
			say(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":"shell","arguments":%s}}]}`, step, quoted), `null`)
			say(`{}`, `"tool_calls"`)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
}

// TestAgentKilled kills the agent with -9 at random moments, most of them within
// tool calls, and goes on with its session until the task is done. No line is
// written twice and none is missing; where nobody knows whether a command
// happened the ledger says so, and the test looks and decides as a person would.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	var kills, tasks, asked atomic.Int64
	var wg sync.WaitGroup
	for range 2 { // two sessions at a time: the machine's cores are few
		wg.Go(func() {
			for kills.Load() < int64(*agentKills) && !t.Failed() {
				k := newKilled(t)
				k.task(&kills, &asked)
				tasks.Add(1)
			}
		})
	}
	wg.Wait()
	t.Logf("kills %d: tasks %d, a person was asked %d times", kills.Load(), tasks.Load(), asked.Load())
}

type killed struct {
	*bench
	session string
}

func newKilled(t *testing.T) *killed {
	vendor := httptest.NewServer(scribe())
	t.Cleanup(vendor.Close)
	return &killed{bench: newBench(t, fmt.Sprintf(`- {id: v, name: provider-openai, config: {base_url: %q, models: [m], key: k}}
- {id: shell, name: tools-shell, config: {confirm: never}}
`, vendor.URL+"/v1"))}
}

// task does one task to its end.
func (k *killed) task(kills, asked *atomic.Int64) {
	for !k.t.Failed() {
		args := []string{"run", "--json", "write the lines"}
		if k.session != "" {
			args = []string{"run", "--json", "--resume", k.session}
		}
		wanted := rand.N(14) + 1
		if kills.Load() >= int64(*agentKills) {
			wanted = -1 // let it end
		}
		switch code := k.killAfter(wanted, args); code {
		case -1:
			kills.Add(1)
			if k.session == "" { // it died before it had said its name: nothing was asked for yet
				if _, err := os.Stat(k.folder + "/out.txt"); err == nil {
					k.t.Error("something was written before the session was told")
				}
			}
		case 3:
			asked.Add(1)
			k.decide()
		case 0:
			k.done()
			return
		default:
			k.t.Errorf("exit code %d", code)
			return
		}
	}
}

// killAfter runs the agent and kills it at a random moment after so many events,
// and waits until all that it has begun has ended, too. It returns the exit code,
// -1 if it was killed.
func (k *killed) killAfter(events int, args []string) int {
	cmd := k.command(args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Error(err)
		return 1
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	// Whatever the agent begins inherits this pipe, so its end is the end of all.
	alive, end, err := os.Pipe()
	if err != nil {
		k.t.Error(err)
		return 1
	}
	defer alive.Close()
	cmd.ExtraFiles = []*os.File{end}
	err = cmd.Start()
	end.Close()
	if err != nil {
		k.t.Error(err)
		return 1
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var e struct {
			Event   string `json:"event"`
			Session string `json:"session"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			k.t.Errorf("line %q: %v", lines.Text(), err)
		}
		if e.Event == "session" {
			k.session = e.Session
		}
		if n == events {
			time.AfterFunc(rand.N(15*time.Millisecond), func() { _ = cmd.Process.Kill() }) // or it has ended
		}
	}
	_ = cmd.Wait() // the exit code tells
	_, _ = io.Copy(io.Discard, alive)
	code := cmd.ProcessState.ExitCode()
	if code > 0 && code != 3 {
		k.t.Errorf("%q: %s", args, &stderr)
	}
	return code
}

// decide does as a person would: it looks whether the command happened.
func (k *killed) decide() {
	for _, e := range k.ledger() {
		if !e.NeedsPerson() {
			continue
		}
		var in struct{ Command string }
		if err := json.Unmarshal(e.Input, &in); err != nil {
			k.t.Error(err)
		}
		line := strings.TrimSuffix(strings.TrimPrefix(in.Command, "sleep 0.01; echo "), " >> out.txt")
		out, _ := os.ReadFile(k.folder + "/out.txt") // it may not be there yet
		verdict := "not-happened"
		if strings.Contains(string(out), line+"\n") {
			verdict = "happened"
		}
		k.run(0, "ledger", "settle", e.Key, verdict)
	}
}

// done checks what the task has left behind.
func (k *killed) done() {
	var want strings.Builder
	for n := range killSteps {
		fmt.Fprintf(&want, "line %d\n", n+1)
	}
	if got := k.file("out.txt"); got != want.String() {
		k.t.Errorf("out.txt: got %q", got)
	}
	all := k.ledger()
	if len(all) != killSteps {
		k.t.Errorf("the ledger has %d calls, want %d", len(all), killSteps)
	}
	for _, e := range all {
		if e.State != ledger.Succeeded {
			k.t.Errorf("ledger: %s is %s", e.Input, e.State)
		}
	}
}
