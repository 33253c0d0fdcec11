package drill

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"spillway/host"
	"spillway/host/profile"
	"spillway/sdk"
)

// EvalOptions say what is measured.
type EvalOptions struct {
	Host     host.Options
	Routes   []string // as LiveOptions
	File     string   // of tasks, see ReadTasks
	Patience time.Duration
	Announce func(requests int)                 // hears how many requests will be made, before the first
	Progress func(done, total int, r sdk.Route) // hears of each as it ends, one at a time; may be nil
}

// EvalReport is what was measured.
type EvalReport struct {
	Profile  string     `json:"profile"`
	File     string     `json:"file"`
	SHA256   string     `json:"sha256"` // of its content
	Tasks    int        `json:"tasks"`
	Absent   []Absent   `json:"absent"`
	Measured []Measured `json:"measured"`
	// Gates are what contracts demand of the routes measured; none if no contract
	// names the file.
	Gates  []GateVerdict `json:"gates"`
	Passed int           `json:"passed"`
	Failed int           `json:"failed"`
}

// Measured is one route's result. It is kept unless some tasks could not be given.
type Measured struct {
	sdk.Measurement
	Unanswered int      `json:"unanswered"` // tasks that met a failure of the vendor's: nothing is kept then
	Code       sdk.Code `json:"code,omitempty"`
	Message    string   `json:"message,omitempty"` // of the first such failure
}

// GateVerdict is whether a route may stand in under a contract.
type GateVerdict struct {
	Contract    string    `json:"contract"`
	Route       sdk.Route `json:"route"`
	OK          bool      `json:"ok"`
	TaskSuccess float64   `json:"task_success"` // demanded
	SchemaValid float64   `json:"schema_valid"` // demanded
}

