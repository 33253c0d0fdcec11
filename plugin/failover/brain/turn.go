package brain

import (
	"time"

	"spillway/sdk"
)

// Query is what the brain needs to know of a request.
type Query struct {
	Head  sdk.Route // what the caller chose
	Shape sdk.Shape

	// Deadline is the moment, on Instant.Mono, by which visible content must
	// have come; zero for none. No step is decided that would begin after it.
	Deadline time.Duration
}

// Turn is the state of one request. The zero value is ready for Start; a turn
// may be used again for another request after it has ended.
type Turn struct {
	policy *Policy
	query  Query
	cat    sdk.Catalogue

	list     []candidate // made when it is first needed
	now      visit       // the route being asked
	lease    lease       // of the present attempt
	gone     []visit     // routes asked before it
	attempts int

	first    *sdk.Failure // the cause that the caller is told
	pending  []pending
	window   int  // a candidate must declare more than this, 0: nothing is required
	loopback bool // only this machine can be reached
}

// visit is one route that the request has asked.
type visit struct {
	route    sdk.Route
	attempts int
	counted  bool // it has counted towards the route's threshold
}

func (t *Turn) begin(p *Policy, q Query, cat sdk.Catalogue) {
	*t = Turn{policy: p, query: q, cat: cat, list: t.list[:0], gone: t.gone[:0], pending: t.pending[:0]}
}

// candidates is the turn's list, the same from its first use to the end.
func (t *Turn) candidates() []candidate {
	if len(t.list) == 0 {
		t.list = t.policy.candidates(t.query.Head, t.cat)
	}
	return t.list
}

// enter counts an attempt on r.
func (t *Turn) enter(r sdk.Route) {
	if t.now.attempts > 0 && t.now.route != r {
		t.gone = append(t.gone, t.now)
		t.now = visit{}
	}
	t.now.route = r
	t.now.attempts++
	t.attempts++
}

// visited reports whether r has been asked, and is thereby used up.
func (t *Turn) visited(r sdk.Route) bool {
	for _, v := range t.gone {
		if v.route == r {
			return true
		}
	}
	return t.now.attempts > 0 && t.now.route == r
}

// routes is how many routes have been asked.
func (t *Turn) routes() int { return len(t.gone) + min(1, t.now.attempts) }

// vendorSpent reports whether no further attempt may reach the provider.
func (t *Turn) vendorSpent(provider string) bool {
	n := 0
	if t.now.route.Provider == provider {
		n = t.now.attempts
	}
	for _, v := range t.gone {
		if v.route.Provider == provider {
			n += v.attempts
		}
	}
	return n >= t.policy.MaxPerVendor
}

// late reports whether an attempt that begins after d would miss the deadline.
func (t *Turn) late(now Instant, d time.Duration) bool {
	return t.query.Deadline != 0 && now.Mono+d >= t.query.Deadline
}

// unfit is why r may not serve this request at all, "" if it may.
func (t *Turn) unfit(c candidate) string {
	switch {
	case c.reason != "":
		return c.reason
	case t.unreachable(c.route.Provider):
		return "vendor unreachable"
	case t.window > 0 && window(c.route, t.cat) <= t.window:
		return "window not larger"
	case t.loopback:
		if p, _ := t.cat.Provider(c.route.Provider); !p.Loopback {
			return "local network down"
		}
	}
	return ""
}

// unreachable reports whether the request could not reach the provider, whoever
// is to blame.
func (t *Turn) unreachable(provider string) bool {
	for _, w := range t.pending {
		if w.route.Provider == provider {
			return true
		}
	}
	return false
}

// note remembers of a failure what narrows the further choice.
func (t *Turn) note(f *sdk.Failure) {
	if t.first == nil {
		t.first = f
	}
	switch f.Code {
	case sdk.CodeContextWindow:
		need := window(t.now.route, t.cat)
		if need == 0 {
			need = t.query.Shape.PromptTokens
		}
		t.window = max(t.window, need, 1)
	case sdk.CodeLocalNetwork:
		t.loopback = true
	}
}
