package agent

import (
	"errors"
	"fmt"

	"spillway/host/agent/ledger"
	"spillway/sdk"
)

var (
	// ErrInterrupted: the user, or whoever runs the agent, ended the work.
	ErrInterrupted = errors.New("interrupted")
	// ErrTurns: the model does not come to an end.
	ErrTurns = errors.New("too many turns")
	// ErrCut: the last answer was cut at the length that the vendor allows.
	ErrCut = errors.New("the answer was cut at the vendor's limit of its length")
	// ErrRefused: the model does not want to answer.
	ErrRefused = errors.New("the model refused to answer")
)

// FailedError is a model call that nobody answered.
type FailedError struct {
	Failure *sdk.Failure
	Request string // for explain
	Begun   bool   // its answer broke off in the middle, each time
}

func (e *FailedError) Error() string {
	if e.Begun {
		return fmt.Sprintf("the answer broke off: %v (request %s)", e.Failure, e.Request)
	}
	return fmt.Sprintf("nobody could answer: %v (request %s)", e.Failure, e.Request)
}

func (e *FailedError) Unwrap() error { return e.Failure }

// UndecidedError is a call that changes something and of which nobody knows
// whether it happened. A person must say so before the work can go on.
type UndecidedError struct {
	Session string
	Entry   ledger.Entry
}

func (e *UndecidedError) Error() string {
	return fmt.Sprintf("it is not known whether %s happened: a person must decide", e.Entry.Tool)
}

func (e *UndecidedError) Unwrap() error { return ledger.ErrUnknown }
