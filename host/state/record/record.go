// Package record defines the story of a request as it is stored and as
// "spillway explain --json" prints it: what was asked for, which attempts were
// made, what became of each, and why.
//
// The host fills a [Request] while the call runs, from its own facts and from
// what plugins report ([Request.Decide], [Attempt.End]), and hands copies to
// package state. A record holds fingerprints, hashes, codes, numbers and the
// vendors' own error messages; never a key, a prompt or an answer.
package record

import (
	"time"

	"spillway/sdk"
)

// Request is the story of one request.
type Request struct {
	ID           string    `json:"id"`
	Started      time.Time `json:"started"`
	Dialect      string    `json:"dialect"`
	Stream       bool      `json:"stream"`
	Head         sdk.Route `json:"head"`                   // the route the caller chose
	Conversation string    `json:"conversation,omitempty"` // a hash, never the text
	Shape        sdk.Shape `json:"shape,omitzero"`         // what the request used
	Wants        sdk.Wants `json:"wants,omitzero"`         // what it demanded besides
	MaxTokens    int       `json:"max_tokens,omitempty"`
	// Graph is the number of the graph that the request ran on. It rises by one
	// each time that a process puts a changed profile in force.
	Graph uint64 `json:"graph,omitempty"`

	Outcome  Outcome    `json:"outcome"`
	Took     Duration   `json:"took_ms"`
	Attempts []Attempt  `json:"attempts"`
	Failure  *Failure   `json:"failure,omitempty"` // what the caller was told
	Reason   string     `json:"reason,omitempty"`  // why it ended without a further attempt
	Skipped  []sdk.Skip `json:"skipped,omitempty"` // candidates passed over when nothing could be sent
}

// Outcome is how a request ended. It is empty while the request runs.
type Outcome string

const (
	OK              Outcome = "ok"
	OKAfterRetry    Outcome = "ok_after_retry"
	OKAfterFailover Outcome = "ok_after_failover"
	OKAfterFallback Outcome = "ok_after_fallback"
	FailedClean     Outcome = "failed_clean"     // before anything visible was handed out
	FailedMidstream Outcome = "failed_midstream" // after it
	Cancelled       Outcome = "cancelled"        // by the caller
)

// Attempt is one dispatch of a request to one route with one key.
type Attempt struct {
	N       int             `json:"n"` // the host's number within the request, from 1
	Kind    sdk.AttemptKind `json:"kind"`
	Route   sdk.Route       `json:"route"`
	Key     string          `json:"key,omitempty"` // fingerprint
	Reason  string          `json:"reason,omitempty"`
	Delay   Duration        `json:"delay_ms,omitzero"` // before it was sent
	Sent    time.Time       `json:"sent,omitzero"`     // zero: nothing left this machine
	Skipped []sdk.Skip      `json:"skipped,omitempty"`

	Dropped   []string `json:"dropped,omitempty"`   // of the request, since the vendor's dialect cannot carry it
	Malformed int      `json:"malformed,omitempty"` // frames left out because they were no JSON

	Outcome      AttemptOutcome `json:"outcome,omitempty"`
	Committed    bool           `json:"committed"` // something visible was handed out
	FirstContent Duration       `json:"ttfc_ms,omitzero"`
	Took         Duration       `json:"took_ms"`
	Usage        sdk.Usage      `json:"usage,omitzero"`
	Estimated    bool           `json:"usage_estimated,omitempty"` // the answer was cut before its vendor had said what it used
	Finish       sdk.Finish     `json:"finish,omitempty"`

	Failure // its fields stand beside those above; without a Code it did not fail

	// What a plugin made of the failure.
	Action      sdk.Action   `json:"action,omitempty"`
	Why         string       `json:"why,omitempty"`        // reason of the action
	DecidedBy   string       `json:"decided_by,omitempty"` // rule of the action
	JudgedCode  sdk.Code     `json:"judged_code,omitempty"`
	JudgedClass sdk.Class    `json:"judged_class,omitempty"`
	JudgedScope sdk.Scope    `json:"judged_scope,omitempty"`
	Next        *sdk.Route   `json:"next,omitempty"`     // where the request went
	Circuits    []sdk.Change `json:"circuits,omitempty"` // moved by this failure
	Passed      []sdk.Skip   `json:"passed,omitempty"`   // candidates passed over on the way to Next
	NextDelay   Duration     `json:"next_delay_ms,omitzero"`
	Left        Duration     `json:"left_ms,omitzero"` // of the request's time, when that was decided
}

// AttemptOutcome is how an attempt ended. It is empty while it runs.
type AttemptOutcome string

const (
	AttemptOK        AttemptOutcome = "ok"
	AttemptFailed    AttemptOutcome = "failed"
	AttemptCancelled AttemptOutcome = "cancelled"
)
