package tests

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

var reloadFor = flag.Duration("reload.for", 15*time.Second, "how long TestServeReload goes on; in five minutes it makes 100 edits, 50 bad saves and 50 replacements")

const (
	soakTokens  = 30
	soakCallers = 12
	soakRounds  = 59              // each edit needs an order of its own, and five vendors have 120
	soakRound   = 6 * time.Second // two edits, a bad save, a replacement, and mostly a plugin added or removed

	soakHead    = "head"
	soakHealthy = "healthy"
)

var soakFailing = []string{"alpha", "beta", "gamma", "delta", "epsilon"}

// TestServeReload: a real process is edited, spoilt and given other plugins
// while callers stream through it. No answer shows it; and each call's record
// shows that it ran on one graph, in force while it ran.
//
// The head and several vendors always fail, so a call asks all of them in the
// order of its settings, and ends with the one vendor that answers. Each edit
// writes an order that was never there before.
func TestServeReload(t *testing.T) {
	rounds := max(1, int((*reloadFor+soakRound-1)/soakRound))
	if rounds > soakRounds {
		t.Fatalf("-reload.for: got %s, at most %s", *reloadFor, soakRounds*soakRound)
	}
	s := soakVendors(t)
	p := &plan{t: t, written: map[string]time.Time{}}
	p.dir = rig.Profile(t, rows(s)+"- {id: failover, name: failover}\n")
	p.drop()
	p.edit()
	server := rig.ServeProfile(t, p.dir)
	p.control = control.NewClient(p.dir)
	p.history = remember(t, p.dir)
	c := &callers{
		t: t, url: server.URL, tokens: soakTokens, hand: func(a caller.Answer) { p.history.answers <- a },
		body: caller.Chat.Body(caller.Question{Model: soakHead + "/m"}),
	}
	c.start(soakCallers)
	defer p.history.all()
	defer c.end()

	began := time.Now()
	for i := range rounds {
		for step, act := range []func(){p.edited, p.spoil, p.edited, p.replace, func() {
			if i%5 != 4 {
				p.toggle()
			}
		}} {
			act()
			at := began.Add(time.Duration(i)*soakRound + time.Duration(step+1)*soakRound/5)
			pause(t, time.Until(at), time.Until(at))
		}
	}
	c.end()
	runs := p.history.all()
	graphs, orders := p.check(runs)
	p.explain(server, runs[len(runs)-1])

	bypassed, left := p.left()
	t.Logf("%s: edits %d, bad saves %d, replacements %d, plugins added or removed %d; calls ran on %d graphs with %d orders",
		time.Since(began).Round(time.Second), len(p.written)-1, p.spoilt, p.replaced, p.toggled, graphs, orders)
	t.Logf("calls %d whole %d flaws %v bypassed %d; longest %s; plugin processes at the end %d",
		c.calls.Load(), len(runs), c.flaws, bypassed, time.Duration(c.longest.Load()).Round(time.Millisecond), left)
}

// soakVendors fail in several ways. Each answers now and then: a thousand
// failures in a row would open its circuit.
func soakVendors(t *testing.T) *sim.Server {
	t.Helper()
	var o sim.Options
	kinds := []string{"503", "500", "529", "empty200", "502", "500"}
	for i, name := range append([]string{soakHead}, soakFailing...) {
		o.Vendors = append(o.Vendors, sim.Vendor{Name: name, Script: kinds[i] + "*300; ok; repeat"})
	}
	o.Vendors = append(o.Vendors, sim.Vendor{Name: soakHealthy})
	for i := range o.Vendors {
		o.Vendors[i].Answer = sim.Answer{Tokens: soakTokens, Gap: 2 * time.Millisecond, Numbered: true}
	}
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return s
}

