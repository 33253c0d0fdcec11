package sdk

import (
	"context"
	"time"
)

// Hook listens to llm/stream.
//
// LLMStream is called for every model call that the plugin's [Manifest] asks
// for, concurrently. It may return an error for a local fault, or a *[Failure]
// as the error; the host turns both into the stream's finish event. It must
// return before the host's decision timer ends; the timer runs only while the
// listener holds the turn, not while an attempt is under way.
type Hook interface {
	LLMStream(ctx context.Context, call *Call, next Next) (Stream, error)
}

// HookFunc is a function as a Hook.
type HookFunc func(ctx context.Context, call *Call, next Next) (Stream, error)

// LLMStream calls f.
func (f HookFunc) LLMStream(ctx context.Context, call *Call, next Next) (Stream, error) {
	return f(ctx, call, next)
}

// Next passes a call to the following listener, or to the vendor after the
// last. It is spent by its first use; a second one returns ErrNextSpent.
type Next func(ctx context.Context, r Request) (Stream, error)

// Call is one turn of a listener.
type Call struct {
	ID      string  // of the caller's request, the same for all its attempts; "explain ID" tells its story
	Depth   int     // 0 for the caller's own call, raised by the host on each re-entry
	Request Request // as it reached this listener

	// Past are the attempts that were made for this turn: by a predecessor of this
	// process before it was lost, or by a [Plan]. Next may be spent. If one of them is Committed the call
	// is to resume a broken answer, as its [Dispatch] had asked.
	Past []Attempted

	// Running is set if the plugin's [Plan] has ordered an attempt for this call
	// that shows nothing yet and whose class has left the plan since. Next is spent.
	Running *Running

	core CallCore
}

// Running is an attempt under way. Its stream can be awaited, closed and returned,
// but not ranged over.
type Running struct {
	Attempted // without a failure
	Stream    Stream
}

// Attempted is an attempt that has failed.
type Attempted struct {
	Route     Route
	Key       string
	Kind      AttemptKind
	Tag       string
	Started   time.Time
	Failure   *Failure
	Committed bool // visible content had come; its [Outcome] is told as well
	Planned   bool // a [Plan] had ordered it, and no process has been told of it before
}

// CallCore is what a runtime gives a call. Plugins do not implement it.
type CallCore interface {
	Reenter(ctx context.Context, r Request) (Stream, error)
	Prompt(ctx context.Context) (*Prompt, error)
}

// NewCall is for runtimes: it returns a call served by core.
func NewCall(core CallCore, id string, depth int, r Request) *Call {
	return &Call{ID: id, Depth: depth, Request: r, core: core}
}

// Reenter runs the whole waterfall again with r, one level deeper. It returns
// ErrTooDeep beyond the host's limit of 16.
func (c *Call) Reenter(ctx context.Context, r Request) (Stream, error) { return c.core.Reenter(ctx, r) }

// Prompt fetches what the call says. It costs a transfer of the whole prompt.
// The result is the caller's own copy.
func (c *Call) Prompt(ctx context.Context) (*Prompt, error) { return c.core.Prompt(ctx) }

// Outcome tells how an attempt that a listener returned has ended. Outcomes
// are numbered and delivered at least once, to the plugin's next process if
// the one that started the attempt is gone.
type Outcome struct {
	Seq     uint64 // rises by one; the same number again is a repetition
	Call    string
	Attempt int // the host's number of the dispatch within the request
	Route   Route
	Key     string
	Kind    AttemptKind
	Tag     string

	Planned      bool   // a [Plan] had ordered the attempt: nobody was asked
	Conversation string // as in Request

	Committed bool     // visible content had come
	Failure   *Failure // nil: a clean end
	Finish    Finish

	Started      time.Time     // when it was sent
	FirstContent time.Duration // from then to the first visible content, 0 if there was none
	Took         time.Duration
	Usage        Usage
	Stream       bool
	PromptTokens int // estimated, as in Shape
}
