// Package classify refines a failure by its wording. The host has already
// judged everything that is structured; what it could only judge by a bare
// status or a catch-all code is marked Generic, and that is where words count.
//
// A Classifier holds the built-in phrase rules (phrases_*.go, English and
// Chinese) and the user's own expressions. Rules look at the vendor's own message and
// nothing else, the first that matches decides, and their order is part of
// their meaning: what a caller did wrong comes before what a vendor lacks, a
// limit of a minute before one of a plan. The user's expressions come last and
// mean QUOTA at the route.
//
// Expressions run under a time limit. One that exceeds it is reported once and
// skipped, and after a few times no longer used; a request never fails by it.
//
// The phrases are families of wording gathered from vendors' documentation and
// recorded answers; none is a whole sentence of one vendor.
package classify

import (
	"sync"
	"time"

	"spillway/sdk"
)

const (
	// matchTimeout bounds one expression on one message. Messages have at most
	// sdk.MaxMessage bytes; a sane expression needs microseconds.
	matchTimeout = 250 * time.Millisecond
	// patternBudget bounds all of the user's expressions on one message.
	patternBudget = time.Second
	// maxPattern and maxPatterns bound the user's expressions.
	maxPattern  = 1 << 10
	maxPatterns = 100
)

// Classifier applies phrase rules. It is safe for concurrent use.
type Classifier struct {
	// OnFault, if set before the first Refine, is called once for each
	// expression that exceeds its time limit, from the goroutine of Refine.
	OnFault func(sdk.Fault)

	rules    func() []*rule // made at the first call
	patterns []*pattern
}

// rule is one built-in phrase family.
type rule struct {
	phrase
	match, unless        []*expression
	onlyFrom, unlessFrom []*expression
}

type pattern struct {
	text  string
	match *expression
}

// New compiles the user's patterns, JavaScript regular expressions matched
// without regard to case. One that does not compile is returned as a fault and
// left out.
func New(patterns []string) (*Classifier, []sdk.Fault) {
	c := &Classifier{rules: sync.OnceValue(builtinRules)}
	var faults []sdk.Fault
	c.patterns, faults = compilePatterns(patterns)
	return c, faults
}

// Prepare makes the built-in rules, some milliseconds' work that the first
// Refine which needs them does otherwise.
func (c *Classifier) Prepare() { c.rules() }

func builtinRules() []*rule {
	var all []*rule
	for _, p := range phrases() {
		all = append(all, &rule{
			phrase:     p,
			match:      builtin(p.any...),
			unless:     builtin(p.unless),
			onlyFrom:   builtin(p.onlyFrom),
			unlessFrom: builtin(p.unlessFrom),
		})
	}
	return all
}

// Refine returns f with its code, scope and rule corrected by wording. provider
// is the name of the vendor that answered.
func (c *Classifier) Refine(provider string, f sdk.Failure) sdk.Failure {
	if f.Message == "" {
		return f
	}
	if f.Generic {
		f = c.refinePhrases(provider, f)
	}
	return c.refinePatterns(f)
}

func (c *Classifier) refinePhrases(provider string, f sdk.Failure) sdk.Failure {
	text := textOf(normalize(f.Message, f.Class() == sdk.ClassCaller))
	from := textOf([]rune(provider + " " + f.VendorCode + " " + f.VendorType))
	for _, r := range c.rules() {
		if !r.admits(f) {
			continue
		}
		if words, ok := r.speaks(c, text, from); ok {
			f = r.apply(f)
			f.Matched = sdk.ClipMessage(words)
			return f
		}
	}
	return f
}

// speaks reports whether the rule's wording is met, and by which words.
func (r *rule) speaks(c *Classifier, message, from text) (words string, ok bool) {
	words, ok = c.find(r.match, message)
	return words, ok && !c.matches(r.unless, message) &&
		(len(r.onlyFrom) == 0 || c.matches(r.onlyFrom, from)) && !c.matches(r.unlessFrom, from)
}

// refinePatterns lets the user's expressions turn a transient or undecided
// failure into QUOTA. They never touch a specific caller's fault, nor what is
// deterministic already and may speak for more than the route.
func (c *Classifier) refinePatterns(f sdk.Failure) sdk.Failure {
	switch f.Class() {
	case sdk.ClassDeterministic, sdk.ClassLocal:
		return f
	case sdk.ClassCaller:
		if !f.Generic || f.Code == sdk.CodeAborted {
			return f
		}
	case sdk.ClassTransient:
	}
	text := textOf([]rune(f.Message))
	start := time.Now()
	for _, p := range c.patterns {
		if time.Since(start) > patternBudget {
			break
		}
		if words, ok := c.match(p.match, text); ok {
			f.Code, f.Scope, f.Cause = sdk.CodeQuota, sdk.ScopeRoute, ""
			f.Rule, f.Generic, f.Billing = "pattern:"+p.text, false, false
			f.Matched = sdk.ClipMessage(words)
			return f
		}
	}
	return f
}
