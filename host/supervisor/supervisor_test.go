package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log"
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

// The plugin under test is this test binary: what it does is chosen by a variable
// that a script sets, or by the configuration.

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
	case "panics":
		panic("boom")
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
	serve.Main(&plugin{mode: mode()})
}

// modeVar says what the guest is to do.
const modeVar = "GUEST_MODE"

func mode() string { return os.Getenv(modeVar) }

type plugin struct{ mode string }

func (p *plugin) Manifest() sdk.Manifest {
	switch p.mode {
	case "undescribed":
		select {}
	case "undescribable":
		panic("who am I?")
	case "huge":
		return sdk.Manifest{Name: "guest", Schema: make([]byte, 2*serve.MaxFrame)}
	case "nonsense":
		return sdk.Manifest{Name: "guest", Hook: sdk.HookSpec{OnDown: "never"}}
	}
	m := sdk.Manifest{Name: "guest", Version: "7", Hook: sdk.HookSpec{OnDown: sdk.OnDownWait, MaxDepth: 16}}
	if p.mode == "thinks" {
		m.Hook.Decide = 10 * time.Second
	}
	return m
}

var _ sdk.Drainer = (*plugin)(nil)

func (p *plugin) Drain(context.Context) { log.Print("drained") }

func (p *plugin) Configure(_ context.Context, h sdk.Host, c sdk.Config) error {
	if strings.Contains(string(c.JSON), "bad") {
		return sdk.Faults{{Path: "x", Message: "is bad"}}
	}
	switch p.mode {
	case "unconfigured":
		select {}
	case "deserts":
		log.SetFlags(0)
		log.Print("I do not like this")
		os.Exit(4)
	case "loud":
		// Standard output itself: os.Stdout is go-plugin's by now.
		if _, err := syscall.Write(1, make([]byte, 4<<20)); err != nil {
			return err
		}
	}
	fmt.Println("printed once it serves")
	fmt.Fprintln(os.Stderr, "complained once it serves")
	h.Log().Info("configured", "env", strings.Join(os.Environ(), " "))
	return nil
}

func (p *plugin) LLMStream(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if gate, ok := strings.CutPrefix(c.Request.Model, "waits at "); ok {
		log.Print("waits")
		f, err := os.Open(gate) // until somebody opens the other end
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	if c.Request.Model == "facts" {
		return sdk.AnswerText("guest", ownFacts()), nil
	}
	return sdk.AnswerText("guest", fmt.Sprint(os.Getpid())), nil
}

// binary installs a script that runs this test binary in a mode, under the name
// of the script's copy.
func binary(t *testing.T, mode string) supervisor.Binary {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "guest")
	text := fmt.Sprintf("#!/bin/sh\n%s=%s exec %s \"$0\"\n", modeVar, mode, exe)
	if err := os.WriteFile(source, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return install(t, source, filepath.Join(t.TempDir(), "copies"))
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
	return answer(t, p, "")
}

// answer is what the plugin answers for a model.
func answer(t *testing.T, p *supervisor.Plugin, model string) string {
	t.Helper()
	s, err := again{p, 0}.Reenter(t.Context(), sdk.Request{Model: model})
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
	waitWithin(t, 10*time.Second, what, cond)
}

func waitWithin(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	pause, over := time.NewTicker(time.Millisecond), time.After(limit)
	defer pause.Stop()
	for !cond() {
		select {
		case <-pause.C:
		case <-over:
			t.Fatalf("did not happen: %s", what)
		}
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

// TestRetireDrains: a turn under way is decided, and the plugin has written what
// it has to, before the process ends.
func TestRetireDrains(t *testing.T) {
	p, l := start(t, "thinks")
	id, dir := pid(t, p), t.TempDir()
	closeGate(t, dir)
	answered := make(chan string, 1)
	go func() { answered <- answer(t, p, "waits at "+filepath.Join(dir, "gate")) }()
	wait(t, "the turn is under way", func() bool { return strings.Contains(l.String(), "waits") })
	retired := make(chan struct{})
	go func() {
		p.Retire(t.Context())
		close(retired)
	}()
	wait(t, "no further call gets in", func() bool {
		_, release, err := p.Acquire(t.Context(), 0)
		if err == nil {
			release()
		}
		return errors.Is(err, supervisor.ErrDown)
	})
	select {
	case <-retired:
		t.Error("ended within a turn")
	default:
	}
	openGate(t, dir)
	if got := <-answered; got != id {
		t.Errorf("the turn was answered by %q, want %s", got, id)
	}
	<-retired
	if running(id) || !strings.Contains(l.String(), "drained") {
		t.Errorf("running: %t; log:\n%s", running(id), l)
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

// childOf is the one process that a process has started.
func childOf(t *testing.T, id string) string {
	t.Helper()
	tasks, err := filepath.Glob("/proc/" + id + "/task/*/children") // of whichever thread forked it
	for _, file := range tasks {
		if b, err := os.ReadFile(file); err == nil && len(strings.Fields(string(b))) > 0 {
			return strings.Fields(string(b))[0]
		}
	}
	t.Fatalf("no child: %v", err)
	return ""
}

func TestGrandchildrenGoToo(t *testing.T) {
	p, _ := start(t, "orphan")
	id := pid(t, p)
	child := childOf(t, id)
	began := time.Now()
	p.Stop()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stop took %s", took)
	}
	wait(t, "the grandchild is gone", func() bool { return !running(child) })
}

// TestPrintedLater: what a plugin prints once it serves is logged too, and does
// not stop it, however long the line.
func TestPrintedLater(t *testing.T) {
	p, l := start(t, "loud")
	pid(t, p)
	for _, want := range []string{"printed once it serves", "complained once it serves"} {
		wait(t, "log has "+want, func() bool { return strings.Contains(l.String(), want) })
	}
}

// TestCrashBesideGrandchild: a crash is noticed although a grandchild holds the
// outputs, and it goes too.
func TestCrashBesideGrandchild(t *testing.T) {
	p, _ := start(t, "orphan")
	id := pid(t, p)
	child := childOf(t, id)
	began := time.Now()
	if err := syscall.Kill(atoi(id), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait(t, "it is up again", func() bool { i := p.Info(); return i.Up && i.PID != id })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
	wait(t, "the grandchild is gone", func() bool { return !running(child) })
}

// TestStarterGoes: a plugin outlives the thread that started it.
func TestStarterGoes(t *testing.T) {
	o, _ := options(t, "")
	var p *supervisor.Plugin
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends too
		p, err = supervisor.Start(t.Context(), o)
	}()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	id := p.Info().PID
	for range 20 {
		if got := pid(t, p); got != id {
			t.Fatalf("process %s became %s", id, got)
		}
	}
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
