package tests

import (
	"fmt"
	"testing"
	"time"

	"spillway/host/story"
	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

// TestOutlook holds what "spillway classify" says will follow from a failure
// against the brain that decides it.
func TestOutlook(t *testing.T) {
	causes := map[sdk.Code][]sdk.Cause{
		sdk.CodeTransport: {sdk.CauseReset, sdk.CauseCut, sdk.CauseRefused, sdk.CauseTLS, sdk.CauseDNS, sdk.CauseNoRoute},
	}
	for _, code := range sdk.Codes() {
		for _, cause := range append(causes[code], "") {
			for _, scope := range []sdk.Scope{sdk.ScopeRoute, sdk.ScopeVendor, sdk.ScopeKey, sdk.ScopeNone} {
				if class := code.Class(); (class == sdk.ClassCaller || class == sdk.ClassLocal) && scope != sdk.ScopeNone {
					continue
				}
				for _, wait := range []time.Duration{0, story.MaxWait, story.MaxWait + time.Second} {
					f := sdk.Failure{Code: code, Cause: cause, Scope: scope, RetryAfter: wait, Phase: sdk.PhaseResponse}
					name := fmt.Sprintf("%s %s %s %s", code, cause, scope, wait)
					checkOutlook(t, name, f)
					if code == sdk.CodeQuota {
						f.Billing = true
						checkOutlook(t, name+" billing", f)
					}
				}
			}
		}
	}
}

func TestOutlookOfLongHint(t *testing.T) {
	r := rehearse()
	r.fail(sdk.Failure{Code: sdk.CodeQuota, Scope: sdk.ScopeVendor, RetryAfter: 24 * time.Hour})
	for _, s := range r.brain.Snapshot(r.instant()) {
		if got := s.Until.Sub(r.instant().Wall); got != story.LongHint {
			t.Errorf("%s may be tested after %s, want %s", s.Target, got, story.LongHint)
		}
	}
}

var (
	outlookHead  = sdk.Route{Provider: "acme", Model: "large"}
	outlookOther = sdk.Route{Provider: "other", Model: "wide"}
	outlookLocal = sdk.Route{Provider: "local", Model: "small"}
)

// rehearsal is one brain with a request for the head, which has two keys. Of the
// other two, one has a larger window and one is on this machine.
type rehearsal struct {
	brain *brain.Brain
	turn  brain.Turn
	step  brain.Step
	now   time.Duration
}

func (r *rehearsal) instant() brain.Instant {
	return brain.Instant{Mono: r.now, Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(r.now)}
}

func (r *rehearsal) start() {
	catalogue := sdk.Catalogue{Providers: []sdk.Provider{
		{Name: "acme", Keys: []string{"k_1", "k_2"}, Models: []sdk.Model{{ID: "large", Context: 1000}}},
		{Name: "other", Models: []sdk.Model{{ID: "wide", Context: 2000}}},
		{Name: "local", Loopback: true, Models: []sdk.Model{{ID: "small", Context: 100}}},
	}}
	r.turn = brain.Turn{}
	r.step = r.brain.Start(r.instant(), &r.turn, brain.Query{Head: outlookHead, Stream: true, Began: r.now}, catalogue, nil)
}

func rehearse() *rehearsal {
	r := &rehearsal{now: time.Hour}
	r.brain = brain.New(r.instant(), brain.Policy{Priority: []sdk.Route{outlookOther, outlookLocal}})
	r.start()
	return r
}

func (r *rehearsal) fail(f sdk.Failure) { r.step = r.brain.Failed(r.instant(), &r.turn, f, 0) }

// checkOutlook plays f until the request has left the key, and then its vendor.
func checkOutlook(t *testing.T, name string, f sdk.Failure) {
	t.Helper()
	want := story.OutlookOf(f)
	got := story.Outlook{}
	r := rehearse()
	r.fail(f)
	switch r.step.Action {
	case sdk.ActionRetry:
		got.Again = story.AgainOnce
	case sdk.ActionWait:
		got.Again = story.AgainWaited
	case sdk.ActionFailover, sdk.ActionFallback, sdk.ActionStop:
	}
	if got.Again != story.AgainNever {
		r.now += r.step.Delay
		r.fail(f)
	}
	if r.step.Action == sdk.ActionFailover && r.step.Route == outlookHead {
		got.NextKey = true
		r.fail(f)
		for r.step.Route == outlookHead && !r.step.Stopped() { // the second key has its own second try
			r.now += r.step.Delay
			r.fail(f)
		}
	}
	switch {
	case r.step.Stopped():
	case r.step.Route == outlookLocal:
		got.Elsewhere = story.ElsewhereLoopback
	case f.Code == sdk.CodeContextWindow:
		got.Elsewhere = story.ElsewhereLarger
	default:
		got.Elsewhere = story.ElsewhereAll
	}
	got.Charged, got.Threshold, got.Proof, got.First, got.Longest = charged(f)
	if want != got {
		t.Errorf("%s:\n story %+v\n brain %+v", name, want, got)
	}
}

// charged finds out whom f stands against, and for how long.
func charged(f sdk.Failure) (who story.Charged, threshold int, proof bool, first, longest time.Duration) {
	f.RetryAfter = 0
	r := rehearse()
	out := func() (sdk.TargetStatus, bool) {
		for _, s := range r.brain.Snapshot(r.instant()) {
			if s.State == sdk.CircuitOpen {
				return s, true
			}
		}
		return sdk.TargetStatus{}, false
	}
	times := 0
	for ; times < 2; times++ {
		r.fail(f)
		if _, ok := out(); ok {
			break
		}
		r.start()
	}
	if times == 2 { // another vendor's answer may be what is missing
		r = rehearse()
		r.fail(f)
		if r.step.Stopped() || r.step.Route.Provider != "other" {
			return
		}
		r.brain.Committed(r.instant(), &r.turn)
		if _, ok := out(); !ok {
			return
		}
		proof = true
	}
	if times == 1 {
		threshold = 2
	}
	s, _ := out()
	switch {
	case s.Scope == sdk.ScopeRoute:
		who = story.ChargedRoute
	case s.Scope == sdk.ScopeVendor:
		who = story.ChargedVendor
	case s.Target == "acme#k_1/large" || s.Target == "acme#k_2/large":
		who = story.ChargedKeyModel
	case s.Scope == sdk.ScopeKey:
		who = story.ChargedKey
	}
	first = s.Until.Sub(r.instant().Wall)
	// Two keys fail in turn, and with both the vendor is out too.
	for range 24 {
		wait := time.Duration(0)
		for _, o := range r.brain.Snapshot(r.instant()) {
			wait = max(wait, o.Until.Sub(r.instant().Wall))
		}
		r.now += wait
		r.start()
		r.fail(f)
		if proof {
			r.brain.Committed(r.instant(), &r.turn)
		}
		for _, o := range r.brain.Snapshot(r.instant()) {
			if o.Scope == s.Scope {
				longest = max(longest, o.Until.Sub(r.instant().Wall))
			}
		}
	}
	if longest == first {
		longest = 0
	}
	return who, threshold, proof, first, longest
}
