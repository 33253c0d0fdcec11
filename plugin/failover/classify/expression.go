package classify

import (
	"slices"
	"strings"
	"sync"
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

// expression is one regular expression and how often it was too slow.
type expression struct {
	source string
	needs  [][]string // see literals; nil if nothing is known
	slow   atomic.Int32

	// compiled compiles at the first call. Most of the built-in expressions
	// never meet a message that has their literals, and the process starts
	// sooner without them.
	compiled func() (*regexp2.Regexp, error)
}

func newExpression(source string) *expression {
	return &expression{source: source, compiled: sync.OnceValues(func() (*regexp2.Regexp, error) {
		re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.IgnoreCase)
		if err == nil {
			re.MatchTimeout = matchTimeout
		}
		return re, err
	})}
}

// builtin makes the expressions of a built-in rule, without empty ones. That
// they compile is a test's business.
func builtin(sources ...string) []*expression {
	var all []*expression
	for _, s := range sources {
		if s != "" {
			e := newExpression(s)
			e.needs = literals(s)
			all = append(all, e)
		}
	}
	return all
}

// text is what expressions are matched on, in both forms that this takes.
type text struct {
	runes []rune
	lower string
}

func textOf(runes []rune) text { return text{runes: runes, lower: strings.ToLower(string(runes))} }

// matches reports whether one of the expressions matches.
func (c *Classifier) matches(list []*expression, t text) bool {
	_, ok := c.find(list, t)
	return ok
}

// find returns what the first expression that matches has matched. One that is
// out of use never does.
func (c *Classifier) find(list []*expression, t text) (words string, ok bool) {
	for _, e := range list {
		if words, ok := c.match(e, t); ok {
			return words, true
		}
	}
	return "", false
}

func (c *Classifier) match(e *expression, t text) (words string, ok bool) {
	if e.slow.Load() >= maxTimeouts {
		return "", false
	}
	for _, set := range e.needs {
		if !slices.ContainsFunc(set, func(s string) bool { return strings.Contains(t.lower, s) }) {
			return "", false
		}
	}
	re, err := e.compiled()
	if err != nil {
		return "", false
	}
	for range clockTries {
		start := time.Now()
		m, err := re.FindRunesMatch(t.runes)
		if err == nil {
			if m == nil {
				return "", false
			}
			return m.String(), true
		}
		if time.Since(start) >= matchTimeout {
			break
		}
	}
	if e.slow.Add(1) == 1 && c.OnFault != nil {
		c.OnFault(sdk.Fault{Path: "patterns", Value: e.source, Message: "takes too long to match; it was skipped"})
	}
	return "", false
}
