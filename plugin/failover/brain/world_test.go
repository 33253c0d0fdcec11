package brain

import (
	"fmt"
	"slices"
	"time"

	"spillway/sdk"
)

// A small world for tests that walk over states: two vendors with the same two
// models and two keys each. Vendors, models, and the keys of a vendor can change
// their names without a change in what the brain does: every head has the chain
// that is its own under any renaming, and requests have no conversation.

var (
	worldRoutes = []sdk.Route{{Provider: "a", Model: "1"}, {Provider: "a", Model: "2"}, {Provider: "b", Model: "1"}, {Provider: "b", Model: "2"}}
	worldCat    = sdk.Catalogue{Providers: []sdk.Provider{{Name: "a", Keys: []string{"k1", "k2"}}, {Name: "b", Keys: []string{"l1", "l2"}}}}
)

// worldPolicy has short ladders, so that states repeat.
var worldPolicy = Policy{
	Chains:   worldChains(),
	Cooldown: time.Minute, MaxCooldown: 2 * time.Minute, TransientCooldown: 10 * time.Second, MaxKeyCooldown: time.Minute, MaxHaltCooldown: 2 * time.Minute,
}.WithDefaults()

func worldChains() (list []Chain) {
	for i, r := range worldRoutes {
		list = append(list, Chain{For: r, Routes: []sdk.Route{worldRoutes[i^2], worldRoutes[i^1], worldRoutes[i^3]}})
	}
	return list
}

// world is a brain with the requests under way.
type world struct {
	b     *Brain
	now   Instant
	runs  []*run
	order uint8 // of worldOrders, in force
	path  []input
}

// worldOrders are what a person may order, one at a time; the first is none.
var worldOrders = [...]sdk.Order{
	{}, {Verb: sdk.VerbDisable, Target: "a"}, {Verb: sdk.VerbDisable, Target: "a/1"},
	{Verb: sdk.VerbDisable, Target: "a#k1"}, {Verb: sdk.VerbDisable, Target: "a#k1/1"},
}

type run struct {
	turn      Turn
	step      Step
	head      sdk.Route
	began     time.Duration
	since     Instant
	past      []sdk.Attempted
	committed bool
}

func newWorld() *world {
	now := moment(0)
	b := New(now, Policy{})
	b.policy = &worldPolicy
	return &world{b: b, now: now}
}

// input is one thing that can happen.
type input struct {
	kind    inputKind
	which   uint8 // of worldRoutes for a call, of worldOrders, of worldTargets to clear
	run     uint8 // acts on a request
	wait    time.Duration
	failure *sdk.Failure
}

type inputKind uint8

const (
	inCall inputKind = iota
	inWait
	inCommit
	inFail
	inSettle
	inLost     // the plugin's process, with the attempt
	inRefused  // by another process that tests the same target
	inMovedOn  // because the target went out
	inOrder    // of a person
	inClear    // by a person
	inSettings // that change nothing
)

func fault(code sdk.Code, set func(*sdk.Failure)) *sdk.Failure {
	f := sdk.NewFailure(code, "", "")
	f.Phase = sdk.PhaseResponse
	if set != nil {
		set(f)
	}
	return f
}

func named(code sdk.Code, scope sdk.Scope, after time.Duration) *sdk.Failure {
	return fault(code, func(f *sdk.Failure) { f.Scope, f.RetryAfter = scope, after })
}

func transport(cause sdk.Cause) *sdk.Failure {
	return fault(sdk.CodeTransport, func(f *sdk.Failure) { f.Cause, f.Phase = cause, sdk.PhaseTransport })
}

// ends are the failures of an attempt before visible content, and later ones those
// of an answer that has begun.
var ends, later = []*sdk.Failure{
	fault(sdk.CodeServer, nil),
	named(sdk.CodeServer, sdk.ScopeRoute, 2*time.Second),
	fault(sdk.CodeOverloaded, nil),
	fault(sdk.CodeTimeout, nil),
	fault(sdk.CodeTimeout, func(f *sdk.Failure) { f.Rule = sdk.RuleFirstContent }),
	named(sdk.CodeTimeout, sdk.ScopeNone, 0),
	fault(sdk.CodeEmptyResponse, nil),
	transport(sdk.CauseReset),
	transport(sdk.CauseRefused),
	transport(sdk.CauseDNS),
	fault(sdk.CodeQuota, nil),
	named(sdk.CodeQuota, sdk.ScopeRoute, 3*time.Hour),
	named(sdk.CodeQuota, sdk.ScopeKey, 0),
	named(sdk.CodeQuota, sdk.ScopeVendor, 0),
	fault(sdk.CodeQuota, func(f *sdk.Failure) { f.Scope, f.Billing = sdk.ScopeVendor, true }),
	fault(sdk.CodeAuth, nil),
	named(sdk.CodeAuth, sdk.ScopeVendor, 0),
	fault(sdk.CodeInvalidCredential, nil),
	fault(sdk.CodeModelUnavailable, nil),
	fault(sdk.CodeRateLimit, nil),
	named(sdk.CodeRateLimit, sdk.ScopeRoute, 2*time.Second),
	named(sdk.CodeRateLimit, sdk.ScopeRoute, 40*time.Minute),
	named(sdk.CodeRateLimit, sdk.ScopeVendor, 20*time.Second),
	fault(sdk.CodeInvalidRequest, nil),
	fault(sdk.CodePolicy, nil),
	fault(sdk.CodeContextWindow, nil),
	fault(sdk.CodeLocalNetwork, nil),
	fault(sdk.CodeAborted, nil),
}, []*sdk.Failure{
	nil,
	fault(sdk.CodeTransport, func(f *sdk.Failure) { f.Cause, f.Phase = sdk.CauseCut, sdk.PhaseStream }),
	fault(sdk.CodeTimeout, func(f *sdk.Failure) { f.Phase = sdk.PhaseStream }),
	named(sdk.CodeQuota, sdk.ScopeRoute, 0),
	fault(sdk.CodeAborted, nil),
}

