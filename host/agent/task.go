package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

const (
	taskName = "task"
	// maxDepth is how deep agents nest: deeper ones have no task tool.
	maxDepth = 3
	// maxTask bounds what a nested agent is told, in bytes.
	maxTask = 256 << 10
)

// task is the tool by which a model has another agent do a part of the work.
//
// It is idempotent although that agent may write: a call that is repeated has the
// same key, so it finds the nested session where it stopped, whose calls have the
// same keys in the ledger.
type task struct{ parent *Agent }

var _ tool.Tool = (*task)(nil)

// Spec implements tool.Tool.
func (t *task) Spec() tool.Spec {
	effect := tool.Idempotent
	if t.parent.o.Ledger == nil { // then no tool does more than read
		effect = tool.ReadOnly
	}
	return tool.Spec{
		Name: taskName,
		Description: "Have another agent, which has the same tools but knows nothing of this conversation, do a part of the work. " +
			"Its last answer is the result. Say in the prompt all that it has to know.",
		Schema: json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","description":"what to do, and what to answer"}},"required":["prompt"],"additionalProperties":false}`),
		Effect: effect,
	}
}

// Run implements tool.Tool. What nobody could answer is a result that failed: the
// vendors have the blame, and the parent goes on.
func (t *task) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrNotRun, err)
	}
	if in.Prompt == "" || len(in.Prompt) > maxTask {
		return tool.Failed("prompt has %d bytes (allowed: 1 to %d)", len(in.Prompt), maxTask), nil
	}
	s, err := t.session(c.Key)
	if err != nil {
		return tool.Failed("the nested agent has no session: %v", err), nil
	}
	defer s.Close()
	o := t.parent.o
	o.Session = s
	child, err := nested(o, t.parent.depth+1, t.parent.shared)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	if session.Read(s.Entries()).User == "" {
		err = child.Send(ctx, sdk.TextPart(in.Prompt))
	} else {
		err = child.Go(ctx)
	}
	switch {
	case err == nil:
		return tool.Text(child.Text()), nil
	case errors.Is(err, ErrInterrupted), isUndecided(err):
		// The nested session holds all that was done: the call goes on there.
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrNotRun, err)
	}
	return tool.Failed("the nested agent did not come to its end: %v\n\n%s", err, child.Text()), nil
}

// session is the nested agent's, which the call's key names.
func (t *task) session(key string) (*session.Session, error) {
	sum := sha256.Sum256([]byte(key))
	name := hex.EncodeToString(sum[:6])
	if parent := t.parent.o.Session; t.parent.o.Child != nil {
		return t.parent.o.Child(parent, name)
	}
	return session.NewMemory(t.parent.o.Session.ID()+"."+name, t.parent.folder()), nil
}
