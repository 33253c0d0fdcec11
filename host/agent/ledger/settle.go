package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"spillway/host/agent/tool"
)

// What the model is told when a person knows no more than this.
const (
	happenedText = "This was done: the tool's answer was lost, and a person has looked. What it printed is not known."
	unknownText  = "It is not known whether this was done: the tool's answer was lost, and nobody can tell. Look at the state of things before you do it again."
)

// settleWait is for others that look whether the call is being run; one that is
// takes longer.
const settleWait = time.Second

// Settle records a person's word on an unknown call. Text is what the model is
// told as the result, if there is one and the person knows better than the ledger.
//
// The error is ErrNotFound, ErrInProgress while it is being run, or ErrKnown.
func (l *Ledger) Settle(ctx context.Context, key string, v Verdict, note, text string) (Entry, error) {
	e, err := l.Get(ctx, key)
	if err != nil {
		return Entry{}, err
	}
	brief, end := context.WithTimeout(ctx, settleWait)
	defer end()
	held, err := l.hold(brief, key)
	if err != nil {
		return Entry{}, err
	}
	defer held.release()
	err = l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if e, err = readOne(ctx, tx, key); err != nil {
			return err
		}
		if err := e.settle(v, text); err != nil {
			return err
		}
		e.Settled = &Settlement{Verdict: v, At: time.Now(), Note: note}
		return write(ctx, tx, put, e)
	})
	return e, err
}

// settle changes the call as a person's word has it.
func (e *Entry) settle(v Verdict, text string) error {
	if e.State != Unknown {
		return fmt.Errorf("%w: %s is %s", ErrKnown, e.Key, e.State)
	}
	or := func(other string) tool.Result {
		if text != "" {
			return tool.Text(text)
		}
		return tool.Text(other)
	}
	switch v {
	case Happened:
		e.ended(or(happenedText))
	case NotHappened:
		e.State, e.Result = Planned, nil
	case StaysUnknown:
		r := or(unknownText)
		r.Error = true
		e.Result = &r
	default:
		return fmt.Errorf("verdict %q (allowed: %s, %s, %s)", v, Happened, NotHappened, StaysUnknown)
	}
	return nil
}

// reap makes calls unknown that are started and that nobody runs.
func (l *Ledger) reap(ctx context.Context) error {
	started, err := read(ctx, l.db, "WHERE state = ?", string(Started))
	if err != nil {
		return l.unusable(err)
	}
	for _, e := range started {
		if err := l.reapOne(ctx, e.Key); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) reapOne(ctx context.Context, key string) error {
	held, err := l.tryHold(key)
	if err != nil {
		return l.unusable(err)
	}
	if held == nil {
		return nil
	}
	defer held.release()
	return l.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		e, err := readOne(ctx, tx, key)
		if err != nil || e.State != Started { // it has ended meanwhile
			return err
		}
		e.lose()
		return write(ctx, tx, put, e)
	})
}
