package drill

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/host/story"
)

// Write tells a report to people. Its last line is "drill: N passed, M failed" in
// every language.
func (r *Report) Write(w io.Writer, o story.Options) error {
	l := wordsOf(o.Language)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(l.profile, r.Profile)
	line("%s", l.vendors)
	if r.Faster > 1 {
		line(l.faster, r.Faster)
	}
	for _, a := range r.Absent {
		line(l.absent, a.Provider, plain(a.Why))
	}
	if len(r.Broken) > 0 {
		line("\n%s", l.heading)
	}
	for _, broken := range r.Broken {
		line("  %s  %s", l.failed, broken.in(l))
	}
	var before *Verdict
	for i, v := range r.Verdicts {
		if before == nil || before.Route != v.Route || before.Head != v.Head || before.Alias != v.Alias {
			r.heading(line, l, v)
		}
		before = &r.Verdicts[i]
		mark := l.ok
		switch {
		case len(v.Faults) > 0:
			mark = l.failed
		case v.Nobody && v.Saw == SawError:
			mark = l.alone
		}
		line("  %-5s  %-15s  %s", mark, v.Scenario, v.seen(l))
		for _, f := range v.Faults {
			line("         %s", f.in(l))
		}
	}
	if len(r.Notes) > 0 {
		line("")
	}
	for _, n := range r.Notes {
		line("%s: %s", l.note, n.in(l))
	}
	line("drill: %d passed, %d failed", r.Passed, r.Failed)
	_, err := io.WriteString(w, b.String())
	return err
}

// heading is above the verdicts on one route.
func (r *Report) heading(line func(string, ...any), l *lexicon, v Verdict) {
	i := slices.IndexFunc(r.Lines, func(x Line) bool { return x.Alias == v.Alias && x.to.Route == v.Head })
	routes := []string{v.Route.String()}
	if i >= 0 {
		routes = routes[:0]
		for _, route := range r.Lines[i].Routes {
			routes = append(routes, route.String())
		}
	}
	line("")
	if v.Alias != "" {
		line(l.alias, v.Alias, strings.Join(routes, " > "))
	} else {
		line("%s", strings.Join(routes, " > "))
	}
	if len(routes) > 0 && routes[0] != v.Route.String() {
		line(l.after, v.Route)
	}
}

// Progress tells how far a rehearsal is, v being the last that has ended.
func Progress(done, total int, v Verdict, l story.Language) string {
	return fmt.Sprintf(wordsOf(l).progress, done, total) + "  " + v.Route.String() + "  " + v.Scenario
}

// Write tells a report to people. Its last line is "drill: N passed, M failed" in
// every language.
func (r *LiveReport) Write(w io.Writer, o story.Options) error {
	l := wordsOf(o.Language)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(l.asked, r.Profile, r.Requests)
	for _, a := range r.Absent {
		line(l.absentIs, a.Provider, plain(a.Why))
	}
	for _, broken := range r.Broken {
		line("  %s  %s", l.failed, broken.in(l))
	}
	for i, a := range r.Asked {
		if i == 0 || r.Asked[i-1].Route != a.Route {
			line("\n%s", a.Route)
		}
		mark := l.failed
		switch {
		case a.OK:
			mark = l.ok
		case a.Unsure:
			mark = "?"
		}
		line("  %-5s  %s", mark, a.in(l))
	}
	line("drill: %d passed, %d failed", r.Passed, r.Failed)
	_, err := io.WriteString(w, b.String())
	return err
}

func (a LiveAsked) in(l *lexicon) string {
	took := time.Duration(a.Took).Round(time.Millisecond).String()
	switch {
	case a.Unsure:
		return fmt.Sprintf(l.unsure, a.Question)
	case a.OK:
		return fmt.Sprintf(l.answers, a.Question, took)
	case a.Ignored:
		return fmt.Sprintf(l.ignored, took)
	}
	return fmt.Sprintf(l.refuses, a.Question, a.Code, a.Status, plain(a.Message))
}

// Write tells a report to people. Its last line is "drill: N passed, M failed" in
// every language.
func (r *EvalReport) Write(w io.Writer, o story.Options) error {
	l := wordsOf(o.Language)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(l.measured, r.Profile, r.Tasks, r.File)
	for _, a := range r.Absent {
		line(l.absentIs, a.Provider, plain(a.Why))
	}
	for _, m := range r.Measured {
		if m.Unanswered > 0 {
			line("  %-5s  "+l.unanswered, l.failed, m.Route, m.Unanswered, m.Code, plain(m.Message))
			continue
		}
		text := fmt.Sprintf(l.success, m.Route, share(m.TaskSuccess), m.Tasks)
		if m.Schemas > 0 {
			text += fmt.Sprintf(l.valid, share(m.SchemaValid), m.Schemas)
		}
		line("  %s", text)
	}
	for _, g := range r.Gates {
		mark := l.ok
		if !g.OK {
			mark = l.failed
		}
		line("  %-5s  "+l.gate, mark, g.Contract, g.Route, share(g.TaskSuccess), share(g.SchemaValid))
	}
	line("drill: %d passed, %d failed", r.Passed, r.Failed)
	_, err := io.WriteString(w, b.String())
	return err
}

// share writes a share of 1, rounded down: what is not enough must not look so.
func share(v float64) string {
	return strconv.FormatFloat(math.Floor(v*1000)/1000, 'f', -1, 64)
}
