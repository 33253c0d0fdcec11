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
	Route sdk.Route
	Kind  sdk.AttemptKind
	Delay time.Duration // wait this long before sending
	Tag   string        // must come back with the attempt's end

	// A stop.
	Failure *sdk.Failure // the first cause; made by the brain if nothing was sent
	RetryAt time.Time    // the earliest moment something may serve; zero: a repetition cannot help

	Skipped []sdk.Skip   // candidates passed over on the way
	Changes []sdk.Change // circuits that moved
}

// Stopped reports whether the request has ended without an answer.
func (s Step) Stopped() bool { return s.Action == sdk.ActionStop }

// Start begins a turn. past are the attempts of a predecessor for the same
// request; they are settled as if they had just ended, and the first step
// follows from the last of them.
func (b *Brain) Start(now Instant, t *Turn, q Query, cat sdk.Catalogue, past []sdk.Attempted) Step {
	t.begin(b.policy, q, cat)
	var last *sdk.Failure
	for i := range past {
		last = b.resume(now, t, &past[i])
	}
	var s Step
	if last != nil {
		s = b.next(now, t, last, 0)
	} else {
		s = b.advance(now, t, "head")
	}
	s.Changes = b.flush(now)
	return s
}

// resume takes an attempt of a predecessor into t and returns its failure, nil
// if it was lost together with the predecessor and says nothing.
func (b *Brain) resume(now Instant, t *Turn, a *sdk.Attempted) *sdk.Failure {
	l, ok := parseTag(a.Tag)
	if a.Failure == nil || a.Failure.Code == sdk.CodePlugin {
		t.attempts++
		if ok {
			b.giveBack(now, l, false)
		}
		return nil
	}
	t.enter(a.Route)
	t.lease = l
	f := *a.Failure
	if ok {
		b.fail(now, t, &f)
	} else {
		t.note(&f)
	}
	return &f
}

// Failed takes an attempt that ended before visible content and decides what
// follows. rnd is a random number in [0,1). A failure that says nothing about
// the vendor, such as a limit cut short by the deadline, has ScopeNone.
func (b *Brain) Failed(now Instant, t *Turn, f sdk.Failure, rnd float64) Step {
	b.fail(now, t, &f)
	s := b.next(now, t, &f, rnd)
	s.Changes = b.flush(now)
	return s
}

// Committed takes the arrival of visible content, which ends the turn. The
// permit of a probe returns here; health is settled at the end of the stream.
func (b *Brain) Committed(now Instant, t *Turn) []sdk.Change {
	p, _ := t.cat.Provider(t.now.route.Provider)
	b.hear(now, p)
	b.chargePending(now, t)
	b.giveBack(now, t.lease, true)
	return b.flush(now)
}

// fail settles the present attempt of t.
func (b *Brain) fail(now Instant, t *Turn, f *sdk.Failure) {
	t.note(f)
	p, _ := t.cat.Provider(t.now.route.Provider)
	e := b.end(now, t.policy, t.lease, t.now.route, f, p)
	t.now.counted = t.now.counted || e.counted
	if e.pending {
		t.pending = append(t.pending, pending{t.lease, t.now.route, f})
	}
	b.chargePending(now, t)
}

// next decides what follows the failure of the present attempt.
func (b *Brain) next(now Instant, t *Turn, f *sdk.Failure, rnd float64) Step {
	switch t.policy.class(f.Code) {
	case sdk.ClassCaller:
		if f.Code != sdk.CodeContextWindow {
			return t.stop("caller")
		}
	case sdk.ClassLocal:
		if f.Code != sdk.CodeLocalNetwork {
			return t.stop("local")
		}
	case sdk.ClassDeterministic, sdk.ClassTransient:
		if s, ok := b.again(now, t, f, rnd); ok {
			return s
		}
	}
	return b.advance(now, t, string(f.Code))
}

// again decides whether the same route is asked once more. A probe is not: what
// it tests is not free of trips.
func (b *Brain) again(now Instant, t *Turn, f *sdk.Failure, rnd float64) (Step, bool) {
	p, r := t.policy, t.now.route
	s := Step{Action: sdk.ActionRetry, Reason: string(f.Code), Route: r, Kind: sdk.KindRetry}
	stated := hint(now, f)
	switch {
	case p.class(f.Code) != sdk.ClassTransient:
		return s, false
	case f.Code == sdk.CodeRateLimit:
		if stated == 0 {
			return s, false
		}
		s.Action, s.Delay = sdk.ActionWait, stated
	case f.Code == sdk.CodeOverloaded, f.Code == sdk.CodeServer,
		f.Code == sdk.CodeTransport && !f.Cause.Unreachable():
		s.Delay = max(stated, p.backoff(t.now.attempts, rnd))
	default:
		return s, false
	}
	if stated > p.WaitUpTo || t.now.attempts >= p.MaxSameTarget || t.attempts >= p.MaxAttempts ||
		t.vendorSpent(r.Provider) || t.late(now, s.Delay) ||
		!b.circuits[routeTarget(r)].free(now, s.Delay) || !b.circuits[vendorTarget(r.Provider)].free(now, s.Delay) {
		return s, false
	}
	t.enter(r)
	l, tag := b.lease(now)
	if t.now.counted {
		l.counted = true
		tag = l.tag()
	}
	t.lease, s.Tag = l, tag
	return s, true
}

// backoff is the wait after the given number of attempts on one route: anything
// from nothing to a bound that doubles.
func (p *Policy) backoff(attempts int, rnd float64) time.Duration {
	bound := double(p.BackoffBase, attempts-1, p.BackoffCap)
	return time.Duration(min(max(rnd, 0), 1) * float64(bound))
}
