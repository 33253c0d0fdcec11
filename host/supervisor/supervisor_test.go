package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spillway/host/supervisor"
	"spillway/sdk"
	"spillway/sdk/serve"
)

// The plugin under test is this test binary: what it does is chosen by the
// configuration, or by its file's name before there is one.

func TestMain(m *testing.M) {
	if os.Getenv(serve.Handshake.MagicCookieKey) == "" {
		os.Exit(m.Run())
	}
	guest()
}

// guest is the plugin's main.
func guest() {
	switch mode() {
	case "exits":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "chatty":
		fmt.Println("hello, I print before the handshake")
		fmt.Println("a|line|with|many|bars")
		fmt.Fprintln(os.Stderr, `{"@message":1,"@level":[],"@timestamp":{}}`)
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<20))
	case "orphan":
		// A grandchild that keeps our outputs open.
		c := exec.Command("sleep", "600")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
	}
	serve.Main(&plugin{})
}

// mode is what follows the dash in the copy's first bytes: the test appends it
// to the binary, since the copy's name is a hash.
func mode() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		return ""
	}
	_, m, _ := strings.Cut(string(b[max(0, len(b)-32):]), "MODE-")
	return m
}

type plugin struct{ host sdk.Host }

func (p *plugin) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "guest", Version: "7", Hook: sdk.HookSpec{OnDown: sdk.OnDownWait, MaxDepth: 16}}
}

func (p *plugin) Configure(_ context.Context, h sdk.Host, c sdk.Config) error {
	if strings.Contains(string(c.JSON), "bad") {
		return sdk.Faults{{Path: "x", Message: "is bad"}}
	}
	p.host = h
	h.Log().Info("configured", "env", strings.Join(os.Environ(), " "))
	return nil
}

func (p *plugin) LLMStream(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	return sdk.AnswerText("guest", fmt.Sprint(os.Getpid())), nil
}

// binary installs this test binary, ending with mode.
func binary(t *testing.T, mode string) supervisor.Binary {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "guest")
	if err := os.WriteFile(source, append(b, "MODE-"+mode...), 0o755); err != nil {
		t.Fatal(err)
	}
	bin, err := supervisor.Install(source, filepath.Join(t.TempDir(), "copies"))
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// logs gathers log lines.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func options(t *testing.T, mode string) (supervisor.Options, *logs) {
	l := &logs{}
	return supervisor.Options{
		Entry: "guest", Binary: binary(t, mode), Config: []byte("{}"),
		Log: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, l
}

func start(t *testing.T, mode string) (*supervisor.Plugin, *logs) {
	t.Helper()
	o, l := options(t, mode)
	p, err := supervisor.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p, l
}

// pid asks the plugin for its process id through a call.
func pid(t *testing.T, p *supervisor.Plugin) string {
	t.Helper()
	s, err := again{p, 0}.Reenter(t.Context(), sdk.Request{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for e, err := range s.Events() {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(e.Text)
	}
	return text.String()
}

// again is a waterfall of the one plugin: an answer that it began and lost is
// asked for again.
type again struct {
	p     *supervisor.Plugin
	depth int
}

func (a again) Reenter(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	call := sdk.NewCall(again{a.p, a.depth + 1}, "c", a.depth, r)
	return a.p.Remote().LLMStream(ctx, call, func(context.Context, sdk.Request) (sdk.Stream, error) {
		return sdk.AnswerText("", "bypassed"), nil
	})
}

func (again) Prompt(context.Context) (*sdk.Prompt, error) { return &sdk.Prompt{}, nil }

func running(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func wait(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen: %s", what)
		}
		runtime.Gosched()
	}
}

func TestLife(t *testing.T) {
	t.Setenv("SECRET_API_KEY", "sk-canary")
	p, l := start(t, "")
	id := pid(t, p)
	if i := p.Info(); i.PID != id || !i.Up || i.Name != "guest" || i.Version != "7" {
		t.Errorf("info: %+v, pid %s", i, id)
	}
	if strings.Contains(l.String(), "sk-canary") {
		t.Error("the host's variables reached the plugin")
	}
	p.Stop()
	if running(id) {
		t.Error("still running after Stop")
	}
}

func TestKilledProcessIsRestarted(t *testing.T) {
	p, _ := start(t, "")
	first := pid(t, p)
	syscall.Kill(atoi(first), syscall.SIGKILL)
	second := pid(t, p) // waits for the successor
	if second == first || second == "bypassed" {
		t.Errorf("after the kill: %s, before: %s", second, first)
	}
	wait(t, "restart is counted", func() bool { return p.Info().Restarts == 1 })
}

func TestFrozenProcessIsReplaced(t *testing.T) {
	p, _ := start(t, "")
	first := pid(t, p)
	syscall.Kill(atoi(first), syscall.SIGSTOP)
	began := time.Now()
	second := pid(t, p)
	if second == first || second == "bypassed" {
		t.Errorf("after the freeze: %s, before: %s", second, first)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	wait(t, "the frozen process is gone", func() bool { return !running(first) })
}

func TestGrandchildrenGoToo(t *testing.T) {
	p, _ := start(t, "orphan")
	id := pid(t, p)
	child := ""
	tasks, err := filepath.Glob("/proc/" + id + "/task/*/children") // of whichever thread forked it
	for _, file := range tasks {
		if b, err := os.ReadFile(file); err == nil && len(strings.Fields(string(b))) > 0 {
			child = strings.Fields(string(b))[0]
		}
	}
	if child == "" {
		t.Fatalf("no grandchild: %v", err)
	}
	began := time.Now()
	p.Stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stop took %s", took)
	}
	wait(t, "the grandchild is gone", func() bool { return !running(child) })
}

func TestChattyOutputIsOnlyLogged(t *testing.T) {
	p, l := start(t, "chatty")
	pid(t, p)
	for _, want := range []string{"hello, I print before the handshake", `\"@message\":1`, "a|line|with|many|bars"} {
		wait(t, "log has "+want, func() bool { return strings.Contains(l.String(), want) })
	}
	if n := len(l.String()); n > 200<<10 {
		t.Errorf("log has %d bytes: the long line was not cut", n)
	}
}

func TestStartErrors(t *testing.T) {
	t.Run("exits", func(t *testing.T) {
		o, _ := options(t, "exits")
		_, err := supervisor.Start(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), `plugin "guest": does not start as a plugin`) || !strings.Contains(err.Error(), "no licence found") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("bad configuration", func(t *testing.T) {
		o, _ := options(t, "")
		o.Config = []byte(`{"x":"bad"}`)
		_, err := supervisor.Start(t.Context(), o)
		if f, ok := errors.AsType[sdk.Faults](err); !ok || f[0].Path != "x" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("refused manifest", func(t *testing.T) {
		o, _ := options(t, "")
		o.Check = func(sdk.Manifest) error { return errors.New("schema says no") }
		if _, err := supervisor.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "schema says no") {
			t.Errorf("got %v", err)
		}
	})
}

func TestInstallRefuses(t *testing.T) {
	write := func(mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(t.TempDir(), "no"), "no such file"},
		{"folder", t.TempDir(), "is no regular file"},
		{"not executable", write(0o644), "is not executable (chmod +x it)"},
		{"writable by others", write(0o777), "can be written by others (mode 0777; chmod go-w it)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := supervisor.Install(tt.path, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func atoi(s string) int {
	n := 0
	_, _ = fmt.Sscan(s, &n)
	return n
}
