package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"spillway/host/agent/tool"
)

var kills = flag.Int("kills", 50, "processes that TestKilled kills")

// The test binary is its own other process: with these variables set it runs
// calls from the number given on, in order and without end, in the ledger of the
// folder. Each call appends its key to the file "effects" there, and its number is
// printed once it is over.
const (
	processFolder = "SPILLWAY_LEDGER_TEST_FOLDER"
	processFrom   = "SPILLWAY_LEDGER_TEST_FROM"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(processFolder); dir != "" {
		if err := work(dir, os.Getenv(processFrom), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

func work(dir, from string, out io.Writer) error {
	first, err := strconv.Atoi(from)
	if err != nil {
		return err
	}
	l, err := Open(dir)
	if err != nil {
		return err
	}
	append := &fake{run: func(_ context.Context, c tool.Call) (tool.Result, error) {
		f, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return tool.Result{}, err
		}
		_, err = fmt.Fprintln(f, c.Key)
		return tool.Text("appended"), errors.Join(err, f.Close())
	}}
	// An answer has two calls, which run at the same time.
	for i := first; ; i += 2 {
		a, b := numbered(i), numbered(i+1)
		if err := l.Plan(context.Background(), a, b); err != nil {
			return err
		}
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() { _, errs[0] = l.Run(context.Background(), a, append) })
		wg.Go(func() { _, errs[1] = l.Run(context.Background(), b, append) })
		wg.Wait()
		if err := errors.Join(errs[:]...); errors.Is(err, ErrUnknown) {
			return nil // another process was killed: a person comes first
		} else if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, i+1); err != nil {
			return err
		}
	}
}

func numbered(i int) Action {
	return Action{Session: "s", Message: "m", Tool: "append", Input: json.RawMessage(`{}`), Ordinal: i}
}

// process is a child that works until it is killed.
type process struct {
	cmd  *exec.Cmd
	said *bufio.Scanner
	last int // the last number that it has printed
}

func begin(t *testing.T, dir string, from int) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe), last: from - 1}
	p.cmd.Env = append(os.Environ(), processFolder+"="+dir, fmt.Sprint(processFrom, "=", from))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.said = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// next reads a number that the process prints, if it still lives.
func (p *process) next(t *testing.T) bool {
	t.Helper()
	if !p.said.Scan() {
		return false
	}
	n, err := strconv.Atoi(p.said.Text())
	if err != nil {
		t.Fatal(err)
	}
	p.last = n
	return true
}

// killedWithin kills the process a moment after it has ended its first calls.
func (p *process) killedWithin(t *testing.T, d time.Duration) {
	t.Helper()
	if !p.next(t) {
		t.Errorf("ended by itself: %v", p.cmd.Wait())
		return
	}
	timer := time.AfterFunc(d, func() { p.cmd.Process.Kill() })
	defer timer.Stop()
	for p.next(t) {
	}
	if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState.Exited() {
		t.Errorf("ended by itself: %v", err)
	}
}

// TestKilled kills processes with SIGKILL while they run calls, often two of them
// at the same calls. Then a person settles what is unknown, and the next
// ones go on. No call happens twice, and none that was over is lost.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	next, unknown := 0, 0
	for killed := 0; killed < *kills; {
		both := []*process{begin(t, dir, next)}
		if killed%3 == 0 {
			both = append(both, begin(t, dir, next))
		}
		var wg sync.WaitGroup
		for _, p := range both {
			killed++
			wg.Go(func() { p.killedWithin(t, rand.N(40*time.Millisecond)) })
		}
		wg.Wait()
		for _, p := range both {
			next = max(next, p.last+1)
		}
		unknown += settleAll(t, dir)
		next = max(0, next-2) // the last answer comes again
	}
	done := effects(t, dir)
	for i := range next + 2 {
		if n := done[numbered(i).Key()]; n != 1 {
			t.Errorf("call %d happened %d times", i, n)
		}
	}
	t.Logf("%d kills, %d calls, %d of them became unknown", *kills, len(done), unknown)
}

// settleAll is the person: what is unknown has happened if its effect is there.
func settleAll(t *testing.T, dir string) int {
	t.Helper()
	l := openAt(t, dir)
	defer l.Close()
	done := effects(t, dir)
	all, err := l.List(t.Context(), Filter{States: []State{Unknown, Started}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		v := NotHappened
		if done[e.Key] > 0 {
			v = Happened
		}
		if _, err := l.Settle(t.Context(), e.Key, v, "", ""); err != nil {
			t.Errorf("settle %s, which is %s: %v", e.Key, e.State, err)
		}
	}
	return len(all)
}

// effects counts how often each key's call has happened.
func effects(t *testing.T, dir string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for key := range strings.Lines(string(data)) {
		n[strings.TrimSpace(key)]++
	}
	for key, times := range n {
		if times > 1 {
			t.Errorf("%s happened %d times", key, times)
		}
	}
	return n
}

// TestTwoProcesses: another process's running call is in progress, and unknown
// once that process was killed.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	l := openAt(t, dir)
	a := numbered(0)
	holding := &fake{run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		// The other process comes to the same call, and must wait.
		p := begin(t, dir, 0)
		said := make(chan bool, 1)
		go func() { said <- p.next(t) }()
		for {
			if e, err := l.Get(ctx, numbered(1).Key()); err == nil && e.State == Succeeded {
				break
			}
		}
		select {
		case <-said:
			t.Error("the other process did not wait")
		default:
		}
		p.cmd.Process.Kill()
		<-said
		p.cmd.Wait()
		return tool.Text("done"), nil
	}}
	if e, err := l.Run(t.Context(), a, holding); err != nil || e.State != Succeeded {
		t.Fatal(e, err)
	}
	if n := len(effects(t, dir)); n != 1 {
		t.Errorf("%d effects of the other process, want that of its other call", n)
	}
}
