package brain

import (
	"time"

	"spillway/sdk"
)

// Step is what to do next: an attempt, or to stop.
type Step struct {
	Action sdk.Action // ActionStop; of an attempt what it is for the record, "" for the first on the head
	Reason string     // one word or short phrase

	// An attempt.
	Route  sdk.Route
	Key    string // fingerprint, "" where the provider has none
	Kind   sdk.AttemptKind
	Delay  time.Duration // wait this long before sending
	Limits sdk.Limits
	Tag    string // must come back with the attempt's end
	Tested Target // what a probe tests, the widest of it; zero for no probe

	// A stop.
	Failure *sdk.Failure // the first cause; made by the brain if nothing was sent
	RetryAt time.Time    // the earliest moment something may serve; zero: a repetition cannot help

	Left    time.Duration // of the request's time, 0 if it has no bound
	Skipped []sdk.Skip    // candidates passed over on the way
	Changes []sdk.Change  // circuits that moved
}

// Stopped reports whether the request has ended without an answer.
func (s Step) Stopped() bool { return s.Action == sdk.ActionStop }

// Start begins a turn. past are the attempts that were made for the same request
// by a rule, or under a predecessor; they are settled as if they had just ended,
// and the first step follows from the last of them.
func (b *Brain) Start(now Instant, t *Turn, q Query, cat sdk.Catalogue, past []sdk.Attempted) Step {
	b.begin(now, t, q, cat)
	var last *sdk.Failure
	for i := range past {
		last = b.resume(now, t, &past[i])
	}
	var s Step
	if last != nil {
		s = b.next(now, t, last, q.Draw)
	} else {
		s = b.advance(now, t, "head")
	}
	s.Changes = b.flush(now)
	return s
}

// resume takes an attempt of the past into t and returns its failure, nil if it
// was lost together with the predecessor that had made it and says nothing.
func (b *Brain) resume(now Instant, t *Turn, a *sdk.Attempted) *sdk.Failure {
	l, ok := parseTag(a.Tag)
	if a.Failure == nil || a.Failure.Code == sdk.CodePlugin && !a.Failure.Acted && !a.Planned {
		t.attempts++
		if ok {
			b.giveBack(now, l, false)
		}
		return nil
	}
	t.enter(a.Route, a.Key)
	t.lease = l
	f := *a.Failure
	if ok {
		if a.Planned && silent(&f) { // another one may have been counted by the predecessor
			b.hearOut(t)
		}
		b.fail(now, t, &f)
	} else {
		t.note(&f)
	}
	return &f
}

// Failed takes an attempt that ended before visible content and decides what
// follows. rnd is a random number in [0,1). A failure that says nothing about
// the vendor has ScopeNone.
func (b *Brain) Failed(now Instant, t *Turn, f sdk.Failure, rnd float64) Step {
	if silent(&f) {
		b.hearOut(t)
	}
	b.fail(now, t, &f)
	s := b.next(now, t, &f, rnd)
	s.Changes = b.flush(now)
	return s
}

// Committed takes the arrival of visible content, which ends the turn. The
// permit of a probe returns here; health is settled at the end of the stream.
func (b *Brain) Committed(now Instant, t *Turn) []sdk.Change {
	b.hear(now, provider(t.cat, t.now.route.Provider))
	b.chargePending(now, t)
	b.giveBack(now, t.lease, true)
	b.remember(now, t.conversation, t.now.route)
	return b.flush(now)
}

// Refused takes back an attempt that was not sent, because another process tests
// the same target. The next step goes elsewhere.
func (b *Brain) Refused(now Instant, t *Turn) Step {
	standing := b.giveBack(now, t.lease, false)
	for i, target := range t.lease.targets() {
		if standing[i] {
			// Who has it will be heard of; until then it is somebody's.
			b.get(target).permit = permit{id: permitID{n: 1}, ends: now.after(time.Second)}
		}
	}
	t.now.attempts--
	t.now.onKey--
	t.attempts--
	r := t.now.route
	if t.now.attempts == 0 {
		t.now = visit{}
	}
	s := b.advance(now, t, "probe under way")
	if s.Skipped == nil {
		s.Skipped = []sdk.Skip{{Route: r, Reason: busy.String()}}
	}
	s.Changes = b.flush(now)
	return s
}

