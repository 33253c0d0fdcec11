package tests

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/tests/internal/rig"
)

// Measurements, not tests: they print numbers and judge none, since those of a
// busy machine say nothing.

var reloadLatency = flag.Bool("reload.latency", false, "measure how soon an edit is in force, and what an idle serve costs")

// TestReloadLatency measures from the rename of a file to the end of the first
// call that shows it.
func TestReloadLatency(t *testing.T) {
	if !*reloadLatency {
		return
	}
	const edits = 20
	w := watch(t, three(t), priority("anthropic/m, kimi-coding/m"))
	w.served("anthropic/m", "kimi-coding")
	vendors := []string{"deepseek", "kimi-coding"}
	pid := func(i int) string {
		if p := w.rt.Graph().Plugins(); i < len(p) {
			return p[i].PID
		}
		return ""
	}
	for _, kind := range []struct {
		name string
		edit func(i int) (shown func() bool)
	}{
		{"volatile setting", func(i int) func() bool {
			w.write(profile.PatchFile, priority("anthropic/m, "+vendors[i%2]+"/m"))
			return func() bool { return w.by(vendors[i%2]) }
		}},
		{"entry restarted", func(i int) func() bool {
			w.write(profile.PatchFile, fmt.Sprintf("- id: failover\n  config: {priority: [anthropic/m, %s/m], maxCooldownMs: %d}\n", vendors[i%2], 3600000+i))
			return func() bool { return w.by(vendors[i%2]) }
		}},
		{"plugin added or removed", func(i int) func() bool {
			row := []string{"- insert: [{id: shout, name: shout}]\n", "[]\n"}[i%2]
			w.write(profile.PatchFile, row)
			return func() bool {
				text, _, _ := ask(t.Context(), w.rt, route("deepseek/m"))
				return strings.HasPrefix(text, "W") == (i%2 == 0)
			}
		}},
		{"binary replaced", func(i int) func() bool {
			old := pid(0)
			w.drop("failover", "failover")
			return func() bool { return pid(0) != old && w.by("kimi-coding") }
		}},
	} {
		var took []time.Duration
		for i := range edits {
			began := time.Now()
			shown := kind.edit(i)
			w.until(kind.name+" shows", shown)
			took = append(took, time.Since(began).Round(time.Millisecond))
		}
		slices.Sort(took)
		t.Logf("%-24s median %s, longest %s of %d", kind.name, took[edits/2], took[edits-1], edits)
	}
}

// by makes a call and reports whether the vendor answers it.
func (w *watched) by(vendor string) bool {
	text, f, _ := ask(w.t.Context(), w.rt, route("anthropic/m"))
	return f == nil && strings.HasPrefix(text, "w0@"+vendor)
}

// TestIdleCost measures the processor time of a serve that follows its files and
// of its plugin while nothing happens.
func TestIdleCost(t *testing.T) {
	if !*reloadLatency {
		return
	}
	const idle = 10 * time.Second
	s := three(t)
	dir := rig.Profile(t, rows(s)+failoverRow)
	rig.ServeProfile(t, dir)
	v, err := control.NewClient(dir).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plugin := v.Plugins[0].PID
	_, host := processorTime(t, plugin)
	pause(t, time.Second, time.Second) // of the start
	for _, p := range []struct{ name, pid string }{{"host", host}, {"plugin", plugin}} {
		before, _ := processorTime(t, p.pid)
		pause(t, idle, idle)
		after, _ := processorTime(t, p.pid)
		t.Logf("%-6s %s of processor time in %s", p.name, after-before, idle)
	}
}

// processorTime is what a process has used, in the kernel too, and its parent.
func processorTime(t *testing.T, pid string) (used time.Duration, parent string) {
	t.Helper()
	const tick = 10 * time.Millisecond // of the kernel's accounts
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // after the name
	fields := strings.Fields(rest)
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		used += time.Duration(n) * tick
	}
	return used, fields[1]
}
