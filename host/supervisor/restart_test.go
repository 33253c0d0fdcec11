package supervisor_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spillway/host/supervisor"
	"spillway/sdk"
	"spillway/sdk/serve"
)

// oddVar holds what an odd plugin does, and where the files are by which the
// test steers it.
const oddVar = "ODD_PLUGIN"

// TestOddPlugin is not a test but an odd plugin's main, if it is started as one.
func TestOddPlugin(t *testing.T) {
	mode, dir, ok := strings.Cut(os.Getenv(oddVar), ":")
	if !ok {
		return
	}
	os.Setenv(serve.Handshake.MagicCookieKey, serve.Handshake.MagicCookieValue)
	serve.Main(&oddPlugin{mode: mode, gate: filepath.Join(dir, "gate")})
}

// oddPlugin tells the revision of its catalogue.
type oddPlugin struct {
	mode string
	gate string // a pipe; while it is there a new process waits at it
	host sdk.Host
}

var _ sdk.CatalogueObserver = (*oddPlugin)(nil)

func (p *oddPlugin) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "odd", Version: "1", Hook: sdk.HookSpec{OnDown: sdk.OnDownWait, Wait: 10 * time.Second}}
}

func (p *oddPlugin) Configure(_ context.Context, h sdk.Host, _ sdk.Config) error {
	if _, err := os.Stat(p.gate); err == nil {
		h.Log().Info(fmt.Sprintf("hangs as %d.", os.Getpid()))
		f, err := os.Open(p.gate) // until somebody opens the other end
		if err != nil {
			return err
		}
		f.Close()
	}
	p.host = h
	return nil
}

// Catalogue comes before Configure, and again after a start that went well.
func (p *oddPlugin) Catalogue(sdk.Catalogue) {
	if p.mode == "dies" && p.host != nil {
		os.Exit(3)
	}
}

func (p *oddPlugin) LLMStream(context.Context, *sdk.Call, sdk.Next) (sdk.Stream, error) {
	return sdk.AnswerText("odd", fmt.Sprint(p.host.Catalogue().Revision)), nil
}

