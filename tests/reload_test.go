package tests

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// watched is a runtime that follows its profile's files.
type watched struct {
	t   *testing.T
	dir string
	rt  *host.Runtime
	log *buffer
}

func watch(t *testing.T, s *sim.Server, patch string) *watched {
	t.Helper()
	dir := t.TempDir()
	save(t, filepath.Join(dir, profile.BaseFile), rows(s)+failoverRow)
	save(t, filepath.Join(dir, profile.PatchFile), patch)
	return follow(t, host.Options{Dir: dir, PluginDirs: []string{rig.Plugins(t)}})
}

// follow runs a profile and follows its files.
func follow(t *testing.T, o host.Options) *watched {
	t.Helper()
	w := &watched{t: t, dir: o.Dir, log: &buffer{}}
	o.Watch, o.Log = true, slog.New(slog.NewTextHandler(w.log, nil))
	var err error
	if w.rt, err = host.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.rt.Close)
	return w
}

// write saves a file of the profile.
func (w *watched) write(name, text string) {
	w.t.Helper()
	save(w.t, filepath.Join(w.dir, name), text)
}

// save replaces a file as editors do: a new one, renamed over the old.
func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition of the runtime.
func (w *watched) until(what string, cond func() bool) {
	w.t.Helper()
	limit := time.Now().Add(20 * time.Second)
	for !cond() {
		if time.Now().After(limit) {
			w.t.Fatalf("did not happen: %s\n%s", what, w.log.Bytes())
		}
		pause(w.t, time.Millisecond, time.Millisecond)
	}
}

func (w *watched) served(head, by string) {
	w.t.Helper()
	w.until(head+" is served by "+by, func() bool {
		text, f, _ := ask(w.t.Context(), w.rt, route(head))
		return f == nil && strings.HasPrefix(text, "w0@"+by)
	})
}

func route(s string) sdk.Route {
	provider, model, _ := strings.Cut(s, "/")
	return sdk.Route{Provider: provider, Model: model}
}

func (w *watched) pid() string { return w.rt.Graph().Plugins()[0].PID }

func (w *watched) entry(id string) host.Entry {
	for _, e := range w.rt.Graph().Entries() {
		if e.ID == id {
			return e
		}
	}
	return host.Entry{}
}

func three(t *testing.T) *sim.Server {
	return vendors(t, 6, 0, map[string]string{"anthropic": "quota", "kimi-coding": "ok", "deepseek": "ok"})
}

func priority(routes string) string {
	return "- id: failover\n  config: {priority: [" + routes + "]}\n"
}

func TestReloadVolatile(t *testing.T) {
	w := watch(t, three(t), "[]\n")
	w.served("anthropic/m", "kimi-coding")
	pid := w.pid()
	w.write(profile.PatchFile, priority("anthropic/m, deepseek/m"))
	w.served("anthropic/m", "deepseek")
	if w.pid() != pid {
		t.Error("the plugin was restarted for a volatile setting")
	}
	if !strings.Contains(string(w.log.Bytes()), "settings changed") || !strings.Contains(string(w.log.Bytes()), "paths=priority") {
		t.Errorf("log: %s", w.log.Bytes())
	}
	// A comment, and the same text again, change nothing.
	g := w.rt.Graph()
	at := w.rt.Reloaded().At
	w.write(profile.PatchFile, "# a comment\n"+priority("anthropic/m, deepseek/m"))
	w.until("the file was read", func() bool { return w.rt.Reloaded().At.After(at) })
	if w.rt.Graph() != g {
		t.Error("a comment made a new graph")
	}
}

func TestReloadRestartsAnEntry(t *testing.T) {
	w := watch(t, three(t), "[]\n")
	pid := w.pid()
	w.write(profile.PatchFile, "- id: failover\n  config: {priority: [anthropic/m, deepseek/m], maxCooldownMs: 7200000}\n")
	w.until("a new process", func() bool { return w.pid() != pid })
	w.until("the old process is gone", func() bool { _, err := os.Stat("/proc/" + pid); return err != nil })
	w.served("anthropic/m", "deepseek")
}

