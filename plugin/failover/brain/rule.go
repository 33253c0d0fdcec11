package brain

import (
	"time"

	"spillway/sdk"
)

// Rule is what Start decides about every request of a class alike, for as long as
// nothing changes: the first attempt on the head. ok is false where there is no
// such decision, since something stands against the head, its vendor or one of its
// keys, a person has given orders, or chance or a tool loop has a say.
//
// What a route's cache of a conversation would take from the limit on the first
// content is left out: it is that of a conversation which the route has not seen.
// Buffer is Query.Buffer; the order's settings are the caller's to add.
func (b *Brain) Rule(now Instant, c sdk.RequestClass, buffer bool, cat sdk.Catalogue) (_ sdk.Rule, ok bool) {
	head, p := c.Route, provider(cat, c.Route.Provider)
	var t Turn
	b.begin(now, &t, queryOf(now, c, buffer), cat)
	switch {
	case b.policy.Canary.Share > 0, b.ordered(now), !b.untroubled(now, p, head):
		return sdk.Rule{}, false
	case t.attempts >= t.budget.MaxAttempts, t.routes() >= t.budget.MaxRoutes, t.late(now, 0), t.narrowed(p) != "":
		return sdk.Rule{}, false
	case c.ToolResult && b.elsewhere(now, &t):
		return sdk.Rule{}, false
	}
	owned := *p
	if p.Passthrough {
		owned.Keys = []string{"the caller's"}
	}
	if t.unfit(&owned, head) != "" {
		return sdk.Rule{}, false
	}
	r := sdk.Rule{Class: c, Own: p.Passthrough, Content: b.contentLimit(&t)}
	if !p.Passthrough {
		r.Keys = p.Keys
	}
	if m, _ := model(p, head.Model); m.Context > 0 {
		r.MaxPrompt = min(m.Context, maxWindow) * 4 / 3 // as in Query.lack
	}
	_, tag := b.lease(now)
	r.Dispatch = sdk.Dispatch{
		Kind: sdk.KindPrimary, Reason: "head", Tag: tag,
		Limits: sdk.Limits{Connect: t.budget.Connect, Idle: t.budget.Idle, Total: t.budget.Total},
	}
	return r, r.Sound()
}

// maxWindow is larger than any prompt can be.
const maxWindow = 1 << 30

// queryOf is a request of a class, the smallest.
func queryOf(now Instant, c sdk.RequestClass, buffer bool) Query {
	return Query{
		Head: c.Route, Wants: c.Wants, Stream: c.Stream, Buffer: buffer, Began: now.Mono,
		Shape: sdk.Shape{
			Tools: least(c.Tools), Images: least(c.Images), Documents: least(c.Documents), ParallelTools: c.ParallelTools,
			Structured: c.Structured, Reasoning: c.Reasoning, ToolResult: c.ToolResult,
		},
	}
}

// least is the least number of what is used or not.
func least(used bool) int {
	if used {
		return 1
	}
	return 0
}

// ordered reports whether a person's order is in force.
func (b *Brain) ordered(now Instant) bool {
	for i := range b.orders {
		if !b.orders[i].over(now) {
			return true
		}
	}
	return false
}

// untroubled reports whether nothing whatever is told of r, a route of p: neither
// of itself, nor of its vendor, nor of any key that it may be asked with.
func (b *Brain) untroubled(now Instant, p *sdk.Provider, r sdk.Route) bool {
	v := b.vendors[p.Name]
	if v == nil {
		return p.Name != ""
	}
	quiet := func(c *circuit) bool { return c == nil || !c.story(now) && c.state(now) == sdk.CircuitClosed }
	if !quiet(v.own) || !quiet(v.routes[r.Model]) {
		return false
	}
	for _, key := range p.Keys {
		if !quiet(v.key(key)) || !quiet(v.limit(key, r.Model)) {
			return false
		}
	}
	if !p.Passthrough {
		return true
	}
	for _, c := range b.order { // anybody's key may be the next caller's
		if t := c.target; t.Provider == p.Name && t.Scope == sdk.ScopeKey && (t.Model == "" || t.Model == r.Model) && !quiet(c) {
			return false
		}
	}
	return true
}

// contentLimit is what limits and content say of the requests that are like t,
// but for their size.
func (b *Brain) contentLimit(t *Turn) sdk.ContentLimit {
	l := sdk.ContentLimit{Base: t.budget.FirstContent}
	if l.Base == 0 {
		factor := time.Duration(1)
		if t.query.Shape.Reasoning {
			factor = reasoningFactor
		}
		l.Base, l.PerPrompt = contentBase*factor, 2*contentPer8K/8000*factor
		if pace := paced(b.pace(t.query.Head)); pace > l.Base {
			l.Pace = pace
		}
	}
	if !t.query.Stream {
		l.PerOutput, l.Assumed, l.Least = wholePer20/20, assumedOutput, wholeLeast
	}
	if t.deadline != 0 {
		l.Most = t.deadline - t.query.Began
		if spare := l.Most - t.reserve; spare >= t.meaningful {
			l.Most = spare
		}
	}
	return l
}

// Join makes t the turn of a request whose first attempt a rule has ordered, which
// is under way. What follows is as if Start had decided it.
func (b *Brain) Join(now Instant, t *Turn, q Query, cat sdk.Catalogue, a *sdk.Attempted) {
	b.begin(now, t, q, cat)
	t.enter(a.Route, a.Key)
	t.lease, _ = parseTag(a.Tag)
}
