package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent"
	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

// A nested agent has a conversation of its own; its last answer is the result.
func TestTask(t *testing.T) {
	d := newDesk(t,
		calls(`task {"prompt":"write b"}`),
		calls(`note {"text":"b"}`), says("b is written"), // the nested one
		says("done"))
	if err := d.send(t, "go"); err != nil {
		t.Fatal(err)
	}
	nested := d.models.in[1]
	if !strings.HasPrefix(nested.Conversation, d.session.ID()+".") {
		t.Errorf("conversation: got %q", nested.Conversation)
	}
	if got := d.models.prompts[1].Messages; len(got) != 1 || got[0].Parts[0].Text != "write b" {
		t.Errorf("the nested agent was told %v", got)
	}
	last := d.models.prompts[3].Messages
	if got := last[len(last)-1].Parts[0].Result[0].Text; got != "b is written" {
		t.Errorf("result: got %q", got)
	}
	if depth := d.told(agent.EventToolStart)[1].Depth; depth != 1 {
		t.Errorf("depth: got %d", depth)
	}
}

// Work that stops while a nested agent is at it goes on in there, and writes
// nothing twice.
func TestTaskGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stop := func(context.Context, *sdk.Prompt) sdk.Stream {
		cancel()
		return sdk.Fail(sdk.NewFailure(sdk.CodeAborted, "test", "gone"))
	}
	d := newDesk(t, calls(`task {"prompt":"write b"}`), calls(`note {"text":"b"}`), stop)
	if err := d.agent(t).Send(ctx, sdk.TextPart("go")); !errors.Is(err, agent.ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	d.again(t)
	d.models.answers = []answer{says("b is written"), says("done")}
	if err := d.agent(t).Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, d.note.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

// What a nested agent does not know, its parent does not know either: a person is
// asked about the write itself, not about the task.
func TestTaskUndecided(t *testing.T) {
	d := newDesk(t, calls(`task {"prompt":"write b"}`), calls(`note {"text":"b"}`), says("b is written"), says("done"))
	d.note.run = func(context.Context, string) (tool.Result, error) { return tool.Result{}, errors.New("lost") }
	err := d.send(t, "go")
	u, ok := errors.AsType[*agent.UndecidedError](err)
	if !ok || u.Entry.Tool != "note" {
		t.Fatalf("got %v", err)
	}
	d.note.run = nil
	if _, err := d.options.Ledger.Settle(t.Context(), u.Entry.Key, ledger.NotHappened, "", ""); err != nil {
		t.Fatal(err)
	}
	d.again(t)
	if err := d.agent(t).Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "b"}, d.note.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

// Agents do not nest without end.
func TestTaskDepth(t *testing.T) {
	d := newDesk(t,
		calls(`task {"prompt":"1"}`), calls(`task {"prompt":"2"}`), calls(`task {"prompt":"3"}`),
		says("3"), says("2"), says("1"), says("done"))
	if err := d.send(t, "go"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 2, 2, 1} {
		if got := d.models.in[i].Shape.Tools; got != want {
			t.Errorf("depth %d: got %d tools, want %d", i, got, want)
		}
	}
}
