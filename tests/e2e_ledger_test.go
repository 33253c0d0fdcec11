package tests

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rogpeppe/go-internal/testscript"

	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
)

// ending is a tool whose calls end with an error, or well without one.
type ending struct{ err error }

func (ending) Spec() tool.Spec { return tool.Spec{Name: "shell"} }

func (e ending) Run(context.Context, tool.Call) (tool.Result, error) {
	return tool.Text("done"), e.err
}

// toolCall records a tool call in the ledger of a state folder: one that is
// done, or one of which nobody knows.
func toolCall(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 3 && !neg, "toolcall FOLDER done|lost COMMAND")
	var t ending
	if args[1] == "lost" {
		t.err = errors.New("connection lost")
	}
	input, err := json.Marshal(map[string]string{"command": args[2]})
	ts.Check(err)
	l, err := ledger.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer l.Close()
	_, err = l.Run(context.Background(), ledger.Action{Session: "s1", Message: "m1", Tool: "shell", Input: input}, t)
	if err != nil && !errors.Is(err, ledger.ErrUnknown) {
		ts.Fatalf("%v", err)
	}
}