// odd is a plugin that starts this test binary with TestOddPlugin as its main,
// and the folder of its gate. In mode "mute" a new process waits at the gate
// before it says anything.
func odd(t *testing.T, mode string) (supervisor.Options, *logs, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wait := ""
	if mode == "mute" {
		wait = fmt.Sprintf("if [ -e %[1]s/gate ]; then echo hangs as $$. >&2; read line < %[1]s/gate; fi\n", dir)
	}
	// The cookie is hidden from TestMain, which has a main of its own.
	script := fmt.Sprintf("#!/bin/sh\n%sunset %s\n%s=%s:%s exec %s -test.run '^TestOddPlugin$'\n",
		wait, serve.Handshake.MagicCookieKey, oddVar, mode, dir, exe)
	source := filepath.Join(t.TempDir(), "odd")
	if err := os.WriteFile(source, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := supervisor.Install(source, filepath.Join(t.TempDir(), "copies"))
	if err != nil {
		t.Fatal(err)
	}
	l := &logs{}
	return supervisor.Options{
		Entry: "odd", Binary: b, Config: []byte("{}"), Log: slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, l, dir
}

func startOdd(t *testing.T, mode string) (*supervisor.Plugin, *logs, string) {
	t.Helper()
	o, l, dir := odd(t, mode)
	p, err := supervisor.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p, l, dir
}

// revision is that of the catalogue of an odd plugin, which answers with it in
// the place of its process id.
func revision(t *testing.T, p *supervisor.Plugin) string {
	t.Helper()
	return pid(t, p)
}

// closeGate makes new processes wait.
func closeGate(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// openGate lets the waiting process go on.
func openGate(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "gate"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

var hangsLine = regexp.MustCompile(`hangs as (\d+)\.`)

// hanging waits until a process waits at the gate, and returns its id.
func hanging(t *testing.T, l *logs) string {
	t.Helper()
	var m []string
	wait(t, "a process waits at the gate", func() bool {
		m = hangsLine.FindStringSubmatch(l.String())
		return m != nil
	})
	return m[1]
}

// TestCrashLoop: a plugin that dies of every start, each time right after it was
// configured, is off after five processes, and calls do without it at once.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	p, l, _ := startOdd(t, "dies")
	p.SetCatalogue(t.Context(), sdk.Catalogue{Revision: 1}) // the first one dies of this; restarts send one by themselves
	wait(t, "it is off", func() bool { return p.Info().Down != "" })
	i := p.Info()
	if !strings.Contains(i.Down, "crash loop") || i.Up || !strings.Contains(l.String(), "crash loop\" plugin=odd tries=5") {
		t.Errorf("info: %+v", i)
	}
	began := time.Now()
	if got := revision(t, p); got != "bypassed" {
		t.Errorf("a call got %q", got)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("a call waited %s", took)
	}
}

// TestKilledNowAndThen: a plugin that nobody asks and that is killed again and
// again, but lives a while each time, is not off.
func TestKilledNowAndThen(t *testing.T) {
	t.Parallel()
	const kills, aWhile = 5, 300 * time.Millisecond // five short lives are a crash loop
	p, _, _ := startOdd(t, "")
	for n := range kills {
		wait(t, "it has lived a while", func() bool {
			i := p.Info()
			return i.Up && i.Restarts == n && time.Since(i.Since) > aWhile
		})
		if err := syscall.Kill(atoi(p.Info().PID), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, "it is up again", func() bool { i := p.Info(); return i.Up && i.Restarts == kills })
	if got := revision(t, p); got != "0" {
		t.Errorf("a call got %q", got)
	}
}

// TestCatalogueDuringRestart: a catalogue that comes while the successor is being
// configured with the old one reaches it, and an older one never replaces a newer.
func TestCatalogueDuringRestart(t *testing.T) {
	t.Parallel()
	p, l, dir := startOdd(t, "")
	closeGate(t, dir)
	if err := syscall.Kill(atoi(p.Info().PID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	hanging(t, l)
	var wg sync.WaitGroup
	for revision := range uint64(43) {
		wg.Go(func() { p.SetCatalogue(t.Context(), sdk.Catalogue{Revision: revision}) })
	}
	wg.Wait()
	openGate(t, dir)
	wait(t, "the newest catalogue is there", func() bool { return revision(t, p) == "42" })
	p.SetCatalogue(t.Context(), sdk.Catalogue{Revision: 41})
	if got := revision(t, p); got != "42" {
		t.Errorf("after an older one: got %s, want 42", got)
	}
}

// TestStopOfHangingStart: a process that does not come to the end of its start
// holds up neither Stop nor a caller of Start who gives up, and does not stay.
func TestStopOfHangingStart(t *testing.T) {
	t.Parallel()
	const bound = 3 * time.Second
	for _, mode := range []string{"mute", "unconfigured"} {
		t.Run(mode+"/restart", func(t *testing.T) {
			o, l, dir := odd(t, mode)
			p, err := supervisor.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			closeGate(t, dir)
			if err := syscall.Kill(atoi(p.Info().PID), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			id := hanging(t, l)
			began := time.Now()
			p.Stop()
			if took := time.Since(began); took > bound {
				t.Errorf("took %s", took)
			}
			wait(t, "the process is gone", func() bool { return !running(id) })
		})
		t.Run(mode+"/start", func(t *testing.T) {
			o, l, dir := odd(t, mode)
			closeGate(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				p, err := supervisor.Start(ctx, o)
				if err == nil {
					p.Stop()
				}
				done <- err
			}()
			id := hanging(t, l)
			began := time.Now()
			cancel()
			if err := <-done; err == nil {
				t.Error("started")
			}
			if took := time.Since(began); took > bound {
				t.Errorf("took %s", took)
			}
			wait(t, "the process is gone", func() bool { return !running(id) })
		})
	}
}
