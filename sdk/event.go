package sdk

// EventKind is what an [Event] says.
type EventKind uint8

const (
	KindStart          EventKind = iota + 1 // the answer begins: ID and Model as the vendor names them
	KindBlockStart                          // a block begins: Block, and Tool for a tool call
	KindTextDelta                           // Text
	KindReasoningDelta                      // Text
	KindToolCallDelta                       // Text: a piece of the arguments, JSON once joined
	KindBlockEnd                            // a block ends; Signature for reasoning that is signed
	KindUsage                               // Usage so far
	KindFinish                              // the last event: Finish and, if it failed, Failure
)

// BlockKind is what a block holds.
type BlockKind uint8

const (
	BlockText BlockKind = iota + 1
	BlockReasoning
	BlockToolCall
)

// Event is one step of an answer. Which fields are set follows from Kind.
// Blocks do not overlap; Index counts them from 0.
type Event struct {
	Kind  EventKind `json:"kind"`
	Index int       `json:"index,omitempty"`
	Block BlockKind `json:"block,omitempty"`
	Text  string    `json:"text,omitempty"`

	ID        string `json:"id,omitempty"`    // KindStart: the answer's id; KindBlockStart of a tool call: the call's id
	Name      string `json:"name,omitempty"`  // KindBlockStart of a tool call: the tool's name
	Model     string `json:"model,omitempty"` // KindStart
	Signature string `json:"signature,omitempty"`

	Usage   *Usage   `json:"usage,omitempty"`
	Finish  Finish   `json:"finish,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Finish is how an answer ended.
type Finish string

const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishMaxTokens Finish = "max_tokens"
	FinishRefusal   Finish = "refusal"
	FinishError     Finish = "error"   // Event.Failure says what
	FinishAborted   Finish = "aborted" // the caller went away
)

// Usage counts tokens. Zero means not reported.
type Usage struct {
	Input      int `json:"input,omitempty"` // includes CacheRead and CacheWrite
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	Reasoning  int `json:"reasoning,omitempty"` // part of Output
}

// Merge returns u with every count that v reports.
func (u Usage) Merge(v Usage) Usage {
	set := func(dst *int, src int) {
		if src != 0 {
			*dst = src
		}
	}
	set(&u.Input, v.Input)
	set(&u.Output, v.Output)
	set(&u.CacheRead, v.CacheRead)
	set(&u.CacheWrite, v.CacheWrite)
	set(&u.Reasoning, v.Reasoning)
	return u
}

// FailEvent is the finish event of a failed stream.
func FailEvent(f *Failure) Event {
	fin := FinishError
	if f.Code == CodeAborted {
		fin = FinishAborted
	}
	return Event{Kind: KindFinish, Finish: fin, Failure: f}
}