// Eval gives each route that the profile leads to the tasks of a file, directly and
// without failover, and keeps how well it did where the plugins find it. Prompts and
// answers are not kept.
func Eval(ctx context.Context, o EvalOptions) (*EvalReport, error) {
	tasks, err := ReadTasks(o.File)
	if err != nil {
		return nil, err
	}
	s, err := survey(ctx, Options{Host: o.Host, Faster: DefaultFaster})
	if err != nil {
		return nil, err
	}
	routes, err := s.routes(o.Routes)
	if err != nil {
		return nil, err
	}
	rt, err := openVendors(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	routes = slices.DeleteFunc(routes, func(r sdk.Route) bool {
		p, runs := rt.Graph().Catalogue().Provider(r.Provider)
		return !runs || p.Passthrough
	})
	total := len(routes) * len(tasks.tasks)
	if o.Announce != nil {
		o.Announce(total)
	}
	r := &EvalReport{
		Profile: o.Host.Dir, File: o.File, SHA256: tasks.SHA256, Tasks: len(tasks.tasks), Absent: s.report.Absent,
		Measured: make([]Measured, len(routes)), Gates: []GateVerdict{},
	}
	patience := o.Patience
	if patience == 0 {
		patience = evalPatience
	}
	var mu sync.Mutex // guards done, and lets one Progress run at a time
	done := 0
	each(ctx, liveAtOnce, len(routes), func(i int) {
		r.Measured[i] = measure(ctx, rt, routes[i], tasks, patience, func() {
			mu.Lock()
			defer mu.Unlock()
			done++
			if o.Progress != nil {
				o.Progress(done, total, routes[i])
			}
		})
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r, s.keep(ctx, o, r)
}

// evalPatience bounds one task.
const evalPatience = 5 * time.Minute

// measure gives a route every task.
func measure(ctx context.Context, rt *host.Runtime, r sdk.Route, tasks *Tasks, patience time.Duration, progress func()) Measured {
	m := Measured{Measurement: sdk.Measurement{SHA256: tasks.SHA256, Route: r, At: time.Now().UTC().Truncate(time.Second), Tasks: len(tasks.tasks)}}
	succeeded, valid := 0, 0
	for _, t := range tasks.tasks {
		if ctx.Err() != nil {
			break
		}
		got := put(ctx, rt, r, t.prompt, t.shape, patience)
		progress()
		if f := got.failure; f != nil && f.Class() != sdk.ClassCaller {
			if m.Unanswered++; m.Unanswered == 1 {
				m.Code, m.Message = f.Code, sdk.ClipMessage(f.Message)
			}
		}
		ok := got.failure == nil
		wanted, followed := false, ok
		for _, c := range t.checks {
			holds := got.failure == nil && c.holds(got)
			ok = ok && holds
			if c.schema != nil {
				wanted, followed = true, followed && holds
			}
		}
		if ok {
			succeeded++
		}
		if wanted {
			m.Schemas++
			if followed {
				valid++
			}
		}
	}
	m.TaskSuccess = float64(succeeded) / float64(m.Tasks)
	if m.Schemas > 0 {
		m.SchemaValid = float64(valid) / float64(m.Schemas)
	}
	return m
}

// gated are the failover settings that a measurement is for.
type gated struct {
	Contracts map[string]struct {
		Gates *struct {
			Eval        string  `json:"eval"`
			TaskSuccess float64 `json:"taskSuccess"`
			SchemaValid float64 `json:"schemaValid"`
		} `json:"gates"`
	} `json:"contracts"`
}

// keep stores what was measured under each name that a contract has for the file,
// else under the file's own, and judges it by the contracts' gates.
func (s *surveyed) keep(ctx context.Context, o EvalOptions, r *EvalReport) error {
	for _, m := range r.Measured {
		if m.Unanswered > 0 {
			r.Failed++
		}
	}
	for _, e := range s.failover {
		var g gated
		raw, err := json.Marshal(e.Config)
		if err != nil || json.Unmarshal(raw, &g) != nil {
			continue // as the check tells
		}
		names := map[string]bool{}
		for _, contract := range slices.Sorted(maps.Keys(g.Contracts)) {
			gates := g.Contracts[contract].Gates
			if gates == nil || !sameFile(o.Host.Dir, gates.Eval, o.File) {
				continue
			}
			names[gates.Eval] = true
			for _, m := range r.Measured {
				if m.Unanswered > 0 {
					continue
				}
				v := GateVerdict{Contract: contract, Route: m.Route, TaskSuccess: gates.TaskSuccess, SchemaValid: gates.SchemaValid}
				v.OK = m.TaskSuccess >= gates.TaskSuccess && m.SchemaValid >= gates.SchemaValid
				r.Gates = append(r.Gates, v)
			}
		}
		if len(names) == 0 {
			names[filepath.Base(o.File)] = true
		}
		var all []sdk.Measurement
		for _, name := range slices.Sorted(maps.Keys(names)) {
			for i := range r.Measured {
				m := &r.Measured[i]
				m.Eval = name
				if m.Unanswered == 0 {
					all = append(all, m.Measurement)
				}
			}
		}
		if err := host.Measure(ctx, o.Host, e.ID, all); err != nil {
			return err
		}
	}
	for _, m := range r.Measured {
		judged := false
		for _, v := range r.Gates {
			judged = judged || v.Route == m.Route
		}
		if !judged && m.Unanswered == 0 {
			r.Passed++
		}
	}
	for _, v := range r.Gates {
		if v.OK {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	return nil
}

// sameFile reports whether a setting names a file, from the profile's folder on.
func sameFile(dir, setting, file string) bool {
	if !filepath.IsAbs(setting) {
		setting = filepath.Join(dir, setting)
	}
	a, err := os.Stat(setting)
	if err != nil {
		return false
	}
	b, err := os.Stat(file)
	return err == nil && os.SameFile(a, b)
}

// failoverEntries are the rows whose settings have lists and contracts.
func failoverEntries(entries []profile.Entry) []profile.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e profile.Entry) bool {
		return e.Name != failoverModule || e.Err != nil || e.Config == nil
	})
}
