package classify

import (
	"time"

	"spillway/sdk"
)

// phrase is one family of wording and what it means.
type phrase struct {
	name  string
	code  sdk.Code
	scope sdk.Scope // "" leaves the scope if the code stays, else the code's own
	money bool      // of a QUOTA: it ends when somebody pays

	// any lists the expressions; one match is enough.
	any []string
	// unless excludes what looks alike.
	unless string
	// unlessFrom excludes vendors that mean something else by the words. It is
	// matched on the vendor's name, code and type.
	unlessFrom string
	// onlyFrom limits the rule to vendors that mean this by the words.
	onlyFrom string
	// weak rules only speak where the host knew nothing but "it failed".
	weak bool
	// narrow rules speak over a catch-all quota code too: the window or the
	// owner that they find is what such a code leaves open.
	narrow bool
	// wait is the shortest hint with which the rule holds: a limit that ends in
	// seconds is no plan.
	wait time.Duration
}

// admits reports whether the phrase may decide over f at all. HTTP 402 is
// narrow already: wording only says whose key it is.
func (p phrase) admits(f sdk.Failure) bool {
	ofKey := p.code == sdk.CodeQuota && p.scope == sdk.ScopeKey
	switch {
	case f.Code == sdk.CodeQuota && !ofKey && (f.Billing || !p.narrow):
		return false
	case p.weak && f.Code != sdk.CodeServer:
		return false
	}
	return f.RetryAfter >= p.wait
}

func (p phrase) apply(f sdk.Failure) sdk.Failure {
	switch {
	case p.scope != "":
		f.Scope = p.scope
	case f.Code != p.code:
		f.Scope = p.code.Scope()
	}
	if f.Code != p.code {
		f.Code, f.Cause = p.code, ""
	}
	f.Billing = p.money
	f.Rule, f.Generic = "phrase:"+p.name, false
	return f
}

// phrases lists the built-in rules in the order in which they are tried.
func phrases() []phrase {
	var all []phrase
	all = append(all, callerPhrases()...)
	all = append(all, windowPhrases()...)
	all = append(all, moneyPhrases()...)
	all = append(all, planPhrases()...)
	all = append(all, accountPhrases()...)
	all = append(all, modelPhrases()...)
	all = append(all, policyPhrases()...)
	return append(all, busyPhrases()...)
}
