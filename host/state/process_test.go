package state_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/host/state"
	"spillway/host/state/record"
	"spillway/sdk"
)

// The test binary is its own second process: with this variable set it opens
// the store in the folder named there and obeys the lines of its input, one
// answer a line.
const processFolder = "SPILLWAY_STATE_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(processFolder); dir != "" {
		if err := obey(dir, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func obey(dir string, in io.Reader, out io.Writer) error {
	s, err := state.Open(dir, unhurried)
	if err != nil {
		return err
	}
	defer s.Close()
	n := s.Namespace("ns", fmt.Sprint("process ", os.Getpid()))
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer, err := obeyLine(s, n, strings.Fields(lines.Text()))
		if err != nil {
			answer = "error: " + err.Error()
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func obeyLine(s *state.Store, n *state.Namespace, args []string) (string, error) {
	ctx, arg := context.Background(), args[1]
	switch args[0] {
	case "put":
		rev, err := n.Put(ctx, arg, []byte("v"), 0)
		return fmt.Sprint(rev), err
	case "acquire":
		ttl, err := time.ParseDuration(args[2])
		if err != nil {
			return "", err
		}
		l, err := n.Acquire(ctx, arg, ttl)
		if errors.Is(err, sdk.ErrHeld) {
			return "held", nil
		}
		return fmt.Sprint(l.Generation), err
	case "increment":
		for range 50 {
			if err := increment(ctx, n, arg); err != nil {
				return "", err
			}
		}
		return "done", nil
	case "record":
		s.Records().Put(record.Request{ID: arg, Started: time.Now()})
		s.PutStatus(arg, sdk.Status{})
		return "queued", nil
	}
	return "", fmt.Errorf("unknown command %q", args[0])
}

func increment(ctx context.Context, n *state.Namespace, key string) error {
	for {
		it, err := n.Get(ctx, key)
		if err != nil && !errors.Is(err, sdk.ErrNotFound) {
			return err
		}
		v, _ := strconv.Atoi(string(it.Data))
		_, err = n.CompareAndSwap(ctx, key, it.Revision, []byte(strconv.Itoa(v+1)), 0)
		if !errors.Is(err, sdk.ErrConflict) {
			return err
		}
	}
}

// process is the test's hold on another process.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processFolder+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // an error if the test has killed it
	})
	return &process{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

func (p *process) say(command string) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, command); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) hear() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("process ended: %v", p.out.Err())
	}
	return p.out.Text()
}

func (p *process) do(command string) string {
	p.t.Helper()
	p.say(command)
	return p.hear()
}

func (p *process) number(command string) uint64 {
	p.t.Helper()
	answer := p.do(command)
	n, err := strconv.ParseUint(answer, 10, 64)
	if err != nil {
		p.t.Fatalf("%s: got %q, want a number", command, answer)
	}
	return n
}

// TestProcessesWatch: a change of another process is heard of within a second.
func TestProcessesWatch(t *testing.T) {
	dir := t.TempDir()
	n := openStore(t, dir, unhurried).Namespace("ns", "o")
	other := startProcess(t, dir)
	other.number("put warm/up")
	changes := make(chan sdk.Item, 10)
	if err := n.Watch(t.Context(), "circuit/", func(it sdk.Item) { changes <- it }); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		key := fmt.Sprint("circuit/", i)
		rev := other.number("put " + key)
		select {
		case it := <-changes:
			if it.Key != key || it.Revision != rev {
				t.Errorf("got %+v, want %s at revision %d", it, key, rev)
			}
		case <-time.After(time.Second):
			t.Fatal("change of another process not heard of within a second")
		}
	}
}

// TestProcessesLease: a lease excludes other processes, outlives the sudden
// death of its holder only until it expires, and then rises in generation.
func TestProcessesLease(t *testing.T) {
	dir := t.TempDir()
	n := openStore(t, dir, unhurried).Namespace("ns", "o")
	first, second := startProcess(t, dir), startProcess(t, dir)
	g1 := first.number("acquire probe 1h")
	if got := second.do("acquire probe 1h"); got != "held" {
		t.Errorf("second process: got %q, want the lease to be held", got)
	}
	if _, err := n.Acquire(t.Context(), "probe", time.Hour); !errors.Is(err, sdk.ErrHeld) {
		t.Errorf("this process: got error %v, want %v", err, sdk.ErrHeld)
	}
	if err := n.Release(t.Context(), sdk.Lease{Name: "probe", Generation: g1}); err != nil {
		t.Fatal(err)
	}
	g2 := second.number("acquire probe 300ms")
	if g2 <= g1 {
		t.Errorf("generation %d after %d, want it to rise", g2, g1)
	}
	if err := second.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "end of a dead process's lease", func() bool {
		l, err := n.Acquire(t.Context(), "probe", time.Hour)
		if err != nil && !errors.Is(err, sdk.ErrHeld) {
			t.Fatal(err)
		}
		return err == nil && l.Generation > g2
	})
}

func TestProcessesSwap(t *testing.T) {
	dir := t.TempDir()
	processes := []*process{startProcess(t, dir), startProcess(t, dir), startProcess(t, dir)}
	for _, p := range processes {
		p.say("increment n")
	}
	for _, p := range processes {
		if got := p.hear(); got != "done" {
			t.Errorf("process: %s", got)
		}
	}
	n := openStore(t, dir, unhurried).Namespace("ns", "o")
	it, err := n.Get(t.Context(), "n")
	if err != nil || string(it.Data) != "150" {
		t.Errorf("got %q, %v, want 150", it.Data, err)
	}
}

// TestProcessesRead: another process reads records and statuses soon after
// they were put, without the writing one being asked.
func TestProcessesRead(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, unhurried)
	if got := startProcess(t, dir).do("record r1"); got != "queued" {
		t.Fatal(got)
	}
	eventually(t, "record and status", func() bool {
		_, err := s.Records().Get(t.Context(), "r1")
		statuses, err2 := s.Statuses(t.Context())
		return err == nil && err2 == nil && len(statuses) == 1 && statuses[0].Plugin == "r1"
	})
}
