package drill

import (
	"context"
	"os"
	"slices"
	"strings"

	"spillway/host"
	"spillway/host/profile"
	"spillway/sdk"
)

// surveyed is a profile of which is known who stands in for whom.
type surveyed struct {
	options  Options
	report   *Report
	most     int             // attempts of one request that may reach one vendor
	failover []profile.Entry // the rows of the plugin that has the lists
	listed   []listed
	models   map[string][]string // that providers list
	dead     map[sdk.Route]bool  // routes that are listed and cannot serve
	unmoved  []string            // lines whose failing calls no plugin moves
}

// survey looks at a profile before anything is rehearsed.
func survey(ctx context.Context, o Options) (*surveyed, error) {
	if o.Host.Env == nil {
		o.Host.Env = os.LookupEnv
	}
	checked, err := host.Check(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	s := &surveyed{options: o, models: map[string][]string{}, dead: map[sdk.Route]bool{}, report: &Report{
		Profile: o.Host.Dir, Faster: o.Faster,
		Absent: []Absent{}, Lines: []Line{}, Broken: []Broken{}, Notes: []Note{}, Verdicts: []Verdict{},
	}}
	s.take(checked)
	loaded, err := profile.Load(o.Host.Dir, profile.Options{Home: o.Host.Home, Overlays: o.Host.Overlays})
	if err != nil {
		return s, nil // as the check has told
	}
	entries, _ := loaded.Entries(o.Host.Env)
	s.failover = failoverEntries(entries)
	s.listed, s.most = readLists(entries)
	s.options.Host.Known = host.Measurements(ctx, o.Host)
	// Everybody has lost the model: so everybody who can be chosen is asked.
	st, err := open(ctx, s.options.Host, o.Faster, func(string) string { return "model-gone" })
	if err != nil {
		if len(s.report.Broken) == 0 {
			s.broken(Broken{Kind: BrokenFault, Detail: err.Error()})
		}
		return s, nil
	}
	defer st.close()
	for _, e := range st.Graph().Entries() {
		if e.Error != "" && !slices.ContainsFunc(s.report.Broken, func(b Broken) bool { return b.Entry == e.ID }) {
			s.broken(Broken{Kind: BrokenFault, Entry: e.ID, Detail: e.Error})
		}
	}
	for _, p := range st.Graph().Catalogue().Providers {
		s.models[p.Name] = []string{}
		for _, m := range p.Models {
			s.models[p.Name] = append(s.models[p.Name], m.ID)
		}
	}
	if err := s.lines(ctx, st); err != nil {
		return nil, err
	}
	s.unserved()
	for _, l := range s.report.Lines {
		s.note(l)
	}
	if s.unmoved != nil { // one fault, whatever it leaves alone
		s.broken(Broken{Kind: BrokenNoFailover, About: strings.Join(s.unmoved, ", ")})
	}
	return s, nil
}

func (s *surveyed) broken(b Broken) {
	b.Why = b.why(&english)
	s.report.Broken = append(s.report.Broken, b)
}

// take takes over what the check has found: errors, and routes to nobody.
func (s *surveyed) take(checked *host.Report) {
	for _, f := range checked.Findings {
		at := profile.Pos{File: f.File, Line: f.Line, Column: f.Column}.String()
		missing, absent := strings.CutPrefix(f.Message, "entry does not run: ")
		switch {
		case f.Severity == host.SeverityInfo && absent:
			s.report.Absent = append(s.report.Absent, Absent{Provider: f.Entry, Why: missing})
		case f.Severity == host.SeverityError, f.Message == host.UnknownProvider:
			text := f.Fault.String()
			if len(f.Near) > 0 {
				text += "; nearest known: " + strings.Join(f.Near, ", ")
			}
			s.broken(Broken{Kind: BrokenFault, Where: at, Entry: f.Entry, Detail: text})
		}
	}
}

// head is a request whose line is to be found.
type head struct {
	alias string
	to    host.Alias
}

// heads are the requests that have lists of their own.
func (s *surveyed) heads(st *stage) (heads []head) {
	add := func(alias string, to host.Alias, err error) {
		same := func(h head) bool { return h.to == to }
		_, runs := s.models[to.Route.Provider] // that it does not was told
		if err == nil && runs && !slices.ContainsFunc(heads, same) {
			heads = append(heads, head{alias, to})
		}
	}
	first, err := st.Resolve("auto", nil)
	add("", first, err)
	for _, l := range s.listed {
		if l.head {
			add("", host.Alias{Route: s.resolve(l.route)}, nil)
		}
	}
	if model := st.Graph().Agent().Model; model != "" {
		to, err := st.Resolve(model, nil)
		add("", to, err)
	}
	for _, name := range st.Graph().Aliases() {
		to, err := st.Resolve(name, nil)
		add(name, to, err)
	}
	return heads
}

// resolve gives a route without a model its provider's first one.
func (s *surveyed) resolve(r sdk.Route) sdk.Route {
	if models := s.models[r.Provider]; r.Model == "" && len(models) > 0 {
		r.Model = models[0]
	}
	return r
}

// lines finds who is asked for each kind of request.
func (s *surveyed) lines(ctx context.Context, st *stage) error {
	for _, h := range s.heads(st) {
		if err := s.line(ctx, st, h); err != nil {
			return err
		}
	}
	// Of the priority, what no line has led to yet.
	for _, l := range s.listed {
		r := s.resolve(l.route)
		if _, runs := s.models[r.Provider]; runs && r.Model != "" && !s.reached(r) && !s.skipped(r) {
			if err := s.line(ctx, st, head{to: host.Alias{Route: r}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxAsks bounds how often a line is followed on: one request tries some routes
// only, and the next one goes on behind those.
const maxAsks = 16

// line finds who is asked for one kind of request.
func (s *surveyed) line(ctx context.Context, st *stage, h head) error {
	l := Line{Alias: h.alias, to: h.to}
	for range maxAsks {
		heard := st.ask(ctx, h.to)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f := heard.failure; f != nil && f.Code == sdk.CodeInvalidRequest && len(heard.record.Attempts) == 0 {
			l.refusal = f.Message
		}
		before := len(l.Routes)
		skips := slices.Clone(heard.record.Skipped)
		for _, a := range heard.record.Attempts {
			l.decided = l.decided || a.Action != ""
			if !slices.Contains(l.Routes, a.Route) {
				l.Routes = append(l.Routes, a.Route)
			}
			skips = append(skips, slices.Concat(a.Skipped, a.Passed)...)
		}
		for _, skip := range skips {
			known := func(k sdk.Skip) bool { return k.Route == skip.Route }
			if !slices.Contains(l.Routes, skip.Route) && !slices.ContainsFunc(l.Skipped, known) {
				l.Skipped = append(l.Skipped, skip)
			}
		}
		if len(l.Routes) == before {
			break
		}
	}
	l.Skipped = slices.DeleteFunc(l.Skipped, func(k sdk.Skip) bool { return slices.Contains(l.Routes, k.Route) })
	for p := range s.models { // nothing is left of it for the next line
		_ = st.Operate(ctx, sdk.Order{Verb: sdk.VerbClear, Target: p}) // without failover there is nothing
	}
	s.report.Lines = append(s.report.Lines, l)
	return nil
}

func (s *surveyed) reached(r sdk.Route) bool {
	return slices.ContainsFunc(s.report.Lines, func(l Line) bool { return slices.Contains(l.Routes, r) })
}

func (s *surveyed) skipped(r sdk.Route) bool {
	_, ok := s.reason(r)
	return ok
}

// reason is why a route was passed over in the first line that did so.
func (s *surveyed) reason(r sdk.Route) (sdk.Skip, bool) {
	for _, l := range s.report.Lines {
		for _, k := range l.Skipped {
			if k.Route == r {
				return k, true
			}
		}
	}
	return sdk.Skip{}, false
}
