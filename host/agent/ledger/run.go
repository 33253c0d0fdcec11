package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"spillway/host/agent/tool"
)

func (a Action) recorded() bool { return a.Effect != tool.ReadOnly }

// Run runs t for the action unless it was run before, and returns what is known
// then. While somebody else runs the same action it waits.
//
//	nil             Entry.Result is the answer: the tool's, a recorded one, or a person's
//	ErrUnknown      it may have happened; a person must settle it. If an idempotent
//	                tool's outcome was lost just now, Run may be called again
//	tool.ErrNotRun  nothing was begun: so said the tool, or the ledger did not let it
//	ErrInProgress   ctx has ended while somebody else was running it
//	any other       ctx has ended while a read-only tool ran
//
// A read-only tool that ends with an error has failed, and its Result says so.
func (l *Ledger) Run(ctx context.Context, a Action, t tool.Tool) (Entry, error) {
	a.Effect = t.Spec().Effect
	e := Entry{Key: a.Key(), Action: a, State: Planned, Planned: time.Now()}
	if err := a.check(); err != nil {
		return e, fmt.Errorf("%w: %w", tool.ErrNotRun, err)
	}
	if !a.recorded() {
		return look(ctx, e, t)
	}
	held, err := l.hold(ctx, e.Key)
	switch {
	case errors.Is(err, ErrInProgress):
		e.State = Started
		return e, err
	case err != nil:
		return e, fmt.Errorf("%w: %w", tool.ErrNotRun, l.unusable(err))
	}
	defer held.release() // a call that has no outcome by then is unknown

	e, err = l.begin(ctx, e)
	switch {
	case err != nil:
		return e, fmt.Errorf("%w: %w", tool.ErrNotRun, err)
	case e.State == Unknown && !e.answered():
		return e, fmt.Errorf("%w: %s %s: %s", ErrUnknown, e.Tool, e.Key, e.Note)
	case e.State != Started:
		return e, nil
	}
	result, err := t.Run(ctx, tool.Call{Key: e.Key, Input: a.Input})
	return l.finish(ctx, e, result, err)
}

// look runs a read-only tool, of which nothing is recorded.
func look(ctx context.Context, e Entry, t tool.Tool) (Entry, error) {
	e.Started = time.Now()
	result, err := t.Run(ctx, tool.Call{Key: e.Key, Input: e.Input})
	e.Ended = time.Now()
	if err != nil && (ctx.Err() != nil || errors.Is(err, tool.ErrNotRun)) {
		return e, err
	}
	if err != nil {
		result = tool.Failed("%v", err)
	}
	e.ended(result)
	return e, nil
}

// ended is the outcome of a call whose tool has answered.
func (e *Entry) ended(r tool.Result) {
	e.State, e.Result, e.Note = Succeeded, &r, ""
	if r.Error {
		e.State = Failed
	}
}

// begin decides what becomes of e, a planned call that this process holds. A call
// that is Started then is to be run, and is so on the disk; any other has its
// outcome, or is unknown.
func (l *Ledger) begin(ctx context.Context, e Entry) (Entry, error) {
	if l.runs.Add(1)%trimEvery == 0 {
		if err := l.trim(ctx); err != nil {
			return e, err
		}
	}
	var was Entry
	err := l.change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		was, err = readOne(ctx, tx, e.Key)
		switch {
		case errors.Is(err, ErrNotFound):
			was = e
		case err != nil:
			return err
		}
		if was.State == Started { // by somebody who no longer holds it
			was.lose()
		}
		idempotent := was.Effect == tool.Idempotent && e.Effect == tool.Idempotent
		if was.State == Planned || was.State == Unknown && idempotent && !was.answered() {
			was.State, was.Started, was.Effect = Started, time.Now(), e.Effect
			was.Ended, was.Note = time.Time{}, ""
			was.Runs++
		}
		return write(ctx, tx, put, was)
	})
	if err != nil { // then nothing has changed
		return e, err
	}
	return was, nil
}

// LostNote is why the outcome of a call is unknown that was begun and that nobody
// runs any more.
const LostNote = "whoever ran it ended before its outcome was recorded"

// lose is the end of a started call that nobody runs any more.
func (e *Entry) lose() { e.State, e.Ended, e.Note = Unknown, time.Now(), LostNote }

// finish records what the tool answered.
func (l *Ledger) finish(ctx context.Context, e Entry, result tool.Result, err error) (Entry, error) {
	e.Ended = time.Now()
	switch {
	case err == nil:
		e.ended(result)
	case errors.Is(err, tool.ErrNotRun):
		e.State, e.Note = Planned, err.Error()
	default:
		e.State, e.Note = Unknown, err.Error()
		err = fmt.Errorf("%w: %s %s: %w", ErrUnknown, e.Tool, e.Key, err)
	}
	lost := l.change(context.WithoutCancel(ctx), func(ctx context.Context, tx *sql.Tx) error {
		return write(ctx, tx, put, e)
	})
	if lost != nil {
		e.State = Unknown
		e.Note = fmt.Sprintf("it ran, but its outcome was not recorded: %v", lost)
		return e, fmt.Errorf("%w: %s %s ran, but its outcome was not recorded: %w", ErrUnknown, e.Tool, e.Key, lost)
	}
	return e, err
}
