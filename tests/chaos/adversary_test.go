package chaos

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"spillway/host/profile"
	"spillway/host/story"
	"spillway/tests/internal/rig"
)

// lanes plays the events of a phase. What it returns waits for the end of all.
func (r *run) lanes(from, to int64) *sync.WaitGroup {
	byLane := map[string][]event{}
	for _, e := range r.Events {
		if e.At >= from && e.At < to {
			byLane[e.lane()] = append(byLane[e.lane()], e)
		}
	}
	var wg sync.WaitGroup
	for _, events := range byLane {
		wg.Go(func() {
			for _, e := range events {
				if !r.reached(e.At) {
					return
				}
				r.do(e)
				r.count.events.Add(1)
			}
		})
	}
	return &wg
}

// reached waits until that many calls have begun. It returns false if time is up
// before.
func (r *run) reached(at int64) bool {
	for r.next.Load() < at {
		if r.over() {
			return false
		}
		pause(2 * time.Millisecond)
	}
	return !r.over()
}

// hold waits out the time of an event.
func (e event) hold() { pause(time.Duration(e.Millis) * time.Millisecond) }

// patience is how long something is waited for that comes soon.
const patience = 20 * time.Second

func (r *run) do(e event) {
	switch e.Kind {
	case vendorFails:
		r.vendorFails(e)
	case pluginKilled:
		r.trouble.during(e.Kind, r.kill)
	case pluginStopped:
		r.trouble.during(e.Kind, func() { r.freeze(e) })
	case binarySwapped:
		r.trouble.during(e.Kind, r.swap)
	case edited:
		r.trouble.during(e.Kind, func() {
			r.edit(func(s *settings) { s.edit(e.Choice) })
		})
	case spoilt:
		r.spoil(e)
	case rogueListens:
		r.trouble.during(e.Kind, func() {
			r.edit(func(s *settings) { s.rogue = rogueModes[e.Choice] })
			e.hold()
			r.edit(func(s *settings) { s.rogue = "" })
		})
	case storeFails:
		r.trouble.during(e.Kind, func() { r.storeFails(e) })
	case networkCut:
		r.trouble.during(e.Kind, func() { r.cutNetwork(e) })
	case suspended:
		r.trouble.during(e.Kind, func() {
			if err := r.signal(syscall.SIGSTOP); err != nil {
				r.report(corrupt, "serve has ended: %v", err)
				return
			}
			e.hold()
			if err := r.signal(syscall.SIGCONT); err != nil {
				r.report(corrupt, "serve has ended: %v", err)
			}
		})
	}
}

// vendorFails opens a window of a vendor.
func (r *run) vendorFails(e event) {
	i := slices.IndexFunc(r.vendors, func(v *vendor) bool { return v.name == e.Vendor })
	if i < 0 {
		return
	}
	v := r.vendors[i]
	if e.Fault == refuse {
		v.shut()
		r.reached(e.At + e.Calls)
		v.failed.Store(time.Now().UnixNano())
		if !until(patience, func() bool { return v.open() == nil }) {
			r.t.Errorf("%s: its port is not to be had again", v.name)
		}
		return
	}
	v.window.Store(&window{fault: e.Fault, share: e.Share})
	r.reached(e.At + e.Calls)
	v.window.Store(nil)
}

// worker is the failover plugin's process once it serves; false if none does in
// good time.
func (r *run) worker() (p story.PluginView, pid int, ok bool) {
	served := r.whole.Load()
	ok = until(patience, func() bool {
		var told bool
		p, told = r.plugin("failover")
		if !told || !p.Up {
			served = r.whole.Load()
			return false
		}
		pid, _ = strconv.Atoi(p.PID)
		// One that has not answered yet would be a crash loop's, not a crash's.
		return pid > 0 && r.whole.Load() > served+3
	})
	if !ok && !r.over() {
		r.report(hung, "no process of the failover plugin serves within %s: %+v", patience, p)
	}
	return p, pid, ok
}

// kill kills the plugin, which is back soon.
func (r *run) kill() {
	before, pid, ok := r.worker()
	if !ok || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return // it was replaced meanwhile
	}
	r.kills.Add(1)
	if !until(patience, func() bool {
		p, ok := r.plugin("failover")
		return ok && p.Up && p.PID != before.PID
	}) && !r.over() {
		p, _ := r.plugin("failover")
		r.report(hung, "a killed plugin is not back within %s: %+v", patience, p)
	}
}

// freeze stops the plugin for a while, in which the host may replace it.
func (r *run) freeze(e event) {
	_, pid, ok := r.worker()
	if !ok || syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return
	}
	e.hold()
	_ = syscall.Kill(pid, syscall.SIGCONT) // unless it is gone
}

// edit changes the settings and saves them.
func (r *run) edit(change func(*settings)) {
	r.calm.RLock()
	defer r.calm.RUnlock()
	r.edits.Lock()
	defer r.edits.Unlock()
	change(&r.current)
	if err := save(r.dir, profile.PatchFile, r.current.patch(r.pace), 0o600); err != nil {
		r.t.Error(err)
	}
}

// spoil makes a save that cannot be used, which must be told, and then a good one.
func (r *run) spoil(e event) {
	r.calm.RLock()
	err := save(r.dir, profile.PatchFile, badSaves[e.Choice%len(badSaves)], 0o600)
	r.calm.RUnlock()
	if err != nil {
		r.t.Error(err)
		return
	}
	told := until(patience, func() bool {
		v, err := r.server.client.Status(r.t.Context())
		return err == nil && (v.Refused != "" || slices.ContainsFunc(v.Entries, func(e story.EntryView) bool { return e.Error != "" }))
	})
	if !told && !r.over() {
		r.report(corrupt, "nothing is said of a save that cannot be used: %q", badSaves[e.Choice%len(badSaves)])
	}
	r.saves.Add(1)
	r.edit(func(*settings) {})
}

// swap puts another binary in the place of the plugin's, and waits for its process.
func (r *run) swap() {
	before, ok := r.plugin("failover")
	if !ok {
		if !until(patience, func() bool { before, ok = r.plugin("failover"); return ok }) {
			return
		}
	}
	r.calm.RLock()
	defer r.calm.RUnlock()
	n := int(r.swaps.Add(1))
	if err := swap(r.dir, "failover", filepath.Join(rig.Plugins(r.t), "failover"), n); err != nil {
		r.t.Error(err)
		return
	}
	if !until(patience, func() bool {
		p, ok := r.plugin("failover")
		return ok && p.Up && p.SHA256 != before.SHA256
	}) && !r.over() {
		p, _ := r.plugin("failover")
		r.report(hung, "a replaced binary is not in force within %s: %s", patience, fmt.Sprintf("%+v", p))
	}
}
