package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"spillway/host/agent/tool"
)

// world is what a call has done to things outside, which no crash undoes.
type world struct {
	ledger  *Ledger
	action  Action
	effects int
	failed  bool // the tool said that it failed, which ends the call
}

// run runs a tool that has its effect or not, and then ends in a way.
func (w *world) run(effect bool, r tool.Result, err error) func(t *testing.T) {
	return func(t *testing.T) {
		w.ledger.Run(t.Context(), w.action, &fake{run: func(context.Context, tool.Call) (tool.Result, error) {
			if effect {
				w.effects++
			}
			w.failed = w.failed || r.Error
			return r, err
		}})
	}
}

// crash ends the process after it has begun the call, before or after the effect.
func (w *world) crash(effect bool) func(t *testing.T) {
	return func(t *testing.T) {
		h, err := w.ledger.tryHold(w.action.Key())
		if h == nil || err != nil {
			t.Fatal(h, err)
		}
		e, err := w.ledger.begin(t.Context(), Entry{Key: w.action.Key(), Action: w.action, State: Planned, Planned: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		if effect && e.State == Started {
			w.effects++
		}
		h.file.Close()
	}
}

// settle is a person who looks at the world, or cannot.
func (w *world) settle(look bool) func(t *testing.T) {
	return func(t *testing.T) {
		v := StaysUnknown
		switch {
		case look && w.effects > 0:
			v = Happened
		case look:
			v = NotHappened
		}
		w.ledger.Settle(t.Context(), w.action.Key(), v, "", "")
	}
}

func (w *world) steps() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"plan":          func(t *testing.T) { w.ledger.Plan(t.Context(), w.action) },
		"succeed":       w.run(true, tool.Text("done"), nil),
		"fail":          w.run(false, tool.Failed("no"), nil),
		"not run":       w.run(false, tool.Result{}, errEarly),
		"lose, undone":  w.run(false, tool.Result{}, errLost),
		"lose, done":    w.run(true, tool.Result{}, errLost),
		"crash, undone": w.crash(false),
		"crash, done":   w.crash(true),
		"settle":        w.settle(true),
		"leave unknown": w.settle(false),
	}
}

// situation is all that decides what may come next.
type situation struct {
	state   State // "" for a call that the ledger does not know
	verdict Verdict
	effects int
	failed  bool
}

// TestSequences takes every step from every situation that steps can lead to.
// Whatever came, in whichever order, it has happened at most once, and can be
// brought to an end.
func TestSequences(t *testing.T) {
	l := openAt(t, t.TempDir())
	seen := map[situation]string{{}: "nothing"}
	type node struct {
		at situation
		e  Entry
	}
	next := []node{{}}
	calls := 0
	fresh := func(n node) *world {
		calls++
		w := &world{ledger: l, action: action(fmt.Sprint(calls)), effects: n.at.effects, failed: n.at.failed}
		if n.at.state != "" {
			n.e.Key, n.e.Action = w.action.Key(), w.action
			if err := write(t.Context(), l.db, put, n.e); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		story := seen[n.at]
		for name := range new(world).steps() {
			w := fresh(n)
			w.steps()[name](t)
			e, err := readOne(t.Context(), l.db, w.action.Key())
			if err != nil && !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			at := situation{state: e.State, effects: w.effects, failed: w.failed}
			if e.Settled != nil {
				at.verdict = e.Settled.Verdict
			}
			if at.effects > 1 || at.effects == 1 && (at.state == Planned || at.state == "") {
				t.Fatalf("%s, %s: %+v", story, name, at)
			}
			if _, ok := seen[at]; !ok {
				seen[at] = story + ", " + name
				next = append(next, node{at, e})
			}
		}
		w := fresh(n)
		w.settle(true)(t)
		w.run(true, tool.Text("done"), nil)(t)
		e, err := l.Get(t.Context(), w.action.Key())
		if err != nil {
			t.Fatalf("%s: %v", story, err)
		}
		if done := e.State == Succeeded && w.effects == 1; !done && !(e.State == Failed && w.failed && w.effects == 0) {
			t.Errorf("%s: ends as %s after %d effects", story, e.State, w.effects)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d situations: %v", len(seen), seen)
	}
}
