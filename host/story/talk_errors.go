package story

import (
	"fmt"
	"strings"
	"time"

	"spillway/host/agent/ledger"
	"spillway/sdk"
)

// Unanswered is the end of work that no vendor could answer. begun says that each
// answer broke off in the middle.
func (t Talk) Unanswered(f *sdk.Failure, request string, begun bool) string {
	form := t.says().errors.failed
	if begun {
		form = t.says().errors.broke
	}
	return fmt.Sprintf(form, message(f.Error()), request)
}

// WorthAsking tells from when on somebody may answer.
func (t Talk) WorthAsking(at time.Time) string {
	c := t.clock()
	return fmt.Sprintf(t.says().errors.worth, c.moment(at), c.apart(at))
}

// Explains tells which command has the story of a request.
func (t Talk) Explains(command string) string { return fmt.Sprintf(t.says().errors.explains, command) }

// Undecided is the end of work that a person must decide about, of several lines.
// settle and goOn are the commands that take the person's word, but for the call's
// key, and that go on; goOn is "" where nothing is left to go on with.
func (t Talk) Undecided(e ledger.Entry, settle, goOn string) string {
	w := &t.says().errors
	if goOn == "" {
		goOn = w.lost
	}
	call := Line(e.Tool+" "+string(e.Input), maxQuoted)
	return fmt.Sprintf(w.undecided, Line(e.Tool, maxQuoted)) + "\n" + fmt.Sprintf(w.call, call, e.Key, t.words().note(e.Note), settle+" "+e.Key, goOn)
}

// GoOn tells which command goes on with the work.
func (t Talk) GoOn(command string) string { return fmt.Sprintf(t.says().errors.goOn, command) }

// Interrupted is the end of work that somebody ended; of the whole conversation if
// they did it twice.
func (t Talk) Interrupted(twice bool) string {
	if twice {
		return t.says().errors.twice
	}
	return t.says().errors.interrupted
}

// Turns, Cut and Refused are ends of work that a model has brought about.
func (t Talk) Turns() string   { return t.says().errors.turns }
func (t Talk) Cut() string     { return t.says().errors.cut }
func (t Talk) Refused() string { return t.says().errors.refused }

// NoSession: there is none of that id.
func (t Talk) NoSession(id string) string { return fmt.Sprintf(t.says().errors.noSession, id) }

// NoSessionHere: none was held in a folder.
func (t Talk) NoSessionHere(folder string) string {
	return fmt.Sprintf(t.says().errors.noSessionHere, folder)
}

// Busy: another process has the session.
func (t Talk) Busy(id string) string { return fmt.Sprintf(t.says().errors.busy, id) }

// Full: the session takes no more.
func (t Talk) Full(id string) string { return fmt.Sprintf(t.says().errors.full, id) }

// Unasked: there is nothing in the session to go on with.
func (t Talk) Unasked(id string) string { return fmt.Sprintf(t.says().errors.unasked, id) }

// Torn tells what was lost of a session.
func (t Talk) Torn(id string, size int) string { return fmt.Sprintf(t.says().errors.torn, id, size) }

// LeftOut tells that an entry's tools cannot be used.
func (t Talk) LeftOut(entry string, err error) string {
	return fmt.Sprintf(t.says().errors.leftOut, entry, sentence(err.Error()))
}

// TooMany: a command of the conversation has more arguments than it takes.
func (t Talk) TooMany(command string, most int) string {
	return fmt.Sprintf(t.says().errors.tooMany, command, most)
}

// UnknownCommand: the conversation has no such command. near are those that were
// perhaps meant.
func (t Talk) UnknownCommand(command string, near []string) string {
	w := &t.says().errors
	perhaps := ""
	if len(near) > 0 {
		perhaps = fmt.Sprintf(w.perhaps, strings.Join(near, w.or))
	}
	return fmt.Sprintf(w.unknown, command, perhaps)
}

// NoRequest: there is none of that id.
func (t Talk) NoRequest() string { return t.says().errors.noRequest }

// WantsRoute and WantsTarget: a command of the conversation lacks its argument.
func (t Talk) WantsRoute(command string) string {
	return fmt.Sprintf(t.says().errors.wantsRoute, command)
}

func (t Talk) WantsTarget(command string) string {
	return fmt.Sprintf(t.says().errors.wantsTarget, command)
}

// NoTime: a text is no duration.
func (t Talk) NoTime(text string) string { return fmt.Sprintf(t.says().errors.noTime, text) }

// TooLong: a message is larger than is allowed.
func (t Talk) TooLong(megabytes int) string { return fmt.Sprintf(t.says().errors.tooLong, megabytes) }
