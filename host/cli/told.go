package cli

import (
	"errors"
	"time"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/agent/session"
	"spillway/host/story"
)

// talk is how people at standard error are spoken to.
func (a *app) talk() story.Talk { return story.Talk{Options: a.telling(a.stderr)} }

// toldError is an error in the words of the reader's language.
type toldError struct {
	error
	says string
}

func (e toldError) Error() string { return e.says }

func (e toldError) Unwrap() error { return e.error }

// told is an error of an agent's work in words, with what to do about it. Others,
// and those that are in words already, stay as they are.
func (w *work) told(err error) error {
	if _, told := errors.AsType[toldError](err); told || err == nil {
		return err
	}
	says := ""
	u, undecided := errors.AsType[*agent.UndecidedError](err)
	f, failed := errors.AsType[*agent.FailedError](err)
	switch {
	case undecided:
		return toldError{err, w.talk.Undecided(u.Entry, "spillway ledger settle"+w.flag, w.goOn())}
	case failed:
		says = w.talk.Unanswered(f.Failure, f.Request, f.Begun)
		now := time.Now()
		if wait, _ := host.Retry(f.Failure, now); wait > 0 {
			says += "\n" + w.talk.WorthAsking(now.Add(wait))
		}
		says += "\n" + w.talk.Explains("spillway explain"+w.flag+" "+f.Request)
	case errors.Is(err, agent.ErrInterrupted):
		says = w.talk.Interrupted(errors.Is(err, errEnded))
	case errors.Is(err, agent.ErrTurns):
		says = w.talk.Turns()
	case errors.Is(err, agent.ErrCut):
		says = w.talk.Cut()
	case errors.Is(err, agent.ErrRefused):
		says = w.talk.Refused()
	case errors.Is(err, session.ErrFull):
		says = w.talk.Full(w.session.ID())
	default:
		return err
	}
	c := session.Read(w.session.Entries())
	if w.session.Kept() && (errors.Is(err, agent.ErrInterrupted) && c.User != "" || failed && len(c.Calls) > 0) {
		says += "\n" + w.talk.GoOn(w.goOn())
	}
	return toldError{err, says}
}

// goOn is the command that goes on with the session, "" if it is not kept.
func (w *work) goOn() string {
	if !w.session.Kept() {
		return ""
	}
	return "spillway run" + w.flag + " --resume " + w.session.ID()
}

// noSession is why a session that a person named cannot be had.
func noSession(err error, id string, t story.Talk) error {
	switch {
	case errors.Is(err, session.ErrNotFound):
		return usageError{toldError{err, t.NoSession(id)}}
	case errors.Is(err, session.ErrBusy):
		return toldError{err, t.Busy(id)}
	}
	return err
}