// plan is what is done to the profile, and what is known of it.
type plan struct {
	t       *testing.T
	dir     string
	control *control.Client
	history *history

	order    []string
	written  map[string]time.Time // each order, and just before it was written
	cooldown int                  // not volatile
	loud     bool

	spoilt, replaced, toggled int
}

// shout is the row of the second plugin, if it is to run.
func (p *plan) shout() string {
	if p.loud {
		return "- insert: [{id: shout, name: shout}]\n"
	}
	return ""
}

func (p *plan) write(text string) { save(p.t, filepath.Join(p.dir, profile.PatchFile), text) }

// save writes the profile's patch as it is meant to be.
func (p *plan) save() {
	p.write(fmt.Sprintf(`- id: failover
  config:
    priority: [%s/m]
    failureThreshold: 1000
    maxCooldownMs: %d
    budget: {maxRoutes: 16, maxAttempts: 16, maxSameTargetAttempts: 1}
`, strings.Join(p.order, "/m, "), 3600000+p.cooldown) + p.shout())
}

// edit writes an order that was not there before.
func (p *plan) edit() {
	for p.order == nil || !p.written[key(p.order)].IsZero() {
		p.order = slices.Clone(soakFailing)
		rand.Shuffle(len(p.order), func(i, j int) { p.order[i], p.order[j] = p.order[j], p.order[i] })
		p.order = append(p.order, soakHealthy)
	}
	if len(p.written)%5 == 4 {
		p.cooldown++ // so the plugin is started anew
	}
	p.written[key(p.order)] = time.Now()
	p.save()
}

func key(order []string) string { return strings.Join(order, " ") }

// edited makes an edit and waits until a call has run on it.
func (p *plan) edited() {
	p.edit()
	p.until("a call runs on the edit", func() bool { return slices.Equal(p.history.last().order, p.order) })
}

// spoil makes a save that cannot be used, and waits until that is told.
func (p *plan) spoil() {
	bad := []string{
		"- id: failover\n  config: {priority: [",
		"# nothing\n",
		"- id: failover\n  config: {priorty: [healthy/m]}\n" + p.shout(),
		"- id: failover\n\tconfig: {}\n",
		"- id: failover\n  config: {priority: 7}\n" + p.shout(),
	}
	p.write(bad[p.spoilt%len(bad)])
	p.spoilt++
	p.until("the bad save is told", func() bool {
		v := p.status()
		return v.Refused != "" || slices.ContainsFunc(v.Entries, func(e story.EntryView) bool { return e.ID == "failover" && e.Error != "" })
	})
}

func (p *plan) drop() { drop(p.t, filepath.Join(p.dir, profile.PluginsDir), "failover", "failover") }

// replace puts another file in the place of the plugin's, and waits for its
// process.
func (p *plan) replace() {
	old := p.status().Plugins[0].PID
	p.drop()
	p.replaced++
	p.until("the other plugin runs", func() bool { return p.status().Plugins[0].PID != old })
}

// toggle adds the second plugin, or removes it, and waits until a call shows it.
func (p *plan) toggle() {
	p.loud = !p.loud
	p.save()
	p.toggled++
	p.until("the second plugin is as it should be", func() bool { return p.history.last().loud() == p.loud })
}

func (p *plan) status() story.StatusView {
	p.t.Helper()
	v, err := p.control.Status(p.t.Context())
	if err != nil || len(v.Plugins) == 0 {
		p.t.Fatalf("status: %+v, %v", v, err)
	}
	return v
}

func (p *plan) until(what string, cond func() bool) {
	p.t.Helper()
	limit := time.Now().Add(30 * time.Second)
	for !cond() {
		if time.Now().After(limit) {
			v, _ := p.control.Status(p.t.Context())
			p.t.Fatalf("did not happen: %s; status %+v", what, v)
		}
		pause(p.t, 20*time.Millisecond, 20*time.Millisecond)
	}
}

// graphFacts is what the calls of one graph have in common.
type graphFacts struct {
	order string
	loud  bool
}

