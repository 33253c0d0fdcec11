package sdk

import "time"

// Plan is a plugin's first decision about requests of some classes, given in
// advance: the host carries it out without asking, and tells the outcomes later.
// A plan replaces the one before it as a whole; the zero Plan withdraws it. It
// ends with its time, with the plugin's process, and when the plugin is drained.
//
// An attempt that a plan has ordered and that fails before visible content gives
// the plugin an ordinary turn, with that attempt in [Call.Past]. One that still
// shows nothing when its class leaves the plan gives it a turn with
// [Call.Running].
type Plan struct {
	TTL   time.Duration // at most MaxPlanTTL
	Rules []Rule        // at most MaxRules, one a class
}

// Bounds of a plan; hosts cut what goes beyond.
const (
	MaxRules   = 64
	MaxPlanTTL = time.Minute
)

// RequestClass is what requests share that a rule holds for. It is comparable.
type RequestClass struct {
	Route  Route
	Wants  Wants
	Stream bool

	// What the request uses, as in [Shape].
	Tools         bool
	Images        bool
	Documents     bool
	ParallelTools bool
	Structured    bool
	Reasoning     bool
	ToolResult    bool
}

// RequestClassOf is the class of a request. ok is false for one that no rule holds for:
// what a vendor's tool does for it cannot be taken back, so each one is asked
// about.
func RequestClassOf(r *Request) (c RequestClass, ok bool) {
	s := &r.Shape
	return RequestClass{
		Route: r.Route(), Wants: r.Wants, Stream: r.Stream,
		Tools: s.Tools > 0, Images: s.Images > 0, Documents: s.Documents > 0, ParallelTools: s.ParallelTools,
		Structured: s.Structured, Reasoning: s.Reasoning, ToolResult: s.ToolResult,
	}, !s.HostedTools
}

// Rule is the first attempt of the requests of a class, on the route that they
// chose.
type Rule struct {
	Class     RequestClass
	MaxPrompt int // estimated tokens; a larger one asks. 0: no bound

	// Dispatch is the order, but for the key and the limit on the first content,
	// which depend on the request. Without a Visible the request keeps its own.
	Dispatch Dispatch
	Content  ContentLimit

	// Keys are the fingerprints to choose from, as [PickKey] does; none: no key is
	// needed. Own: the caller's own credential is sent, and one without any asks.
	Keys []string
	Own  bool
}

// ContentLimit is the limit on a first content, or on a whole answer, by the size
// of a request.
type ContentLimit struct {
	Base      time.Duration
	PerPrompt time.Duration // for each estimated token of the prompt
	Pace      time.Duration // raises the sum of both to itself, but at most to its double
	PerOutput time.Duration // for each token of a whole answer
	Assumed   int           // tokens of one whose length the request does not limit
	Least     time.Duration
	Most      time.Duration // a request that needs longer asks; 0: no bound
}

// maxTokens keeps a limit from running over; a request that says more asks.
const maxTokens = 1 << 30

// For is the limit for a request. ok is false if the plugin is to be asked.
func (l *ContentLimit) For(r *Request) (d time.Duration, ok bool) {
	output := r.MaxTokens
	if output <= 0 {
		output = l.Assumed
	}
	if r.Shape.PromptTokens > maxTokens || output > maxTokens {
		return 0, false
	}
	d = l.Base + time.Duration(r.Shape.PromptTokens)*l.PerPrompt
	d = max(d, min(l.Pace, 2*d))
	d = max(d+time.Duration(output)*l.PerOutput, l.Least)
	return d, l.Most == 0 || d <= l.Most
}

// Order is the attempt that the rule orders for r, a request of its class. turn
// counts the requests without a conversation that were given a key of the
// provider before. ok is false if the plugin is to be asked.
func (u *Rule) Order(r *Request, turn uint64) (d Dispatch, ok bool) {
	if u.MaxPrompt > 0 && r.Shape.PromptTokens > u.MaxPrompt {
		return d, false
	}
	d = u.Dispatch
	if d.Limits.FirstContent, ok = u.Content.For(r); !ok {
		return d, false
	}
	if d.Visible == 0 {
		d.Visible = r.Dispatch.Visible
	}
	if u.Own {
		d.Key = r.Own[r.Provider]
		return d, d.Key != ""
	}
	if len(u.Keys) > 0 {
		d.Key = PickKey(u.Keys, r.Conversation, turn)
	}
	return d, true
}

// longestLimit and longestPerToken bound what a rule may say. They are far above
// any sense, and keep sums in range.
const (
	longestLimit    = 24 * time.Hour
	longestPerToken = time.Second
)

// Sound reports whether a host may carry the rule out: its durations are in range,
// and it orders the attempt at once.
func (u *Rule) Sound() bool {
	within := func(longest time.Duration, list ...time.Duration) bool {
		for _, d := range list {
			if d < 0 || d > longest {
				return false
			}
		}
		return true
	}
	d, c := &u.Dispatch, &u.Content
	return d.Delay == 0 && u.MaxPrompt >= 0 && c.Assumed >= 0 &&
		within(longestLimit, d.Limits.Connect, d.Limits.Idle, d.Limits.Total, c.Base, c.Pace, c.Least, c.Most) &&
		within(longestPerToken, c.PerPrompt, c.PerOutput)
}
