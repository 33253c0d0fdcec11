package ledger

import (
	"errors"
	"time"

	"spillway/host/agent/tool"
)

// State is how far a call is.
type State string

const (
	Planned   State = "planned"   // nothing was begun
	Started   State = "started"   // somebody is running it
	Succeeded State = "succeeded" // over, and known
	Failed    State = "failed"    // over, and known: Result.Error
	Unknown   State = "unknown"   // it may have happened
)

// States are all of them, those first that need a person.
func States() []State { return []State{Unknown, Started, Planned, Failed, Succeeded} }

// Entry is what the ledger knows of a call.
type Entry struct {
	Key string `json:"key"`
	Action
	State State `json:"state"`
	// Result is the answer for the model. As recorded it may be cut, which it
	// then says.
	Result  *tool.Result `json:"result,omitempty"`
	Planned time.Time    `json:"planned"`
	Started time.Time    `json:"started,omitzero"` // the last time
	Ended   time.Time    `json:"ended,omitzero"`
	Runs    int          `json:"runs"`           // how often the tool was called
	Note    string       `json:"note,omitempty"` // why it is unknown, or was not begun
	Settled *Settlement  `json:"settled,omitempty"`
}

// NeedsPerson reports whether nothing but a person can tell what became of the call.
func (e Entry) NeedsPerson() bool {
	return e.State == Unknown && !e.answered() && e.Effect == tool.Write
}

// answered reports whether a person has said that it stays unknown.
func (e Entry) answered() bool {
	return e.State == Unknown && e.Settled != nil && e.Settled.Verdict == StaysUnknown
}

// Verdict is what a person says of an unknown call.
type Verdict string

const (
	Happened     Verdict = "happened"     // it is done: it is not run again
	NotHappened  Verdict = "not-happened" // it may be run
	StaysUnknown Verdict = "unknown"      // nobody can tell, and the model is told so
)

// Verdicts are all of them.
func Verdicts() []Verdict { return []Verdict{Happened, NotHappened, StaysUnknown} }

// Settlement is a person's word on an unknown call.
type Settlement struct {
	Verdict Verdict   `json:"verdict"`
	At      time.Time `json:"at"`
	Note    string    `json:"note,omitempty"` // for people
}

var (
	// ErrUnusable means that the ledger cannot be relied on, so that nothing which
	// needs it may run.
	ErrUnusable = errors.New("the ledger of tool calls is unusable")
	// ErrUnknown means that a call may have happened, and that a person has to
	// settle it before it goes on.
	ErrUnknown = errors.New("it is not known whether the tool call happened")
	// ErrInProgress means that somebody else is running the call.
	ErrInProgress = errors.New("the tool call is in progress")
	// ErrNotFound means that the ledger has no call of that key.
	ErrNotFound = errors.New("no such tool call")
	// ErrKnown means that a call is not unknown, so there is nothing to settle.
	ErrKnown = errors.New("the tool call is not unknown")
)
