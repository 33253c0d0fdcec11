package session

import (
	"time"

	"spillway/sdk"
)

// Kind is what an entry tells.
type Kind string

const (
	KindSession     Kind = "session"     // the first one: Version, Folder
	KindUser        Kind = "user"        // ID, Parts
	KindAnswer      Kind = "answer"      // an answer that was accepted: Parts, Finish, Invalid, Route, Request, Usage
	KindResult      Kind = "result"      // of a tool: ID of the call, Parts, Failed
	KindWithdrawn   Kind = "withdrawn"   // an answer that broke off: Parts, Route, Request, Text says why; the model is not told
	KindInterrupted Kind = "interrupted" // by the user: Parts as far as they came
	KindSummary     Kind = "summary"     // Text sums up the entries before number Covers
)

// version is that of the file's form.
const version = 1

// Entry is one line of a session. Which fields are set follows from Kind.
type Entry struct {
	Kind    Kind       `json:"kind"`
	At      time.Time  `json:"at"`
	Version int        `json:"version,omitempty"`
	Folder  string     `json:"folder,omitempty"` // where the agent works
	ID      string     `json:"id,omitempty"`
	Parts   []sdk.Part `json:"parts,omitempty"`
	Failed  bool       `json:"failed,omitempty"`
	Finish  sdk.Finish `json:"finish,omitempty"`
	// Invalid is what the model gave as the arguments of a call, by the call's id,
	// where that was no JSON object.
	Invalid map[string]string `json:"invalid,omitempty"`
	Route   string            `json:"route,omitempty"`
	Request string            `json:"request,omitempty"` // for explain
	Usage   *sdk.Usage        `json:"usage,omitempty"`
	Text    string            `json:"text,omitempty"`
	Covers  int               `json:"covers,omitempty"`
}

// Calls are the tool calls of an answer.
func (e Entry) Calls() []sdk.Part {
	var calls []sdk.Part
	for _, p := range e.Parts {
		if p.Kind == sdk.PartToolCall {
			calls = append(calls, p)
		}
	}
	return calls
}
