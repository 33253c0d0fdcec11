package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent/tool"
)

func TestCallsOfAProgram(t *testing.T) {
	t.Parallel()
	r := programRow(t, "")
	r["tools"] = map[string]any{"echo": row{"key": "key"}, "fail": row{"disabled": true}}
	s := open(t, r)

	if got, want := mustUse(t, s, "echo", `{"key":"of the model"}`), `argument "key-1", meta "key-1"`; got != want {
		t.Errorf("echo: got %s, want %s", got, want)
	}
	res, err := use(t.Context(), t, s, "echo", `{"x":1}`)
	if err != nil || !res.Error || !strings.Contains(textOf(res), "nothing was done: arguments: want strings") {
		t.Errorf("invalid params: got %q, %v", textOf(res), err)
	}
	for _, input := range []string{`[]`, `null`, `{`, `"x"`} {
		if res, err := use(t.Context(), t, s, "echo", input); err != nil || !res.Error {
			t.Errorf("input %s: got %q, %v, want a failure that is known", input, textOf(res), err)
		}
	}
	var names []string
	for _, one := range s.Tools() {
		names = append(names, one.Spec().Name)
		if spec := one.Spec(); spec.Name == "box__echo" {
			if got, want := string(spec.Schema), `{"properties":{"file":{"type":"string"}},"type":"object"}`; got != want {
				t.Errorf("schema without the key: got %s, want %s", got, want)
			}
		}
	}
	want := []string{"box__append", "box__await", "box__change", "box__echo", "box__hang", "box__lose", "box__surroundings"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

// A tool that failed is not asked of the model twice in another way.
func TestFailureOfATool(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	res, err := use(t.Context(), t, s, "fail", `{}`)
	if err != nil || !res.Error || textOf(res) != "it broke" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestSurroundings(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-a-vendor")
	t.Setenv("LANG", "C.UTF-8")
	s := open(t, programRow(t, ""))
	got := mustUse(t, s, "surroundings", `{}`)
	dir, rest, _ := strings.Cut(got, "\n")
	root, vars, _ := strings.Cut(rest, "\n")
	if dir != s.folder || root != "file://"+s.folder {
		t.Errorf("folder %q, root %q, want %q", dir, root, s.folder)
	}
	for name, want := range map[string]bool{"ANTHROPIC_API_KEY=": false, "LANG=C.UTF-8": true, "PATH=": true, "TOKEN=token-0123456789": true} {
		if strings.Contains(vars, name) != want {
			t.Errorf("%q in the environment: got %t, want %t", name, !want, want)
		}
	}
}

// The program did what it was asked and ended before it said so.
func TestReplyLostByDeath(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	file := filepath.Join(t.TempDir(), "log")
	_, err := use(t.Context(), t, s, "lose", fileInput(file))
	if err == nil || errors.Is(err, tool.ErrNotRun) {
		t.Fatalf("got %v, want an error that leaves open what happened", err)
	}
	if n := executed(t, file); n != 1 {
		t.Fatalf("executed %d times, want once", n)
	}
	// The next call starts it again, and is the only thing that is done.
	<-s.current.ended
	mustUse(t, s, "append", fileInput(file))
	if n := executed(t, file); n != 2 {
		t.Errorf("executed %d times, want twice", n)
	}
}

// What else was under way when the program ended is as unknown.
func TestCallsUnderWay(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	file := filepath.Join(t.TempDir(), "log")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := use(t.Context(), t, s, "hang", fileInput(file)); err == nil || errors.Is(err, tool.ErrNotRun) {
			t.Errorf("got %v", err)
		}
	})
	mustUse(t, s, "await", `{"what":"begun"}`)
	if _, err := use(t.Context(), t, s, "lose", fileInput(file)); err == nil || errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v", err)
	}
	wg.Wait()
	if n := executed(t, file); n != 2 {
		t.Errorf("executed %d times, want each once", n)
	}
}

func TestReplyLostByTime(t *testing.T) {
	t.Parallel()
	r := programRow(t, "")
	r["timeoutMs"] = 300
	s := open(t, r)
	file := filepath.Join(t.TempDir(), "log")
	_, err := use(t.Context(), t, s, "hang", fileInput(file))
	if err == nil || errors.Is(err, tool.ErrNotRun) || !strings.Contains(err.Error(), "no reply within 300ms") {
		t.Fatalf("got %v", err)
	}
	s.config.Timeout = milliseconds(time.Minute)
	mustUse(t, s, "await", `{"what":"cancelled"}`) // the server was told
	if n := executed(t, file); n != 1 {
		t.Errorf("executed %d times, want once", n)
	}
}