func TestReloadRows(t *testing.T) {
	s := three(t)
	w := watch(t, s, "[]\n")
	w.write(profile.PatchFile, "- insert:\n    - {id: shout, name: shout}\n")
	w.until("shout runs", func() bool { return len(w.rt.Graph().Plugins()) == 2 })
	if text, f, _ := ask(t.Context(), w.rt, route("deepseek/m")); text != strings.ToUpper(whole("deepseek", 6)) {
		t.Errorf("got %q, %v", text, f)
	}
	shout := w.rt.Graph().Plugins()[1].PID
	w.write(profile.PatchFile, "- {id: deepseek, disabled: true}\n")
	w.until("shout and deepseek are gone", func() bool { return len(w.rt.Graph().Plugins()) == 1 && w.entry("deepseek").ID == "" })
	w.until("its process is gone", func() bool { _, err := os.Stat("/proc/" + shout); return err != nil })
	if err := os.Remove(filepath.Join(w.dir, profile.PatchFile)); err != nil {
		t.Fatal(err)
	}
	w.served("deepseek/m", "deepseek")
}

func TestReloadRefuses(t *testing.T) {
	w := watch(t, three(t), priority("anthropic/m, deepseek/m"))
	w.served("anthropic/m", "deepseek")
	g, pid := w.rt.Graph(), w.pid()
	for name, bad := range map[string]struct{ text, want string }{
		"broken YAML": {"- id: failover\n  config: {priority: [", profile.PatchFile + ":"},
		"empty":       {"# nothing\n", "[]"},
	} {
		w.write(profile.PatchFile, bad.text)
		w.until(name+" is refused", func() bool { return strings.Contains(w.rt.Reloaded().Error, bad.want) })
		if w.rt.Graph() != g {
			t.Errorf("%s: the graph changed", name)
		}
		w.served("anthropic/m", "deepseek")
	}
	// One entry's fault leaves that entry as it was, with the reason beside it.
	w.write(profile.PatchFile, "- id: failover\n  config: {priorty: [deepseek/m]}\n")
	w.until("the fault is told", func() bool { return strings.Contains(w.entry("failover").Error, "priorty") })
	if e := w.entry("failover").Error; !strings.Contains(e, profile.PatchFile+":2:") || !strings.Contains(e, "priority") {
		t.Errorf("fault: %s", e)
	}
	w.served("anthropic/m", "deepseek")
	if w.pid() != pid {
		t.Error("the plugin was restarted by a bad setting")
	}
	// The next good save recovers by itself.
	w.write(profile.PatchFile, priority("anthropic/m, kimi-coding/m"))
	w.served("anthropic/m", "kimi-coding")
	if e := w.entry("failover").Error; e != "" || w.rt.Reloaded().Error != "" {
		t.Errorf("still told: %q %q", e, w.rt.Reloaded().Error)
	}
}

// TestReloadBinary: a plugin dropped into a folder that does not exist yet, and
// then replaced.
func TestReloadBinary(t *testing.T) {
	w := watch(t, three(t), "- insert:\n    - {id: louder, name: louder}\n")
	if e := w.entry("louder").Error; !strings.Contains(e, `no module "louder"`) {
		t.Errorf("before it is there: %q", e)
	}
	w.drop("louder", "shout")
	w.until("it runs", func() bool { return len(w.rt.Graph().Plugins()) == 2 })
	if text, _, _ := ask(t.Context(), w.rt, route("deepseek/m")); text != strings.ToUpper(whole("deepseek", 6)) {
		t.Errorf("got %q", text)
	}
	pid := w.rt.Graph().Plugins()[1].PID
	w.drop("louder", "shout") // the same bytes with one more
	w.until("it was replaced", func() bool {
		p := w.rt.Graph().Plugins()
		return len(p) == 2 && p[1].PID != pid
	})
}

var drops atomic.Int64

// drop puts a program of this repository into the profile's plugins folder. Each
// time its bytes differ.
func (w *watched) drop(name, program string) {
	w.t.Helper()
	drop(w.t, filepath.Join(w.dir, profile.PluginsDir), name, program)
}

func drop(t *testing.T, dir, name, program string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path+"~", programBytes(t, program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

// programBytes is a program of this repository, each time with another end: it
// runs the same and is another file.
func programBytes(t *testing.T, program string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rig.Plugins(t), program))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(b, "%d", drops.Add(1))
}

