package brain

import (
	"slices"

	"spillway/sdk"
)

// Settled takes the end of an attempt whose stream the plugin has returned, as
// the host reports it: at least once, late, or to a later process.
func (b *Brain) Settled(now Instant, o sdk.Outcome, cat sdk.Catalogue) []sdk.Change {
	l, ok := b.plain, b.tag != "" && o.Tag == b.tag // of most, and nothing has happened since
	if !ok {
		l, ok = parseTag(o.Tag)
	}
	if !ok {
		return nil
	}
	b.end(now, b.policy, l, o.Route, o.Key, o.Failure, cat)
	if o.Planned && o.Committed { // nobody has said so when it was
		b.hear(now, provider(cat, o.Route.Provider))
		b.remember(now, sdk.ConversationHash(o.Conversation), o.Route)
	}
	if o.Failure == nil && o.Stream && !b.slept(now, l) {
		b.learn(o.Route, o.FirstContent)
	}
	return b.flush(now)
}

// ended is what became of an attempt's charge.
type ended struct {
	counted bool // it was counted towards the threshold
	pending bool // it waits until another vendor has answered
}

// end judges the end of one attempt on route at with a key: nil is the clean end
// of an answer. A permit comes back whatever the end.
func (b *Brain) end(now Instant, policy *Policy, l lease, at sdk.Route, key string, f *sdk.Failure, cat sdk.Catalogue) ended {
	p := provider(cat, at.Provider)
	standing := b.giveBack(now, l, false)
	if answered(f) {
		b.hear(now, p)
	}
	if b.slept(now, l) || l.short && silent(f) {
		return ended{}
	}
	// A permit that was replaced speaks for its target no more. An attempt that
	// another listener sent elsewhere speaks for that place without a permit.
	late := func(t Target) bool {
		for i, tested := range l.targets() {
			if l.on[i] && tested == t {
				return !standing[i]
			}
		}
		return false
	}
	if f == nil {
		for _, t := range targets(at, key) {
			if c := b.get(t); c != nil && !late(t) && l.epoch >= c.tripped {
				b.heal(now, c)
			}
		}
		return ended{}
	}
	ch := policy.charge(f)
	if ch.scope == sdk.ScopeNone {
		return ended{}
	}
	if p.Passthrough && ch.scope == sdk.ScopeVendor && !f.Cause.Unreachable() {
		ch.scope = sdk.ScopeKey // the account is the caller's, not everybody's
	}
	target := ch.target(at, key)
	if late(target) {
		return ended{}
	}
	if ch.proof && !p.Loopback && !b.othersAnswer(now, at.Provider) && !alone(cat) {
		return ended{pending: true}
	}
	// A look at what a vendor had said to be out for long is one, whatever it met.
	for i, tested := range l.targets() {
		if c := b.get(tested); standing[i] && tested != target && !c.belief.until.over(now) {
			b.touch(now, c)
			c.belief.rest(now)
		}
	}
	applied, counted := b.blame(now, policy, target, l, f, ch)
	if applied && target.Scope == sdk.ScopeKey && f.Code != sdk.CodeQuota && !ch.limit {
		b.exhaust(now, policy, p, l, f)
	}
	return ended{counted: counted}
}

// silent reports whether f is a limit on the first content that ran out.
func silent(f *sdk.Failure) bool {
	return f != nil && f.Code == sdk.CodeTimeout && f.Rule == sdk.RuleFirstContent
}

// hearOut lets the present attempt of t count although others have counted since it
// began, if its route has not tripped since. Of failures that come fast, those of
// attempts that were under way together are one blip. A limit on the first content
// that ran out is a whole wait of its own: if it added nothing, callers who come one
// by one would each wait in vain, since all of them began before the limit of the
// first ran out.
func (b *Brain) hearOut(t *Turn) {
	if c := b.get(routeTarget(t.now.route)); c != nil && t.lease.epoch >= c.tripped {
		t.lease.epoch = max(t.lease.epoch, c.counted)
	}
}

// blame applies a charge unless the attempt began before the target's last one.
func (b *Brain) blame(now Instant, p *Policy, t Target, l lease, f *sdk.Failure, ch charge) (applied, counted bool) {
	c := b.circuit(now, t)
	if l.epoch < c.counted {
		return false, false
	}
	return true, b.apply(now, p, c, f, ch, l.counted)
}

// giveBack returns the permits of l. It tells for which of the targets they
// still stand.
func (b *Brain) giveBack(now Instant, l lease, committed bool) (standing [targetKinds]bool) {
	if l.permit == 0 {
		return standing
	}
	if id := l.id(); id.origin != b.origin && !slices.Contains(b.ended[:], id) {
		b.ended[b.ends%len(b.ended)] = id
		b.ends++
	}
	for i, t := range l.targets() {
		c := b.get(t)
		if !l.on[i] || c == nil {
			continue
		}
		if c.permit.id == l.id() {
			b.touch(now, c)
			if committed {
				b.epoch++
				c.version = b.epoch
			}
		}
		standing[i] = c.giveBack(l.id(), committed)
	}
	return standing
}
