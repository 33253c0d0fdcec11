// Package tool is the contract between the agent and the tools that a model may
// call: what a tool says of itself, how it is run, and what its outcome means.
//
// Model calls may be repeated, tool calls may not. So each tool says what running
// it twice does ([Effect]), and a run ends in one of three ways that the ledger
// keeps apart:
//
//	a Result, nil error    it is over and known; Result.Error: the tool failed
//	an error of ErrNotRun  nothing was begun, whatever the reason
//	any other error        whether it happened is not known: the reply was lost
//
// A tool that is cancelled in its middle returns the third unless it knows better.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"spillway/sdk"
)

// Effect is what running a tool a second time does. The zero value is the one to
// be most careful with.
type Effect uint8

const (
	Write      Effect = iota // changes something, each time
	Idempotent               // changes something, the second time nothing more
	ReadOnly                 // changes nothing
)

// effects are their names, in the ledger and in profiles.
var effects = [...]string{Write: "write", Idempotent: "idempotent", ReadOnly: "read-only"}

func (e Effect) String() string {
	if int(e) < len(effects) {
		return effects[e]
	}
	return fmt.Sprintf("effect %d", uint8(e))
}

// MarshalText implements encoding.TextMarshaler.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *Effect) UnmarshalText(b []byte) error {
	for i, name := range effects {
		if name == string(b) {
			*e = Effect(i)
			return nil
		}
	}
	return fmt.Errorf("effect %q (allowed: write, idempotent, read-only)", b)
}

// Spec is what a tool says of itself.
type Spec struct {
	Name        string          // as the model calls it: letters, digits, _ and -, 64 at most
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the input, an object
	Effect      Effect
}

// Call is one call of a tool.
type Call struct {
	// Key names the user's action that this call is a part of. It stays the same
	// when the call is repeated after a crash or by another model, so a tool that
	// can tell its service may do so.
	Key   string
	Input json.RawMessage // an object
}

// Result is what the model is told.
type Result struct {
	Parts []sdk.Part `json:"parts"` // text and images
	Error bool       `json:"error,omitempty"`
}

// Text is a result of one text.
func Text(s string) Result { return Result{Parts: []sdk.Part{sdk.TextPart(s)}} }

// Failed is the result of a tool that failed, and whose failure is known.
func Failed(format string, args ...any) Result {
	r := Text(fmt.Sprintf(format, args...))
	r.Error = true
	return r
}

// ErrNotRun is the error, or is wrapped by the error, of a tool that has begun
// nothing.
var ErrNotRun = errors.New("not run")

// Tool is one tool. It is safe for concurrent use.
type Tool interface {
	Spec() Spec
	// Run runs the tool until it is done or ctx ends. See the package comment for
	// what an error means.
	Run(ctx context.Context, c Call) (Result, error)
}

// Confirmer is implemented by tools that want a person's word before some of
// their calls.
type Confirmer interface {
	Tool
	// Confirm says in one line what the call would do, and whether a person must
	// agree. It runs nothing.
	Confirm(input json.RawMessage) (what string, ask bool)
}