// MoveOn ends an attempt that still waits for its first content although its
// route or vendor has been found out of order meanwhile. Nobody is charged. It
// reports false, and changes nothing, if nothing else can serve, if the attempt is
// the very test of its target, or if the vendor may be running a tool for it.
func (b *Brain) MoveOn(now Instant, t *Turn) (Step, bool) {
	p := provider(t.cat, t.now.route.Provider)
	if t.query.Shape.HostedTools || t.lease.permit != 0 || b.above(now, p, t.now.route) >= busy || t.attempts >= t.budget.MaxAttempts ||
		t.routes() >= t.budget.MaxRoutes || t.late(now, 0) {
		return Step{}, false
	}
	for _, c := range b.candidates(now, t) {
		if c.reason != "" || t.visited(c.route) {
			continue
		}
		if w, skip := b.look(now, t, c.route, false); skip == "" && w.at >= testable {
			f := sdk.NewFailure(sdk.CodeTimeout, movedOn, t.now.route.String()+" was found out of order while this request waited for it")
			f.Scope = sdk.ScopeNone
			return b.Failed(now, t, *f, 0), true
		}
	}
	return Step{}, false
}

// Unwaited is the reason why nothing follows a failure that nobody waited with: the
// caller had left, or the host would wait for the plugin no longer.
const Unwaited = "nobody was there to decide"

// movedOn is the rule of an attempt that MoveOn has ended.
const movedOn = "brain.moved-on"

// Unsent takes back the attempt that MoveOn has decided on, if nobody is to be asked
// any more: the caller has left, or the attempt that was to be ended has itself met
// f, which lies in the request. Else it reports false and changes nothing. f is
// never charged: t is at the next target already.
func (b *Brain) Unsent(now Instant, t *Turn, f sdk.Failure, left bool) (Step, bool) {
	lies := t.policy.class(f.Code) == sdk.ClassCaller && f.Code != sdk.CodeContextWindow && f.Code != sdk.CodeAborted
	if !left && !lies {
		return Step{}, false
	}
	b.giveBack(now, t.lease, false)
	if t.first == nil || t.first.Rule == movedOn {
		t.first = &f
	}
	reason := Unwaited
	if lies {
		reason = "caller"
	}
	s := b.stop(now, t, reason)
	s.Changes = b.flush(now)
	return s, true
}

// fail settles the present attempt of t.
func (b *Brain) fail(now Instant, t *Turn, f *sdk.Failure) {
	t.note(f)
	e := b.end(now, t.policy, t.lease, t.now.route, t.now.key, f, t.cat)
	t.now.counted = t.now.counted || e.counted
	t.now.answered = t.now.answered || answered(f) && !provider(t.cat, t.now.route.Provider).Loopback
	if e.pending {
		t.pending = append(t.pending, pending{t.lease, t.now.route, f})
	}
	b.chargePending(now, t)
}

// next decides what follows the failure of the present attempt, by six
// questions: may it be repeated at all; may this request be replayed, which before
// visible content it may unless a tool of the vendor's has acted; on the same target or another; is the contract
// kept there; has anything been shown, which ends the turn; and is there budget
// left.
func (b *Brain) next(now Instant, t *Turn, f *sdk.Failure, rnd float64) Step {
	if f.Acted {
		s := b.stop(now, t, "a tool may have acted")
		s.RetryAt = time.Time{} // the caller must not repeat it either
		return s
	}
	switch t.policy.class(f.Code) {
	case sdk.ClassCaller:
		switch f.Code {
		case sdk.CodeContextWindow:
		case sdk.CodeAborted:
			return b.stop(now, t, Unwaited)
		default:
			return b.stop(now, t, "caller")
		}
	case sdk.ClassLocal:
		if f.Code != sdk.CodeLocalNetwork {
			return b.stop(now, t, "local")
		}
	case sdk.ClassDeterministic, sdk.ClassTransient:
		if s, ok := b.again(now, t, f, rnd); ok {
			return s
		}
		if s, ok := b.nextKey(now, t, f); ok {
			return s
		}
	}
	left := *t // the turn as it is while nobody has left anything
	halts := b.halting(now, t, f)
	if halts.Scope == sdk.ScopeVendor {
		t.leaving = halts.Provider
	}
	s := b.advance(now, t, string(f.Code))
	t.leaving = ""
	if s.Stopped() {
		*t = left
		if w, ok := b.wait(now, t, f); ok {
			return w
		}
	}
	// The request has left its target for good.
	b.halt(now, &left, halts, f)
	if s.Stopped() && !s.RetryAt.IsZero() {
		s.RetryAt = b.earliest(now, t)
	}
	return s
}

