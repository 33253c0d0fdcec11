package agent

import (
	"context"
	"fmt"

	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
)

// consent asks a person whether a call may be made, if its tool wants that.
// refusal is what the model is told if it may not. A call that was begun had its
// consent.
func (a *Agent) consent(ctx context.Context, j job) (refusal string, err error) {
	c, ok := j.tool.(tool.Confirmer)
	if !ok {
		return "", nil
	}
	what, ask := c.Confirm(j.call.Input)
	if !ask || a.begun(ctx, j) {
		return "", nil
	}
	a.mu.Lock() // one question at a time
	defer a.mu.Unlock()
	switch {
	case a.allowed[j.call.Tool]:
		return "", nil
	case a.o.Confirm == nil:
		return fmt.Sprintf("not run: a person would have to agree to this, and nobody is there to be asked: %s", what), nil
	}
	answer, err := a.o.Confirm(ctx, Question{Call: j.call, What: what, Depth: a.depth})
	switch {
	case err != nil:
		return "", err
	case answer == Always:
		a.allowed[j.call.Tool] = true
		return "", nil
	case answer == Once:
		return "", nil
	}
	return "not run: the user does not want this: " + what, nil
}

// begun reports whether the ledger knows more of a call than that it is planned.
func (a *Agent) begun(ctx context.Context, j job) bool {
	if a.o.Ledger == nil || j.reads() {
		return false
	}
	e, err := a.o.Ledger.Get(ctx, j.action.Key())
	return err == nil && e.State != ledger.Planned
}

// decide asks a person what became of a call. again says that the ledger has an
// answer now.
func (a *Agent) decide(ctx context.Context, e ledger.Entry) (again bool, err error) {
	if a.o.Decide == nil || ctx.Err() != nil {
		return false, nil
	}
	a.mu.Lock()
	d, err := a.o.Decide(ctx, Unknown{Session: a.o.Session.ID(), Entry: e, Depth: a.depth})
	a.mu.Unlock()
	if err != nil || d.Verdict == "" {
		return false, err
	}
	_, err = a.o.Ledger.Settle(ctx, e.Key, d.Verdict, d.Note, "")
	return err == nil, err
}
