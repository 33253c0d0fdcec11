package story

import (
	"time"

	"spillway/sdk"
)

// Outlook is what the failover plugin makes of a failure with its default
// settings and nothing else against anybody.
type Outlook struct {
	Again     Again
	NextKey   bool // another key of the same vendor, if it has one
	Elsewhere Elsewhere

	Charged   Charged
	Threshold int           // how many in a row it takes; 0: one
	Proof     bool          // only once another vendor has answered: it may be this machine's network
	First     time.Duration // the first pause
	Longest   time.Duration // it doubles up to this; 0: it does not grow
}

// Again is whether the same target is asked once more.
type Again uint8

const (
	AgainNever  Again = iota
	AgainOnce         // after a moment; not if the vendor states a longer wait than MaxWait
	AgainWaited       // once, after a wait that the vendor states, of MaxWait at most
)

// MaxWait is the longest stated wait that is preferred to a switch.
const MaxWait = 5 * time.Second

// Elsewhere is who else is asked.
type Elsewhere uint8

const (
	ElsewhereNobody   Elsewhere = iota
	ElsewhereAll                // the candidates, in their order
	ElsewhereLarger             // those with a larger context window
	ElsewhereLoopback           // those on this machine
)

// Charged is whom a failure stands against.
type Charged uint8

const (
	ChargedNobody Charged = iota
	ChargedRoute
	ChargedVendor
	ChargedKey
	ChargedKeyModel // the key's use of the model
)

// LongHint is where a stated return stops being obeyed to its end: under a later
// one a request may test the target this long after the last attempt.
const LongHint = 30 * time.Minute

// outlooks is the one table of what follows from a failure. The first row that
// fits counts; an empty scope fits any.
var outlooks = []struct {
	code        sdk.Code
	scope       sdk.Scope
	billing     bool // only what ends when somebody pays
	unreachable bool // only a vendor that cannot be reached
	Outlook
}{
	{code: sdk.CodeQuota, scope: sdk.ScopeKey, Outlook: Outlook{NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedKey, First: 30 * time.Second, Longest: 15 * time.Minute}},
	{code: sdk.CodeQuota, billing: true, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedVendor, First: time.Minute, Longest: 5 * time.Minute}},
	{code: sdk.CodeQuota, scope: sdk.ScopeVendor, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedVendor, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeQuota, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeAuth, scope: sdk.ScopeVendor, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedVendor, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeAuth, scope: sdk.ScopeRoute, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeAuth, Outlook: Outlook{NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedKey, First: 30 * time.Second, Longest: 15 * time.Minute}},
	{code: sdk.CodeInvalidCredential, scope: sdk.ScopeVendor, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedVendor, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeInvalidCredential, scope: sdk.ScopeRoute, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeInvalidCredential, Outlook: Outlook{NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedKey, First: 30 * time.Second, Longest: 15 * time.Minute}},
	{code: sdk.CodeModelUnavailable, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, First: 5 * time.Minute, Longest: time.Hour}},
	{code: sdk.CodeRateLimit, scope: sdk.ScopeRoute, Outlook: Outlook{Again: AgainWaited, NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedKeyModel, First: 30 * time.Second}},
	{code: sdk.CodeRateLimit, Outlook: Outlook{Again: AgainWaited, NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedKey, First: 30 * time.Second}},
	{code: sdk.CodeOverloaded, Outlook: Outlook{Again: AgainOnce, Elsewhere: ElsewhereAll, Charged: ChargedRoute, Threshold: 2, First: 5 * time.Second, Longest: 15 * time.Second}},
	{code: sdk.CodeServer, Outlook: Outlook{Again: AgainOnce, NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedRoute, Threshold: 2, First: 5 * time.Second, Longest: 15 * time.Second}},
	{code: sdk.CodeTimeout, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, Threshold: 2, First: time.Minute, Longest: 5 * time.Minute}},
	{code: sdk.CodeTransport, unreachable: true, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedVendor, First: time.Minute, Longest: 5 * time.Minute}},
	{code: sdk.CodeTransport, Outlook: Outlook{Again: AgainOnce, NextKey: true, Elsewhere: ElsewhereAll, Charged: ChargedRoute, Threshold: 2, First: 5 * time.Second, Longest: 15 * time.Second}},
	{code: sdk.CodeEmptyResponse, Outlook: Outlook{Elsewhere: ElsewhereAll, Charged: ChargedRoute, Threshold: 2, First: 5 * time.Second, Longest: 15 * time.Second}},
	{code: sdk.CodeContextWindow, Outlook: Outlook{Elsewhere: ElsewhereLarger}},
	{code: sdk.CodeLocalNetwork, Outlook: Outlook{Elsewhere: ElsewhereLoopback}},
}

// OutlookOf is the outlook of a failure. One that no row fits ends the request.
func OutlookOf(f sdk.Failure) Outlook {
	scope := f.Scope
	if scope == "" {
		scope = f.Code.Scope()
	}
	for _, row := range outlooks {
		if row.code != f.Code || row.scope != "" && row.scope != scope || row.billing && !f.Billing ||
			row.unreachable && !f.Cause.Unreachable() {
			continue
		}
		o := row.Outlook
		o.Proof = row.unreachable && (f.Cause == sdk.CauseDNS || f.Cause == sdk.CauseNoRoute)
		if scope == sdk.ScopeNone && o.Charged != ChargedNobody {
			o.Charged, o.Threshold, o.Proof, o.First, o.Longest = ChargedNobody, 0, false, 0, 0
			o.NextKey = o.NextKey && f.Class() == sdk.ClassTransient
		}
		if f.RetryAfter > MaxWait || o.Again == AgainWaited && f.RetryAfter == 0 {
			o.Again = AgainNever
		}
		if f.RetryAfter > 0 && o.Charged == ChargedRoute { // the model is out with every key
			o.NextKey = false
		}
		return o
	}
	return Outlook{}
}