func TestReplyLostByCancel(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	file := filepath.Join(t.TempDir(), "log")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the user")
	var wg sync.WaitGroup
	wg.Go(func() {
		mustUse(t, s, "await", `{"what":"begun"}`)
		cancel(stopped)
	})
	_, err := use(ctx, t, s, "hang", fileInput(file))
	wg.Wait()
	if !errors.Is(err, stopped) || errors.Is(err, tool.ErrNotRun) {
		t.Fatalf("got %v", err)
	}
	mustUse(t, s, "await", `{"what":"cancelled"}`)
	if n := executed(t, file); n != 1 {
		t.Errorf("executed %d times, want once", n)
	}
}

func TestNotRun(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	file := filepath.Join(t.TempDir(), "log")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := use(gone, t, s, "append", fileInput(file)); !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("cancelled before: got %v", err)
	}
	s.Close()
	if _, err := use(t.Context(), t, s, "append", fileInput(file)); !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("closed: got %v", err)
	}
	if n := executed(t, file); n != 0 {
		t.Errorf("executed %d times", n)
	}
}

// A server that does not come up again is off after some attempts. What is asked
// of it then was not run.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(t, programRow(t, ""))
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, kv := range s.env {
		if strings.HasPrefix(kv, programEnv+"=") {
			s.env[i] = programEnv + "=dead"
		}
	}
	s.current.proc.kill()
	<-s.current.ended
	for range maxFailures {
		if _, err = use(t.Context(), t, s, "append", `{}`); !errors.Is(err, tool.ErrNotRun) {
			t.Fatalf("got %v", err)
		}
	}
	if !strings.Contains(err.Error(), "off: it ended 5 times in a row") {
		t.Errorf("got %v, want that it is off", err)
	}
	s.Close()
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors in the log, want 1:\n%s", n, &log)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	deaf := programRow(t, "deaf")
	deaf["startTimeoutMs"] = 200
	for _, tt := range []struct {
		name string
		row  row
		want string
	}{
		{"dead", programRow(t, "dead"), "exit status 3; its last words: no licence for [redacted]"},
		{"deaf", deaf, "not started within 200ms"},
		{"no program", row{"command": "spillway-no-such-program"}, "executable file not found"},
		{"two kinds", row{"command": "x", "url": "http://127.0.0.1/"}, "neither command nor url"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), options(t, tt.row))
			if err == nil {
				s.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want %q in it", err, tt.want)
			}
		})
	}
}

// What programs print beside messages does no harm.
func TestChatter(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, "chatty"))
	mustUse(t, s, "echo", `{}`)
}

func TestStderrIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := options(t, programRow(t, "loud"))
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := log.String(); !strings.Contains(got, `line="[redacted] is my token[31m"`) {
		t.Errorf("got %s", got)
	}
}

func TestToolsChange(t *testing.T) {
	t.Parallel()
	s := open(t, programRow(t, ""))
	before := len(s.Tools())
	mustUse(t, s, "change", `{}`)
	untilTools(s, before+1)
	if got := mustUse(t, s, "extra", `{}`); got != "extra" {
		t.Errorf("got %q", got)
	}
}

// untilTools waits until s has n tools.
func untilTools(s *Server, n int) {
	for len(s.Tools()) != n {
		runtime.Gosched()
	}
}

// A process that ignores the end of its input and the signal is killed.
func TestStubbornProcess(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{programEnv + "=stubborn"}
	p, err := startProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stdout.Close()
	if _, err := bufio.NewReader(p.stdout).ReadString('\n'); err != nil { // signals are ignored from now on
		t.Fatal(err)
	}
	p.stop(20 * time.Millisecond)
	if got := p.exit(); got != "signal: killed" {
		t.Errorf("got %q", got)
	}
}

func TestMessages(t *testing.T) {
	long := "{" + strings.Repeat("x", 9000) + "}\n"
	for _, tt := range []struct{ name, in, want string }{
		{"objects", "{1}\n{2}\n", "{1}\n{2}\n"},
		{"chatter", "hello\n{1}\n\n\r\nwarning {2}\n{3}\n", "{1}\n{3}\n"},
		{"long", strings.Repeat("y", 9000) + "\n" + long, long},
		{"cut", "{1}\n{2", "{1}\n{2"},
	} {
		for _, read := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader,
		} {
			m := &messages{r: bufio.NewReader(read(strings.NewReader(tt.in)))}
			got, err := io.ReadAll(m)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
			}
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("Welcome\n{\"jsonrpc\":\"2.0\"}\n\n{"), 3)
	f.Add([]byte("{}\r\n [] \n{}"), 1)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		var want []byte
		for line := range bytes.Lines(data) {
			if line[0] == '{' {
				want = append(want, line...)
			}
		}
		m := &messages{r: bufio.NewReaderSize(bytes.NewReader(data), 16)}
		var got []byte
		for buf := make([]byte, 1+uint(size)%64); ; {
			n, err := m.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