// check holds the runs against what was written and when, and counts the graphs
// and orders among them.
func (p *plan) check(runs []run) (graphs, orders int) {
	p.t.Helper()
	if len(runs) == 0 {
		p.t.Fatal("no runs")
	}
	facts, seen := map[uint64]*graphFacts{}, map[string]bool{}
	for _, r := range runs {
		f := facts[r.graph]
		if f == nil {
			f = &graphFacts{loud: r.loud()}
			facts[r.graph] = f
		}
		if f.loud != r.loud() {
			p.t.Errorf("%s: graph %d has a second plugin and has not", r.ID, r.graph)
		}
		if !r.whole {
			continue
		}
		order := key(r.order)
		seen[order] = true
		if f.order == "" {
			f.order = order
		}
		written, ok := p.written[order]
		switch {
		case f.order != order:
			p.t.Errorf("%s: graph %d has two orders: %s; %s", r.ID, r.graph, f.order, order)
		case !ok:
			p.t.Errorf("%s: an order that was never written: %s", r.ID, order)
		case written.After(r.End):
			p.t.Errorf("%s: ended %s before its order was written", r.ID, written.Sub(r.End))
		}
	}
	for _, r := range runs { // the few that a failing vendor answered
		if f := facts[r.graph]; !r.whole && f.order != "" && !strings.HasPrefix(f.order+" ", key(r.order)+" ") && len(r.order) > 0 {
			p.t.Errorf("%s: graph %d has the order %s, was asked in the order %s", r.ID, r.graph, f.order, key(r.order))
		}
	}
	// Orders come in force as they were written.
	var last time.Time
	for _, g := range slices.Sorted(maps.Keys(facts)) {
		if o := facts[g].order; o != "" {
			if at := p.written[o]; at.Before(last) {
				p.t.Errorf("graph %d runs an order that was replaced before", g)
			} else {
				last = at
			}
		}
	}
	// A call that begins after another has ended runs on no older graph.
	ends := slices.SortedFunc(slices.Values(runs), func(a, b run) int { return a.End.Compare(b.End) })
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(a.Begin.Compare(b.Begin), cmp.Compare(a.ID, b.ID)) })
	newest, i := uint64(0), 0
	for _, r := range runs {
		for ; ends[i].End.Before(r.Begin); i++ {
			newest = max(newest, ends[i].graph)
		}
		if r.graph < newest {
			p.t.Errorf("%s: ran on graph %d, which %d had replaced", r.ID, r.graph, newest)
		}
	}
	return len(facts), len(seen)
}

// explain asks the program for a call's record.
func (p *plan) explain(server *rig.Server, r run) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), rig.Spillway(p.t), "explain", "--json", "--profile", p.dir+"/", r.ID)
	cmd.Env = []string{"HOME=" + p.dir, "GORACE=atexit_sleep_ms=0"}
	var rec record.Request
	if out, err := cmd.Output(); err != nil || json.Unmarshal(out, &rec) != nil || rec.Graph != r.graph {
		p.t.Errorf("explain: %v; graph %d, want %d", err, rec.Graph, r.graph)
	}
}

// left waits until no plugin process lives but those in force, and counts them
// and the calls that went on without them.
func (p *plan) left() (bypassed uint64, processes int) {
	p.t.Helper()
	v := p.status()
	for _, plugin := range v.Plugins {
		bypassed += plugin.Bypassed
	}
	p.until("replaced plugins have ended", func() bool {
		processes = len(copies(p.dir))
		return processes == len(v.Plugins)
	})
	return bypassed, processes
}

// copies are the processes that run plugins of a profile.
func copies(dir string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/exe")
	return slices.DeleteFunc(files, func(file string) bool {
		exe, err := os.Readlink(file)
		return err != nil || !strings.HasPrefix(exe, filepath.Join(dir, profile.StateDir, profile.PluginsDir)+"/")
	})
}