func nameOf(f *sdk.Failure) string {
	if f == nil {
		return "clean end"
	}
	s := fmt.Sprintf("%s %s %s %v", f.Code, f.Scope, f.Cause, f.RetryAfter)
	if f.Billing {
		s += " billing"
	}
	return s + f.Rule
}

// inputs is what can happen now, in a fixed order.
func (w *world) inputs() []input {
	list := make([]input, 0, 96)
	for _, d := range [...]time.Duration{2 * time.Second, 30 * time.Second, 2 * time.Minute, 31 * time.Minute} {
		list = append(list, input{kind: inWait, wait: d})
	}
	if len(w.runs) < 2 {
		for r := range worldRoutes {
			list = append(list, input{kind: inCall, which: uint8(r)})
		}
	}
	for n, r := range w.runs {
		i := uint8(n)
		if r.committed {
			for _, f := range later {
				list = append(list, input{kind: inSettle, run: i, failure: f})
			}
			continue
		}
		for _, f := range ends {
			list = append(list, input{kind: inFail, run: i, failure: f})
		}
		list = append(list, input{kind: inCommit, run: i}, input{kind: inLost, run: i})
		if r.step.Tested != (Target{}) {
			list = append(list, input{kind: inRefused, run: i})
		}
		list = append(list, input{kind: inMovedOn, run: i})
	}
	for o := range worldOrders {
		if (o == 0) != (w.order == 0) {
			list = append(list, input{kind: inOrder, which: uint8(o)})
		}
	}
	for i, t := range worldTargets {
		if c := w.b.get(t); c != nil && c.story(w.now) {
			list = append(list, input{kind: inClear, which: uint8(i)})
		}
	}
	return append(list, input{kind: inSettings})
}

func (in input) String() string {
	switch in.kind {
	case inCall:
		return "call " + worldRoutes[in.which].String()
	case inWait:
		return in.wait.String()
	case inCommit:
		return fmt.Sprintf("%d commits", in.run)
	case inFail, inSettle:
		return fmt.Sprintf("%d: %s", in.run, nameOf(in.failure))
	case inLost:
		return fmt.Sprintf("%d is lost", in.run)
	case inRefused:
		return fmt.Sprintf("%d is refused", in.run)
	case inMovedOn:
		return fmt.Sprintf("%d moves on", in.run)
	case inOrder:
		return fmt.Sprintf("order %s %s", worldOrders[in.which].Verb, worldOrders[in.which].Target)
	case inClear:
		return "clear " + worldTargets[in.which].String()
	case inSettings:
		return "settings"
	}
	return "unknown"
}

// do lets in happen. It reports whether a step was decided, and of which run.
func (w *world) do(in input) (r *run) {
	switch in.kind {
	case inWait:
		w.now = moment(w.now.Mono + in.wait)
	case inCall:
		r = &run{head: worldRoutes[in.which], began: w.now.Mono}
		w.runs = append(w.runs, r)
		w.began(r, w.b.Start(w.now, &r.turn, r.query(), worldCat, nil))
	case inCommit:
		w.runs[in.run].committed = true
		w.b.Committed(w.now, &w.runs[in.run].turn)
	case inFail:
		r = w.runs[in.run]
		r.past = append(r.past, sdk.Attempted{Route: r.step.Route, Key: r.step.Key, Tag: r.step.Tag, Kind: r.step.Kind, Failure: in.failure})
		w.began(r, w.b.Failed(w.now, &r.turn, *in.failure, 0.5))
	case inSettle:
		s := w.runs[in.run].step
		w.runs = slices.Delete(w.runs, int(in.run), int(in.run)+1)
		w.b.Settled(w.now, sdk.Outcome{Tag: s.Tag, Route: s.Route, Key: s.Key, Stream: true, Failure: in.failure}, worldCat)
	case inLost:
		r = w.runs[in.run]
		past := append(r.past, sdk.Attempted{Route: r.step.Route, Key: r.step.Key, Tag: r.step.Tag, Kind: r.step.Kind, Failure: sdk.NewFailure(sdk.CodePlugin, "", "")})
		next := &run{head: r.head, began: r.began, past: past}
		w.runs[in.run], r = next, next
		w.began(r, w.b.Start(w.now, &r.turn, r.query(), worldCat, past))
	case inRefused:
		r = w.runs[in.run]
		w.began(r, w.b.Refused(w.now, &r.turn))
	case inMovedOn:
		if s, ok := w.b.MoveOn(w.now, &w.runs[in.run].turn); ok {
			r = w.runs[in.run]
			r.past = append(r.past, sdk.Attempted{Route: r.step.Route, Key: r.step.Key, Tag: r.step.Tag, Kind: r.step.Kind, Failure: named(sdk.CodeTimeout, sdk.ScopeNone, 0)})
			w.began(r, s)
		}
	case inOrder:
		w.order = in.which
		w.b.SetOrders(w.now, worldOrders[w.order:w.order+1])
	case inClear:
		w.b.Clear(w.now, worldTargets[in.which], w.now.Wall)
	case inSettings:
		w.b.SetPolicy(w.now, Policy{})
		w.b.policy = &worldPolicy
	}
	w.runs = slices.DeleteFunc(w.runs, func(r *run) bool { return r.step.Stopped() })
	w.b.TakeChanged()
	return r
}

func (r *run) query() Query { return Query{Head: r.head, Stream: true, Began: r.began} }

func (w *world) began(r *run, s Step) { r.step, r.since = s, w.now }
