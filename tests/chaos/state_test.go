package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"spillway/host/profile"
	"spillway/host/story"
	"spillway/sdk"
)

// watch looks at what stands against whom until done is closed: only a vendor that
// has failed may have anything standing against it. Haven never fails.
func (r *run) watch(done <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		v, err := r.server.client.Status(ctx)
		cancel()
		if err != nil {
			continue // the store is in trouble, or the host is stopped
		}
		for _, p := range v.Plugins {
			for _, t := range p.Targets {
				r.charge(t)
			}
		}
	}
}

// blameTime is how long after its last fault a vendor may be charged: a request may
// meet a limit before its failure counts.
const blameTime = 30 * time.Second

// charge checks what stands against one target.
func (r *run) charge(t sdk.TargetStatus) {
	if t.State == sdk.CircuitClosed && t.Failures == 0 {
		return
	}
	name := t.Target
	if i := strings.IndexAny(name, "/#"); i >= 0 {
		name = name[:i]
	}
	for _, v := range r.vendors {
		failed := time.Unix(0, v.failed.Load())
		if v.name == name && time.Since(failed) > blameTime && (t.Since.IsZero() || t.Since.Sub(failed) > blameTime) {
			r.reportOnce(charged, t.Target+string(t.Code)+t.Since.String(), "%s is %s, %s (%s), %d failures since %s, and has not failed",
				t.Target, t.State, t.Code, t.Reason, t.Failures, t.Since.Format(time.StampMilli))
		}
	}
}

// leftovers looks at what a phase has left behind: a sound store that can be read,
// no data race, no file that was meant to be temporary.
func (r *run) leftovers(p phase) {
	if p.store == "sqlite" {
		if said, err := integrity(r.file()); said != "ok" || err != nil {
			r.report(corrupt, "%s: %s, %v", r.file(), said, err)
		}
	}
	var v story.StatusView
	out, err := r.command("status", "--json").Output()
	if err != nil || json.Unmarshal(out, &v) != nil || v.Store != "" || len(v.Plugins) == 0 {
		r.report(corrupt, "the state cannot be read: %v, %s", err, out)
	}
	err = fs.WalkDir(os.DirFS(r.dir), ".", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		if err == nil && (strings.HasSuffix(name, "~") || strings.Contains(name, ".tmp") || strings.HasPrefix(name, "tmp")) {
			r.report(corrupt, "left behind: %s", filepath.Join(r.dir, path))
		}
		return err
	})
	if err != nil {
		r.report(corrupt, "%s: %v", r.dir, err)
	}
	log, err := os.ReadFile(r.log())
	if err != nil {
		r.t.Error(err)
	}
	for _, sign := range []string{"DATA RACE", "\npanic: ", "\nfatal error: "} {
		if bytes.Contains(log, []byte(sign)) {
			r.report(corrupt, "%s in the log of serve: %s", strings.TrimSpace(sign), r.log())
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, profile.PatchFile)); err != nil {
		r.report(corrupt, "%v", err)
	}
}
