package classify

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"

	"spillway/sdk"
)

const (
	// maxTimeouts is how often an expression may exceed its time. One time may
	// be the machine's fault, a stall or a sleep; more are the expression's.
	maxTimeouts = 3
	// clockTries is how often a match is begun whose time limit fired early. The
	// engine's clock is a goroutine that jumps forward after it was starved.
	clockTries = 3
)

// expression is one compiled regular expression and how often it was too slow.
type expression struct {
	source string
	re     *regexp2.Regexp
	needs  []string // lower case; nil if nothing is known
	slow   atomic.Int32
}

func compile(source string) (*expression, error) {
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.IgnoreCase)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return &expression{source: source, re: re}, nil
}

// mustCompile is for the built-in rules, which a test compiles. An empty
// expression is left out.
func mustCompile(name string, sources ...string) []*expression {
	var all []*expression
	for _, s := range sources {
		if s == "" {
			continue
		}
		e, err := compile(s)
		if err != nil {
			panic("classify: phrase " + name + ": " + err.Error())
		}
		e.needs = literals(s)
		all = append(all, e)
	}
	return all
}

// text is what expressions are matched on, in both forms that this takes.
type text struct {
	runes []rune
	lower string
}

func textOf(runes []rune) text { return text{runes: runes, lower: strings.ToLower(string(runes))} }

// matches reports whether one of the expressions matches. One that is out of
// use never does.
func (c *Classifier) matches(list []*expression, t text) bool {
	return slices.ContainsFunc(list, func(e *expression) bool { return c.match(e, t) })
}

func (c *Classifier) match(e *expression, t text) bool {
	if e.slow.Load() >= maxTimeouts {
		return false
	}
	if e.needs != nil && !slices.ContainsFunc(e.needs, func(s string) bool { return strings.Contains(t.lower, s) }) {
		return false
	}
	for range clockTries {
		start := time.Now()
		ok, err := e.re.MatchRunes(t.runes)
		if err == nil {
			return ok
		}
		if time.Since(start) >= matchTimeout {
			break
		}
	}
	if e.slow.Add(1) == 1 && c.OnFault != nil {
		c.OnFault(sdk.Fault{Path: "patterns", Value: e.source, Message: "takes too long to match; it was skipped"})
	}
	return false
}
