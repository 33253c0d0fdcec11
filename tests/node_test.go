package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/story"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// TestNode: a plugin in JavaScript, the reference for authors of other
// languages, does on the wire what one in Go does.
func TestNode(t *testing.T) {
	t.Parallel()
	n := buildNode(t)
	t.Run("process", n.process)
	t.Run("calls", n.calls)
	t.Run("killed", n.killed)
	t.Run("stopped", n.stopped)
	t.Run("faults", n.faults)
	t.Run("status", n.status)
}

// nodePlugin is the bundled program.
type nodePlugin struct{ path string }

// nodeName is the module's name, and that of its entry.
const nodeName = "node-failover"

// buildNode bundles the plugin into one file, as its package.json says.
func buildNode(t *testing.T) nodePlugin {
	t.Helper()
	const source = "plugins/node"
	modules := rig.NodeModules(t, source)
	n := nodePlugin{filepath.Join(t.TempDir(), nodeName)}
	build := exec.CommandContext(t.Context(), "npm", "run", "build", "--", "--outfile="+n.path)
	build.Dir = source
	build.Env = append(os.Environ(), // the packages are not beside the source
		"NODE_PATH="+modules, "PATH="+filepath.Join(modules, ".bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	rig.Run(t, build)
	if err := os.Chmod(n.path, 0o700); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return n
}

// profile makes a profile of the providers in rows and the plugin, whose second
// route is given.
func (n nodePlugin) profile(t *testing.T, rows, second string) (dir string) {
	t.Helper()
	dir = rig.Profile(t, rows+fmt.Sprintf("- {id: %s, name: %[1]s, config: {second: %s}}\n", nodeName, second))
	plugins := filepath.Join(dir, profile.PluginsDir)
	if err := os.Mkdir(plugins, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(n.path, filepath.Join(plugins, nodeName)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// open runs a profile with two vendors. The caller closes it.
func (n nodePlugin) open(t *testing.T, s *sim.Server, log *slog.Logger) *host.Runtime {
	t.Helper()
	rt, err := host.Open(t.Context(), host.Options{Dir: n.profile(t, rows(s), "kimi-coding/m"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rt.Graph().Entries() {
		if e.Error != "" {
			rt.Close()
			t.Fatalf("%s: %s", e.ID, e.Error)
		}
	}
	return rt
}

// words is the length of an answer.
const words = 12

func (n nodePlugin) calls(t *testing.T) {
	t.Parallel()
	s := vendors(t, words, 0, map[string]string{"anthropic": "ok", "kimi-coding": "ok"})
	rt := n.open(t, s, slog.New(slog.DiscardHandler))
	defer rt.Close()
	for _, tt := range []struct {
		name      string
		anthropic string // scripts, see sim.Parse
		kimi      string
		text      string
		code      sdk.Code
		kinds     []sdk.AttemptKind
		actions   []sdk.Action // what the plugin said of each
	}{
		{"healthy", "ok", "ok", whole("anthropic", words), "",
			[]sdk.AttemptKind{sdk.KindPrimary}, []sdk.Action{""}},
		{"the first vendor fails", "quota", "ok", whole("kimi-coding", words), "",
			[]sdk.AttemptKind{sdk.KindPrimary, sdk.KindFailover}, []sdk.Action{sdk.ActionFailover, ""}},
		{"both fail", "500", "ban", "", sdk.CodeServer, // the first one's, as without the plugin
			[]sdk.AttemptKind{sdk.KindPrimary, sdk.KindFailover}, []sdk.Action{sdk.ActionFailover, sdk.ActionStop}},
		{"the request is at fault", "400", "ok", "", sdk.CodeInvalidRequest,
			[]sdk.AttemptKind{sdk.KindPrimary}, []sdk.Action{sdk.ActionStop}},
		{"healthy again", "ok", "ok", whole("anthropic", words), "",
			[]sdk.AttemptKind{sdk.KindPrimary}, []sdk.Action{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for vendor, script := range map[string]string{"anthropic": tt.anthropic, "kimi-coding": tt.kimi} {
				if err := s.Vendor(vendor).SetScript(script); err != nil {
					t.Fatal(err)
				}
			}
			text, f, id := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
			var code sdk.Code
			if f != nil {
				code = f.Code
			}
			if text != tt.text || code != tt.code {
				t.Errorf("got %q, %v; want %q, %q", text, f, tt.text, tt.code)
			}
			rec, err := rt.Records().Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []sdk.AttemptKind
			var actions []sdk.Action
			for _, a := range rec.Attempts {
				kinds, actions = append(kinds, a.Kind), append(actions, a.Action)
			}
			if d := cmp.Diff(tt.kinds, kinds); d != "" {
				t.Errorf("attempts (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.actions, actions); d != "" {
				t.Errorf("decisions (-want +got):\n%s", d)
			}
		})
	}
	t.Run("many at once", func(t *testing.T) {
		if err := s.Vendor("anthropic").SetScript("quota; ok; repeat"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
				if f != nil || text != whole("anthropic", words) && text != whole("kimi-coding", words) {
					t.Errorf("got %q, %v; want one vendor's whole answer", text, f)
				}
			})
		}
		wg.Wait()
	})
	if p := rt.Graph().Plugins()[0]; p.Restarts != 0 || p.Bypassed != 0 {
		t.Errorf("%d restarts, %d calls without the plugin; want none: %q", p.Restarts, p.Bypassed, p.Output)
	}
}

// killed: a call waits for the next process, whether it begins after the kill or
// had an attempt under way, of which that process is told.
func (n nodePlugin) killed(t *testing.T) {
	t.Parallel()
	s := vendors(t, words, 0, map[string]string{"anthropic": "quota", "kimi-coding": "ok"})
	rt := n.open(t, s, slog.New(slog.DiscardHandler))
	defer rt.Close()
	first := ""
	for range 2 {
		first = signal(t, rt, syscall.SIGKILL, first)
		text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
		if f != nil || text != whole("kimi-coding", words) {
			t.Errorf("after the kill: got %q, %v", text, f)
		}
	}
	anthropic := s.Vendor("anthropic")
	if err := anthropic.SetScript("500 after=1s"); err != nil {
		t.Fatal(err)
	}
	before := len(anthropic.Calls())
	var wg sync.WaitGroup
	wg.Go(func() {
		text, f, _ := ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
		if f != nil || text != whole("kimi-coding", words) {
			t.Errorf("killed during the first attempt: got %q, %v", text, f)
		}
	})
	if _, err := anthropic.Wait(t.Context(), before+1); err != nil {
		t.Error(err)
	}
	signal(t, rt, syscall.SIGKILL, first)
	wg.Wait()
	if n := len(anthropic.Calls()) - before; n != 1 {
		t.Errorf("the first vendor was asked %d times, want once", n)
	}
	if p := rt.Graph().Plugins()[0]; p.Restarts != 3 || p.Bypassed != 0 {
		t.Errorf("after three kills: %+v; want three restarts, no call without the plugin", p)
	}
}

// stopTime is what a plugin's end may take.
const stopTime = 2 * time.Second

// stopped: the plugin ends with its host, after it has taken what was still to
// be told; its log has reached the host's.
func (n nodePlugin) stopped(t *testing.T) {
	t.Parallel()
	log := &buffer{}
	s := vendors(t, words, 0, map[string]string{"anthropic": "quota", "kimi-coding": "ok"})
	rt := n.open(t, s, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	_, _, _ = ask(t.Context(), rt, sdk.Route{Provider: "anthropic", Model: "m"})
	pid := rt.Graph().Plugins()[0].PID
	began := time.Now()
	rt.Close()
	if took := time.Since(began); took > stopTime {
		t.Errorf("stopping took %s", took)
	}
	checkGone(t, pid)
	for _, line := range []string{
		"level=INFO msg=session plugin=node-failover epoch=1\n",
		"level=DEBUG msg=outcome plugin=node-failover code=ok route=kimi-coding/m\n",
	} {
		if n := strings.Count(string(log.Bytes()), line); n != 1 {
			t.Errorf("%d lines %q in the log, want one:\n%s", n, line, log.Bytes())
		}
	}
}

// checkGone looks for a process that its parent has waited for.
func checkGone(t *testing.T, pid string) {
	t.Helper()
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(id, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %s: %v; want it gone", pid, err)
	}
}

// faults: a wrong setting is told with its place, by the schema or by the
// plugin, and nothing is left running.
func (n nodePlugin) faults(t *testing.T) {
	t.Parallel()
	s := vendors(t, words, 0, map[string]string{"anthropic": "ok"})
	for _, tt := range []struct{ second, want string }{
		{"kimi-coding/m", "there is no such provider"},
		{"anthropic", "second"},
	} {
		t.Run(tt.second, func(t *testing.T) {
			rt, err := host.Open(t.Context(), host.Options{Dir: n.profile(t, rows(s), tt.second)})
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			entries := rt.Graph().Entries()
			if e := entries[len(entries)-1]; !strings.Contains(e.Error, tt.want) || !strings.Contains(e.Error, "cordis.yml") {
				t.Errorf("%s: got %q, want %q and where", e.ID, e.Error, tt.want)
			}
		})
	}
}

// status: "spillway status" shows the plugin of a host that serves, and that
// host takes it along when it ends.
func (n nodePlugin) status(t *testing.T) {
	t.Parallel()
	sims := rig.Vendors(t, sim.Vendor{Name: "anthropic"}, sim.Vendor{Name: "kimi-coding"})
	rows, env := rig.Providers(sims, "anthropic", "openai")
	server := rig.ServeProfile(t, n.profile(t, rows, "kimi-coding/k3"), append(env, "PATH="+os.Getenv("PATH"))...)

	ask := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), rig.Spillway(t), append([]string{"status", "--profile", server.Dir + "/"}, args...)...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
		return rig.Run(t, cmd)
	}
	var v story.StatusView
	if err := json.Unmarshal([]byte(ask("--json")), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Plugins) != 1 || !v.Plugins[0].Up || v.Plugins[0].Name != nodeName || v.Plugins[0].Version != "0.1.0" {
		t.Fatalf("plugins: got %+v", v.Plugins)
	}
	if text := ask(); !strings.Contains(text, nodeName) {
		t.Errorf("the text does not name the plugin:\n%s", text)
	}
	listed(t, server, nodeName)
	began := time.Now()
	server.Stop()
	if took := time.Since(began); took > stopTime {
		t.Errorf("stopping took %s", took)
	}
	checkGone(t, v.Plugins[0].PID)
}
