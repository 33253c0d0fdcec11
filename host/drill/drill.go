package drill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/host"
	"spillway/host/profile"
	"spillway/sdk"
)

// Options say what is rehearsed.
type Options struct {
	Host host.Options // the profile, as it is run
	Only []string     // names of scenarios; none: all
	// Routes that fail, provider/model or all of a provider's; none: all.
	Routes []string
	// Faster divides the limits on silence and the waits; 0 is DefaultFaster.
	Faster int
	// Progress hears of each play as it ends, one at a time; may be nil.
	Progress func(done, total int, v Verdict)
}

// DefaultFaster makes seconds of what the product has as the time for a first
// content.
const DefaultFaster = 5

const (
	// atOnce is how many plays run at a time: most of them wait.
	atOnce = 8
	// longest is what a play may take, beyond the time in which any limit of the
	// default budgets ends it. A call that is still open then hangs.
	longest = 60 * time.Second
)

// Report is what a rehearsal found.
type Report struct {
	Profile string `json:"profile"` // its folder
	Faster  int    `json:"faster"`  // by how much limits on silence and waits were cut
	// Absent are the providers that would not run in earnest for want of a key; they
	// are rehearsed all the same.
	Absent   []Absent  `json:"absent"`
	Lines    []Line    `json:"lines"`
	Broken   []Broken  `json:"broken"`
	Notes    []Note    `json:"notes"`
	Verdicts []Verdict `json:"verdicts"`
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"` // verdicts, and what is broken
}

// Absent is a provider without a key.
type Absent struct {
	Provider string `json:"provider"`
	Why      string `json:"why"`
}

// Line is who is asked for a request, in this order.
type Line struct {
	Alias   string      `json:"alias,omitempty"` // the client's name for it, if it is an alias
	Routes  []sdk.Route `json:"routes"`
	Skipped []sdk.Skip  `json:"skipped,omitempty"` // who stands in the list and may not serve

	to      host.Alias
	decided bool   // a plugin said what follows from a failure
	refusal string // why nobody was asked, if the request itself was refused
}

// play is one route that fails in one way.
type play struct {
	line     Line
	at       int // of the failing route; those before it are closed
	scenario scenario
}

func (p play) route() sdk.Route { return p.line.Routes[p.at] }

// UsageError is an error in what was asked for.
type UsageError struct{ error }

// Run rehearses a profile. An error is for a profile that cannot be read, for
// names that it does not have, and for a context that has ended; what is wrong
// with the profile is in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	chosen, err := choose(o.Only)
	if err != nil {
		return nil, err
	}
	o.Faster = cmp.Or(o.Faster, DefaultFaster)
	s, err := survey(ctx, o)
	if err != nil {
		return nil, err
	}
	r := s.report
	plays, err := s.plays(chosen, o.Routes)
	if err != nil {
		return nil, err
	}
	r.Verdicts = make([]Verdict, len(plays))
	var mu sync.Mutex // guards done, and lets one Progress run at a time
	done := 0
	order := longestFirst(plays)
	each(ctx, atOnce, len(plays), func(n int) {
		i := order[n]
		v := s.run(ctx, plays[i])
		mu.Lock()
		defer mu.Unlock()
		r.Verdicts[i] = v
		done++
		if o.Progress != nil {
			o.Progress(done, len(plays), v)
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, v := range r.Verdicts {
		if len(v.Faults) == 0 {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	r.Failed += len(r.Broken)
	return r, nil
}

// longestFirst is the order in which plays are begun: those that wait for a limit
// first, so that nobody waits for them at the end.
func longestFirst(plays []play) []int {
	order := make([]int, len(plays))
	for i := range order {
		order[i] = i
	}
	waits := []string{"silent-midway", "silent", "headers-only", "rate-limit"}
	rank := func(i int) int {
		if n := slices.Index(waits, plays[i].scenario.name); n >= 0 {
			return n
		}
		return len(waits)
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}

// choose finds scenarios by their names.
func choose(names []string) ([]scenario, error) {
	all := scenarios()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, s := range all {
		known = append(known, s.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, UsageError{fmt.Errorf("no scenario %q (allowed: %s)%s", name, strings.Join(known, ", "), near(name, known))}
		}
	}
	return slices.DeleteFunc(all, func(s scenario) bool { return !slices.Contains(names, s.name) }), nil
}

func near(name string, known []string) string {
	if like := profile.Nearest(name, known); like != nil {
		return "; nearest known: " + strings.Join(like, ", ")
	}
	return ""
}

// plays are what is to be run: each head of a line, and each other route in the
// first line that has it, fails in each way.
func (s *surveyed) plays(chosen []scenario, only []string) ([]play, error) {
	var plays []play
	var known []string
	seen := map[sdk.Route]bool{}
	for _, l := range s.report.Lines {
		if l.idle() {
			continue // what would be seen is plain
		}
		for i, r := range l.Routes {
			if i > 0 && seen[r] || s.dead[r] {
				continue
			}
			seen[r] = true
			known = append(known, r.String())
			if !wanted(only, r) {
				continue
			}
			for _, sc := range chosen {
				plays = append(plays, play{line: l, at: i, scenario: sc})
			}
		}
	}
	return plays, knownRoutes(only, known)
}

// wanted reports whether a route is among those that were asked for.
func wanted(only []string, r sdk.Route) bool {
	return len(only) == 0 || slices.Contains(only, r.String()) || slices.Contains(only, r.Provider)
}

// knownRoutes refuses names that are no route and no provider of one.
func knownRoutes(only, known []string) error {
	for _, name := range only {
		if !slices.ContainsFunc(known, func(r string) bool { return r == name || strings.HasPrefix(r, name+"/") }) {
			return UsageError{fmt.Errorf("no route %q can serve in this profile (there are: %s)%s", name, strings.Join(known, ", "), near(name, known))}
		}
	}
	return nil
}