// TestReloadTwice: a call that waits for its vendor while the profile changes
// twice still has the plugins that it began with.
func TestReloadTwice(t *testing.T) {
	s := vendors(t, 6, 0, map[string]string{"anthropic": "503 after=2s; ok", "kimi-coding": "ok", "deepseek": "ok"})
	one := "- id: failover\n  config: {priority: [anthropic/m, %s/m], budget: {maxSameTargetAttempts: 1}}\n"
	w := watch(t, s, fmt.Sprintf(one, "kimi-coding")+"- insert: [{id: shout, name: shout}]\n")
	shout := w.rt.Graph().Plugins()[1].PID
	type got struct {
		text string
		f    *sdk.Failure
	}
	answer := make(chan got, 1)
	go func() {
		text, f, _ := ask(context.Background(), w.rt, route("anthropic/m"))
		answer <- got{text, f}
	}()
	if _, err := s.Vendor("anthropic").Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	w.write(profile.PatchFile, fmt.Sprintf(one, "deepseek")+"- insert: [{id: shout, name: shout}]\n")
	w.until("the settings have changed", func() bool { return strings.Contains(string(w.log.Bytes()), "settings changed") })
	w.write(profile.PatchFile, fmt.Sprintf(one, "deepseek"))
	w.until("shout is gone", func() bool { return len(w.rt.Graph().Plugins()) == 1 })
	if a := <-answer; a.f != nil || a.text != strings.ToUpper(whole("kimi-coding", 6)) {
		t.Errorf("got %q, %v, want the answer of the order and the plugins that were there first", a.text, a.f)
	}
	w.until("its process is gone", func() bool { _, err := os.Stat("/proc/" + shout); return err != nil })
	w.served("anthropic/m", "anthropic")
}

// TestReloadFrozenPlugin: a plugin that does not take its settings is started
// anew with them.
func TestReloadFrozenPlugin(t *testing.T) {
	w := watch(t, three(t), priority("anthropic/m, kimi-coding/m"))
	signal(t, w.rt, syscall.SIGSTOP, "")
	w.write(profile.PatchFile, priority("anthropic/m, deepseek/m"))
	w.served("anthropic/m", "deepseek")
	if e := w.entry("failover").Error; e != "" {
		t.Errorf("still told: %s", e)
	}
}

// TestReloadUnderLoad edits, spoils and replaces while callers stream: no call is
// lost, hung, doubled or cut.
func TestReloadUnderLoad(t *testing.T) {
	const tokens = 30
	s := vendors(t, tokens, 2*time.Millisecond, map[string]string{"anthropic": "500; ok*3; repeat", "kimi-coding": "ok"})
	w := watch(t, s, "[]\n")
	settings := "failureThreshold: 1000, budget: {maxSameTargetAttempts: 1}"
	w.write(profile.PatchFile, fmt.Sprintf("- id: failover\n  config: {priority: [anthropic/m, kimi-coding/m], %s}\n", settings))
	w.until("the first settings hold", func() bool { return strings.Contains(string(w.log.Bytes()), "profile in force") })

	n, stop := &tally{}, make(chan struct{})
	wg := load(context.Background(), t, w.rt, tokens, 8, stop, n)
	for i := range 12 {
		switch i % 4 {
		case 0: // volatile
			w.write(profile.PatchFile, fmt.Sprintf("- id: failover\n  config: {priority: [anthropic/m, kimi-coding/m], cooldownMs: %d, %s}\n", 300000+i, settings))
		case 1: // broken
			w.write(profile.PatchFile, "- id: [")
		case 2: // a restart
			w.write(profile.PatchFile, fmt.Sprintf("- id: failover\n  config: {priority: [anthropic/m, kimi-coding/m], maxCooldownMs: %d, %s}\n", 3600000+i, settings))
		case 3: // another binary
			w.drop("failover", "failover")
		}
		at := w.rt.Reloaded().At
		w.until("it was read", func() bool { return w.rt.Reloaded().At.After(at) })
		calls := n.calls.Load()
		w.until("calls go on", func() bool { return n.calls.Load() > calls+8 })
	}
	close(stop)
	wg.Wait()
	t.Logf("calls %d whole %d bypassed %d lost %d hung %d mixed %d cut %d; longest %s",
		n.calls.Load(), n.whole.Load(), n.bypassed.Load(), n.lost.Load(), n.slow.Load(), n.mixed.Load(), n.cut.Load(), time.Duration(n.longest.Load()))
	if n.bypassed.Load() > 0 {
		t.Errorf("%d calls were bypassed: a replacement must leave no gap", n.bypassed.Load())
	}
}
