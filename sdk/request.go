package sdk

import "time"

// Request is a listener's view of a model call: where it goes, how large it is
// and what it uses, but not what it says. It is a value: change a copy and hand
// that to [Next] or [Call.Reenter]. Fields marked "facts" are set by the host;
// changing them has no effect.
type Request struct {
	// Provider and Model choose the destination. The vendor is looked up after
	// the last listener, so changing them redirects the call.
	Provider string
	Model    string

	// Prompt replaces what is said. Nil, as it arrives, means unchanged; read
	// the present one with [Call.Prompt].
	Prompt *Prompt

	// Dispatch says how this attempt is to be made. The zero value is right for
	// a listener that only passes a call on.
	Dispatch Dispatch

	// Facts. MaxTokens and Effort are what the caller asked for explicitly; zero
	// values mean the destination's own default, which never travels from one
	// destination to the next.
	MaxTokens    int
	Effort       string
	Stream       bool              // the caller wants events as they come
	Conversation string            // stable over the turns of one conversation, "" if unknown
	Shape        Shape             // size and used capabilities
	Wants        Wants             // what whoever serves must respect
	Own          map[string]string // fingerprints of the caller's own credentials, by the provider that each is for; do not modify
	Metadata     map[string]string // made by the host, never by a client; do not modify
}

// Route is provider/model of r.
func (r Request) Route() Route { return Route{Provider: r.Provider, Model: r.Model} }

// Route is one model of one provider.
type Route struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// String gives provider/model, or the provider alone.
func (r Route) String() string {
	if r.Model == "" {
		return r.Provider
	}
	return r.Provider + "/" + r.Model
}

// Wants is what the caller, or the alias that it named, demands beyond what the
// request itself uses. Names that a listener does not know are its to refuse.
type Wants struct {
	Budget    string `json:"budget,omitempty"`     // a named budget, "" the default
	Contract  string `json:"contract,omitempty"`   // a named contract, "" none
	Stream    string `json:"stream,omitempty"`     // what becomes of a stream that breaks: "fail", "buffer", "resume", "" the listener's default
	Strict    bool   `json:"strict,omitempty"`     // the chosen route and no other
	SameModel bool   `json:"same_model,omitempty"` // no other model than the chosen one
	// SameProvider: no other provider than the chosen one, since it keeps what
	// the request builds on: an answer, a conversation, a prompt. Set by the host.
	SameProvider bool `json:"same_provider,omitempty"`
}

// Shape is what a request needs from whoever serves it.
type Shape struct {
	PromptTokens  int  `json:"prompt_tokens"` // estimated, about 4 bytes a token
	Messages      int  `json:"messages"`
	Tools         int  `json:"tools"`
	Images        int  `json:"images"`
	Documents     int  `json:"documents"`
	ParallelTools bool `json:"parallel_tools"`
	Structured    bool `json:"structured"`  // the answer must follow a JSON schema
	Reasoning     bool `json:"reasoning"`   // reasoning was asked for
	ToolResult    bool `json:"tool_result"` // the last message is a tool's result
	// HostedTools: the vendor is to run tools of its own that are not known to
	// only read. An attempt that was begun cannot be taken back.
	HostedTools bool `json:"hosted_tools,omitempty"`
}

// AttemptKind is why an attempt is made.
type AttemptKind string

const (
	KindPrimary  AttemptKind = "primary"  // the first attempt, on the route the caller chose
	KindRetry    AttemptKind = "retry"    // the same target again
	KindFailover AttemptKind = "failover" // the same model another way
	KindFallback AttemptKind = "fallback" // another model
	KindProbe    AttemptKind = "probe"    // tests whether a target has recovered
	KindResume   AttemptKind = "resume"   // a new generation after a broken one
)

// Dispatch is the order for one attempt. The host obeys it: it waits, it picks
// the key, it measures the limits. A plugin never sleeps.
type Dispatch struct {
	Kind    AttemptKind
	Reason  string        // one word or short phrase for the record
	Key     string        // fingerprint of the key to use, "" for the host's choice
	Delay   time.Duration // wait this long before sending, cancellably
	Limits  Limits
	Visible Visible // what counts as visible content, zero for DefaultVisible
	// Buffer hands nothing out before the answer is complete and, where a JSON
	// schema was asked for, follows it. Whatever fails before that is invisible.
	Buffer bool
	// Resume asks for another turn if the answer breaks after visible content:
	// the listener gets the call again, with the broken attempt in [Call.Past],
	// and what it returns goes on where the caller's answer stopped, said openly.
	// The host does not ask where a repetition could do harm.
	Resume  bool
	Tag     string // opaque to the host; comes back in the Outcome and in Call.Past
	Skipped []Skip // candidates passed over on the way to this attempt, for the record
}

// Limits bound one attempt. Zero means the host's default. A call that goes on
// without its plugin has the longest limits that the plugin has set for an attempt
// of its kind, streamed or not, that became an answer.
type Limits struct {
	Connect time.Duration // TCP and TLS; default 5 s
	// FirstContent runs from sending to the first visible content, or to the whole
	// answer if it is not streamed. The default is 2 min, and for a whole answer
	// 50 ms for each token that it may have besides, at most 10 min.
	FirstContent time.Duration
	Idle         time.Duration // between meaningful events; default 20 s
	Total        time.Duration // of a committed stream; default 30 min
}

// Skip names a candidate that was not tried, and why.
type Skip struct {
	Route  Route  `json:"route"`
	Reason string `json:"reason"`
}

// Visible is a set of event kinds that count as visible content. Until the
// first of them everything is held back, and a failure stays invisible.
type Visible uint8

const (
	VisibleText Visible = 1 << iota
	VisibleReasoning
	VisibleToolCall

	DefaultVisible = VisibleText | VisibleReasoning | VisibleToolCall
)

// Shows reports whether e is visible content under v. Empty deltas never are.
func (v Visible) Shows(e Event) bool {
	if v == 0 {
		v = DefaultVisible
	}
	if e.Text == "" {
		return false
	}
	switch e.Kind {
	case KindTextDelta:
		return v&VisibleText != 0
	case KindReasoningDelta:
		return v&VisibleReasoning != 0
	case KindToolCallDelta:
		return v&VisibleToolCall != 0
	case KindStart, KindBlockStart, KindBlockEnd, KindUsage, KindFinish:
		return false
	}
	return false
}
