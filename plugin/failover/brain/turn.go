package brain

import (
	"slices"
	"time"

	"spillway/sdk"
)

// Query is what the brain needs to know of a request.
type Query struct {
	Head         sdk.Route // what the caller chose
	Shape        sdk.Shape
	Wants        sdk.Wants
	Stream       bool
	Buffer       bool   // nothing is shown before the whole answer is there
	MaxTokens    int    // 0: the model's own limit
	Conversation string // "" if unknown

	Began time.Duration // when the request began, on Instant.Mono
	// Deadline is the caller's own, on Instant.Mono; zero for none.
	Deadline time.Duration
	// Draw is a random number in [0,1): it draws requests without a conversation
	// into the canary, and the wait before a repetition that Start decides.
	Draw float64
}

// Turn is the state of one request. The zero value is ready for Start; a turn
// may be used again for another request after it has ended.
type Turn struct {
	policy       *Policy
	budget       Budget
	contract     *Contract
	query        Query
	cat          sdk.Catalogue
	measured     measured // the brain's
	conversation uint64   // its hash, 0 for none
	canary       bool
	sameModel    bool
	deadline     time.Duration // on Instant.Mono, 0 for none
	reserve      time.Duration
	meaningful   time.Duration // the least time that an attempt needs

	list     []candidate // made when it is first needed
	now      visit       // the route being asked
	lease    lease       // of the present attempt
	gone     []visit     // routes asked before it
	attempts int

	first    *sdk.Failure // the cause that the caller is told
	pending  []pending
	window   int    // a candidate must declare more than this, 0: nothing is required
	loopback bool   // only this machine can be reached
	leaving  string // the provider that this request is about to halt
}

// visit is one route that the request has asked.
type visit struct {
	route    sdk.Route
	key      string   // in use
	tried    []string // the keys used before it
	attempts int      // all of them
	onKey    int      // with the present key
	waits    int      // unstated ones
	waited   bool     // a stated wait was spent
	counted  bool     // it has counted towards the route's threshold
	answered bool     // with a failure, over the network
}

// begin makes t the turn of q.
func (b *Brain) begin(now Instant, t *Turn, q Query, cat sdk.Catalogue) {
	p := b.policy
	*t = Turn{policy: p, query: q, cat: cat, measured: b.measured, list: t.list[:0], gone: t.gone[:0], pending: t.pending[:0]}
	t.conversation = sdk.ConversationHash(q.Conversation)
	t.sameModel = p.SameModel || q.Wants.SameModel
	t.canary = p.Canary.Share > 0 && t.draw() < p.Canary.Share && !b.off(now, PolicyCanary)
	name := q.Wants.Budget
	if name == "" {
		name = p.chain(t.canary, q.Head).Budget
	}
	t.budget = p.Budget
	if b, ok := p.Budgets[name]; ok && name != "" {
		t.budget = b
	}
	t.contract = p.Contracts[q.Wants.Contract]
	t.bound()
}

// draw is the turn's number in [0,1): the same for all of a conversation.
func (t *Turn) draw() float64 {
	if t.conversation == 0 {
		return t.query.Draw
	}
	return float64(t.conversation>>11) / (1 << 53)
}

// enter counts an attempt on r with key.
func (t *Turn) enter(r sdk.Route, key string) {
	if t.now.attempts > 0 && t.now.route != r {
		t.gone = append(t.gone, t.now)
		t.now = visit{}
	}
	if t.now.attempts > 0 && t.now.key != key {
		t.now.tried, t.now.onKey = append(t.now.tried, t.now.key), 0
	}
	t.now.route, t.now.key = r, key
	t.now.attempts++
	t.now.onKey++
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
	return n >= t.budget.MaxPerVendor
}

// narrowed is why what the request has met so far rules p out, "" if it does not.
func (t *Turn) narrowed(p *sdk.Provider) string {
	switch {
	case t.unreachable(p.Name):
		return "vendor unreachable"
	case t.leaving == p.Name:
		return limited.String()
	case t.vendorSpent(p.Name):
		return "vendor budget"
	case t.loopback && !p.Loopback:
		return "local network down"
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

// othersAnswered reports whether another vendor than the named one has answered
// this request.
func (t *Turn) othersAnswered(provider string) bool {
	other := func(v visit) bool { return v.answered && v.route.Provider != provider }
	return other(t.now) || slices.ContainsFunc(t.gone, other)
}

// note remembers of a failure what narrows the further choice.
func (t *Turn) note(f *sdk.Failure) {
	if t.first == nil {
		t.first = f
	}
	switch f.Code {
	case sdk.CodeContextWindow:
		m, _ := model(provider(t.cat, t.now.route.Provider), t.now.route.Model)
		need := m.Context
		if need == 0 {
			need = t.query.Shape.PromptTokens
		}
		t.window = max(t.window, need, 1)
	case sdk.CodeLocalNetwork:
		t.loopback = true
	}
}