// again decides whether the same target is asked once more. A probe is not: what
// it tests is not free of trips.
func (b *Brain) again(now Instant, t *Turn, f *sdk.Failure, rnd float64) (Step, bool) {
	r, key := t.now.route, t.now.key
	s := Step{Action: sdk.ActionRetry, Reason: string(f.Code), Kind: sdk.KindRetry}
	stated := hint(now, f)
	delay := time.Duration(0)
	switch {
	case t.policy.class(f.Code) != sdk.ClassTransient:
		return s, false
	case f.Code == sdk.CodeRateLimit:
		if stated == 0 || t.now.waited || b.off(now, PolicyWait) {
			return s, false
		}
		s.Action, delay = sdk.ActionWait, stated
	case f.Code == sdk.CodeOverloaded, f.Code == sdk.CodeServer,
		f.Code == sdk.CodeTransport && !f.Cause.Unreachable():
		delay = max(stated, t.budget.backoff(t.now.onKey, rnd))
		if b.off(now, PolicyRetry) {
			return s, false
		}
	default:
		return s, false
	}
	if stated > t.budget.WaitUpTo || t.now.onKey >= t.budget.MaxSameTarget || t.attempts >= t.budget.MaxAttempts ||
		t.vendorSpent(r.Provider) || t.late(now, delay) || b.forbidden(now, r, key, true) != "" {
		return s, false
	}
	for _, target := range targets(r, key) {
		if !b.get(target).free(now, delay) {
			return s, false
		}
	}
	t.now.waited = t.now.waited || s.Action == sdk.ActionWait
	t.enter(r, key)
	return b.dispatch(now, t, s, delay, false), true
}

// nextKey decides whether another key of the same route is tried. That spends
// nothing of the budget of routes.
func (b *Brain) nextKey(now Instant, t *Turn, f *sdk.Failure) (Step, bool) {
	r := t.now.route
	switch f.Code {
	case sdk.CodeAuth, sdk.CodeInvalidCredential, sdk.CodeQuota:
		if speaksFor(f) != sdk.ScopeKey {
			return Step{}, false
		}
	case sdk.CodeRateLimit, sdk.CodeServer:
	case sdk.CodeTransport:
		if f.Cause.Unreachable() {
			return Step{}, false
		}
	default:
		return Step{}, false
	}
	p := provider(t.cat, r.Provider)
	if len(p.Keys) < 2 || t.query.Wants.Strict || t.attempts >= t.budget.MaxAttempts || t.narrowed(p) != "" ||
		t.late(now, 0) || b.off(now, PolicyFailover) || b.forbidden(now, r, "", true) != "" {
		return Step{}, false
	}
	tried := append(t.now.tried, t.now.key)
	w := b.way(now, t, p, r, tried, false)
	if w.at < testable || w.key == keyless {
		return Step{}, false
	}
	s := Step{Action: sdk.ActionFailover, Kind: sdk.KindFailover, Reason: string(f.Code) + ", next key"}
	t.enter(r, w.key)
	return b.dispatch(now, t, s, 0, w.at != open), true
}

// wait decides whether the request waits for a limit to pass, since nothing else
// can serve it. The hint counts; without one the waits grow from a second.
func (b *Brain) wait(now Instant, t *Turn, f *sdk.Failure) (Step, bool) {
	r, key := t.now.route, t.now.key
	delay := hint(now, f)
	if delay == 0 {
		delay = time.Second << t.now.waits
	}
	if f.Code != sdk.CodeRateLimit || t.policy.class(f.Code) != sdk.ClassTransient || t.now.waits >= t.budget.MaxWaits ||
		t.attempts >= t.budget.MaxAttempts || t.vendorSpent(r.Provider) || t.late(now, delay) ||
		b.off(now, PolicyWait) || b.forbidden(now, r, key, true) != "" || t.lease.permit != 0 {
		return Step{}, false
	}
	// Only a limit is waited out. A halt that somebody else has called holds.
	for _, target := range targets(r, key) {
		if c := b.get(target); c != nil && c.climbed() {
			return Step{}, false
		}
	}
	t.now.waits++
	t.enter(r, key)
	return b.dispatch(now, t, Step{Action: sdk.ActionWait, Kind: sdk.KindRetry, Reason: string(f.Code) + ", nothing else"}, delay, false), true
}

// Outdated reports whether what the present attempt was to test has gone out
// again since it was decided: another process has looked meanwhile.
func (b *Brain) Outdated(t *Turn) bool {
	for i, target := range t.lease.targets() {
		if c := b.get(target); t.lease.on[i] && c != nil && c.tripped > t.lease.epoch {
			return true
		}
	}
	return false
}
