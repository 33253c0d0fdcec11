package brain

import (
	"time"

	"spillway/sdk"
)

// A name that does not resolve and a missing route may be the vendor's fault or
// our own network's. They are charged only once another vendor is known to
// answer; until then the charge is pending, and with the request it is dropped.

// answerLife is for how long an answer shows that our own network works.
const answerLife = 30 * time.Second

// answer is the last sign of life of a provider that is not on this machine.
// A brain keeps those of the last two providers, so that there is one besides
// any given provider if there is one at all.
type answer struct {
	provider string
	until    deadline
}

// answered reports whether an attempt that ended with f reached its vendor.
func answered(f *sdk.Failure) bool {
	return f == nil || f.Status != 0 || f.Phase == sdk.PhaseResponse || f.Phase == sdk.PhaseStream
}

func (b *Brain) hear(now Instant, p *sdk.Provider) {
	if p.Name == "" || p.Loopback {
		return
	}
	if b.answers[0].provider != p.Name {
		b.answers[1] = b.answers[0]
	}
	b.answers[0] = answer{provider: p.Name, until: now.after(answerLife)}
}

func (b *Brain) othersAnswer(now Instant, provider string) bool {
	for _, a := range b.answers {
		if a.provider != provider && !a.until.over(now) {
			return true
		}
	}
	return false
}

// alone reports whether there is no other vendor that could show that our own
// network works. The host then knows best: without a route out of this machine
// it says LOCAL_NETWORK.
func alone(cat sdk.Catalogue) bool {
	n := 0
	for i := range cat.Providers {
		if !cat.Providers[i].Loopback {
			n++
		}
	}
	return n <= 1
}

// pending is an attempt of the turn whose charge waits for another's answer.
type pending struct {
	lease   lease
	route   sdk.Route
	failure *sdk.Failure
}

// chargePending charges what waited for an answer that has now come.
func (b *Brain) chargePending(now Instant, t *Turn) {
	rest := t.pending[:0]
	for _, w := range t.pending {
		if !b.othersAnswer(now, w.route.Provider) && !t.othersAnswered(w.route.Provider) {
			rest = append(rest, w)
			continue
		}
		ch := t.policy.charge(w.failure)
		b.blame(now, t.policy, vendorTarget(w.route.Provider), w.lease, w.failure, ch)
	}
	t.pending = rest
}

// localNetwork is what the first failure of t becomes if it was still pending
// when nothing else could serve.
func (t *Turn) localNetwork() *sdk.Failure {
	for _, w := range t.pending {
		if w.failure == t.first {
			f := *w.failure
			f.Code, f.Cause, f.Scope = sdk.CodeLocalNetwork, "", sdk.ScopeNone
			f.Rule = "brain.nobody-answers"
			return &f
		}
	}
	return t.first
}
