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
	"spillway/host/state/statetest"
	"spillway/sdk"
)

// The test binary is its own second process: with the first variable set it
// opens the store in the folder named there, with its shared part in the Redis
// of the second, and obeys the lines of its input, one answer a line.
const (
	processFolder = "SPILLWAY_STATE_TEST_FOLDER"
	processRedis  = "SPILLWAY_STATE_TEST_REDIS"
)

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
	o := unhurried
	if u := os.Getenv(processRedis); u != "" {
		r, err := state.ParseRedis(u, prefix)
		if err != nil {
			return err
		}
		o.Redis = r
	}
	s, err := state.Open(dir, o)
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
	case "renew":
		generation, err := strconv.ParseUint(args[2], 10, 64)
		if err != nil {
			return "", err
		}
		err = n.Renew(ctx, sdk.Lease{Name: arg, Generation: generation}, time.Hour)
		if errors.Is(err, sdk.ErrConflict) {
			return "lost", nil
		}
		return "renewed", err
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

// place is where processes share a state.
type place struct {
	dir   func() string // of one process
	redis string        // URL, if there is one
}

func (p place) open(t *testing.T) *state.Namespace {
	t.Helper()
	o := unhurried
	if p.redis != "" {
		o.Redis = parse(t, p.redis)
	}
	return openStore(t, p.dir(), o).Namespace("ns", "o")
}

// everywhere runs a test with processes that share a file, and with ones of
// which each has a machine of its own and all share a Redis.
func everywhere(t *testing.T, test func(*testing.T, place)) {
	t.Run("file", func(t *testing.T) {
		dir := t.TempDir()
		test(t, place{dir: func() string { return dir }})
	})
	t.Run("redis", func(t *testing.T) {
		test(t, place{dir: t.TempDir, redis: statetest.NewRedis(t).URL("")})
	})
}

// process is the test's hold on another process.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startProcess(t *testing.T, p place) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processFolder+"="+p.dir(), processRedis+"="+p.redis,
		"GORACE=atexit_sleep_ms=0") // else the race detector holds up every exit by a second
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
	everywhere(t, func(t *testing.T, p place) {
		n := p.open(t)
		other := startProcess(t, p)
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
	})
}

// TestProcessesLease: a lease excludes other processes, outlives the sudden
// death of its holder only until it expires, and then rises in generation.
func TestProcessesLease(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		n := p.open(t)
		first, second := startProcess(t, p), startProcess(t, p)
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
		before := time.Now()
		g2 := second.number("acquire probe 300ms")
		if g2 <= g1 {
			t.Errorf("generation %d after %d, want it to rise", g2, g1)
		}
		second.number("acquire kept 1h")
		if err := second.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		g3 := acquireNext(t, n, g2)
		if took := time.Since(before); took < 300*time.Millisecond {
			t.Errorf("a dead process's lease was given away after %v, want it to last 300ms", took)
		}
		if got := first.do("acquire kept 1h"); got != "held" {
			t.Errorf("lease of a dead process: got %q, want it to be held until it expires", got)
		}
		if got := first.do(fmt.Sprint("renew probe ", g1)); got != "lost" {
			t.Errorf("first holder's renewal under generation %d: got %q, want it to be lost", g3, got)
		}
	})
}

// TestProcessesLeaseExpires: a holder that lives on finds its lease lost once
// it has expired and another process has it.
func TestProcessesLeaseExpires(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		n := p.open(t)
		holder := startProcess(t, p)
		g := holder.number("acquire probe 50ms")
		next := acquireNext(t, n, g)
		if got := holder.do(fmt.Sprint("renew probe ", g)); got != "lost" {
			t.Errorf("renewal: got %q, want the lease to be lost", got)
		}
		if got := holder.do("acquire probe 1h"); got != "held" {
			t.Errorf("acquire again: got %q, want the lease to be held", got)
		}
		if err := n.Renew(t.Context(), sdk.Lease{Name: "probe", Generation: next}, time.Hour); err != nil {
			t.Errorf("the present holder's renewal: %v", err)
		}
	})
}

// acquireNext waits until the lease "probe" of generation g has expired, and
// takes it.
func acquireNext(t *testing.T, n *state.Namespace, g uint64) uint64 {
	t.Helper()
	var l sdk.Lease
	eventually(t, "end of a lease", func() bool {
		var err error
		l, err = n.Acquire(t.Context(), "probe", time.Hour)
		if err != nil && !errors.Is(err, sdk.ErrHeld) {
			t.Fatal(err)
		}
		return err == nil
	})
	if l.Generation <= g {
		t.Errorf("generation %d after %d, want it to rise", l.Generation, g)
	}
	return l.Generation
}

func TestProcessesSwap(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		processes := []*process{startProcess(t, p), startProcess(t, p), startProcess(t, p)}
		for _, p := range processes {
			p.say("increment n")
		}
		for _, p := range processes {
			if got := p.hear(); got != "done" {
				t.Errorf("process: %s", got)
			}
		}
		it, err := p.open(t).Get(t.Context(), "n")
		if err != nil || string(it.Data) != "150" {
			t.Errorf("got %q, %v, want 150", it.Data, err)
		}
	})
}

// TestProcessesRead: another process reads records and statuses soon after
// they were put, without the writing one being asked.
func TestProcessesRead(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, unhurried)
	if got := startProcess(t, place{dir: func() string { return dir }}).do("record r1"); got != "queued" {
		t.Fatal(got)
	}
	eventually(t, "record and status", func() bool {
		_, err := s.Records().Get(t.Context(), "r1")
		statuses, err2 := s.Statuses(t.Context())
		return err == nil && err2 == nil && len(statuses) == 1 && statuses[0].Plugin == "r1"
	})
}
