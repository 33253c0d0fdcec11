package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

// Talk has what "spillway run" and "spillway chat" say to a person while an agent
// works: lines without their ends, unless a comment says otherwise. What strangers
// say is quoted as Line does it.
type Talk struct{ Options }

// maxQuoted bounds what a line quotes, in columns.
const maxQuoted = 100

func (t Talk) says() *talkWords { return &t.words().talk }

// Doing is a tool call that begins. what is the call in its tool's words, "" if it
// has none.
func (t Talk) Doing(name string, input json.RawMessage, what string) string {
	if what == "" {
		what = name + " " + string(input)
	}
	return "● " + Line(t.words().act(what), maxQuoted)
}

// maxAsked bounds what a person is asked about, in columns. Who agrees must have
// seen it whole: tools shorten their questions themselves, and say by how much.
const maxAsked = 64_000

// Asking is what a person is to agree to, with all that stands in it: what looks
// like a key may be the part of a command that does harm.
func (t Talk) Asking(what string) string { return asked(t.words().act(what), maxAsked) }

// Input is what a call is about that may have happened, as Asking shows it.
func (t Talk) Input(input json.RawMessage) string { return asked(string(input), maxAsked) }

// Failed is what a tool said that failed.
func (t Talk) Failed(said string) string {
	return fmt.Sprintf(t.says().failed, Line(said, maxQuoted))
}

// Withdrawn tells that an answer does not count. shown says that somebody may have
// read a part of it.
func (t Talk) Withdrawn(f error, shown bool) string {
	form := t.says().broke
	if shown {
		form = t.says().withdrawn
	}
	return fmt.Sprintf(form, Line(f.Error(), maxQuoted))
}

// Waiting tells that nobody can serve, and how long that is waited out.
func (t Talk) Waiting(f error, wait time.Duration) string {
	return t.NobodyServes(f) + t.words().colon + fmt.Sprintf(t.says().again, t.clock().span(wait))
}

// NobodyServes tells why.
func (t Talk) NobodyServes(f error) string {
	return fmt.Sprintf(t.says().waiting, Line(f.Error(), maxQuoted))
}

// CountingDown tells how long it is until somebody is asked again, and how to end
// that wait.
func (t Talk) CountingDown(left time.Duration) string {
	return fmt.Sprintf(t.says().again, t.clock().span(left)) + t.says().endsWait
}

// Expecting tells who is asked, and for how long already, in a line that the screen
// does not break.
func (t Talk) Expecting(r sdk.Route, passed time.Duration) string {
	return clip(fmt.Sprintf(t.says().asking, name(r), t.clock().span(passed)), t.width()-1)
}

// Starting tells which servers of tools have not started yet.
func (t Talk) Starting(servers []string) string {
	return fmt.Sprintf(t.says().starting, Line(strings.Join(servers, t.says().comma), maxQuoted))
}

// SummedUp tells that messages were.
func (t Talk) SummedUp(messages int) string { return fmt.Sprintf(t.says().summedUp, messages) }

// Stopped marks where an answer was interrupted.
func (t Talk) Stopped() string { return t.says().stopped }

// Allow asks whether a tool may be called: y, n or a.
func (t Talk) Allow(name string) string {
	return t.says().allow + fmt.Sprintf(t.says().allowIt, Line(name, maxQuoted))
}

// Unknown heads a question about a call that may have happened.
func (t Talk) Unknown(name string) string {
	return fmt.Sprintf(t.says().outcome, Line(name, maxQuoted))
}

// Why is why the outcome of a call is unknown.
func (t Talk) Why(note string) string { return fmt.Sprintf(t.says().why, t.words().note(note)) }

// Outcomes asks what became of a call: h, n, t or s.
func (t Talk) Outcomes() string { return t.says().outcomes }

// Serving is the status line of a conversation: the route that serves, "" for none,
// the session's id, "" if it is not kept, and the route that everything is pinned
// to, "" for none.
func (t Talk) Serving(route, session, pin string) string {
	w := t.says()
	if route == "" {
		route = w.nobody
	}
	if session == "" {
		session = w.notKept
	}
	line := Line(route, maxQuoted) + " · " + session
	if pin != "" {
		line += " · " + fmt.Sprintf(w.pinned, Line(pin, maxQuoted))
	}
	return line
}

// AskedFirst tells who is from now on.
func (t Talk) AskedFirst(r sdk.Route) string { return fmt.Sprintf(t.says().askedFirst, name(r)) }

// Unadvertised tells that a provider does not list a model. near are those that were
// perhaps meant.
func (t Talk) Unadvertised(provider, model string, near []string) string {
	w := t.words()
	says := fmt.Sprintf(w.talk.unadvertised, provider, model)
	if len(near) > 0 {
		says += w.open + fmt.Sprintf(w.talk.nearest, Line(strings.Join(near, ", "), maxQuoted)) + w.close
	}
	return says
}

// Command is what a command of the conversation is for, "" if there is none of that
// name.
func (t Talk) Command(name string) string { return t.words().find(commands, name) }

// HelpEnd is what stands below the commands. fence is what long messages stand
// between.
func (t Talk) HelpEnd(fence string) string {
	return fmt.Sprintf(t.says().helpLong, fence) + "\n" + t.says().helpEnd
}

// Tools are the tools that a model may call, a line each with its end.
func (t Talk) Tools(all []tool.Spec) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%s %s %s\n", pad(Line(s.Name, maxQuoted), 20), pad(t.says().effects.of(s.Effect), 10), Line(s.Description, maxQuoted))
	}
	if len(all) == 0 {
		return t.says().noTools + "\n"
	}
	return b.String()
}

func (w *effectWords) of(e tool.Effect) string {
	switch e {
	case tool.ReadOnly:
		return w.readOnly
	case tool.Idempotent:
		return w.idempotent
	case tool.Write:
	}
	return w.write
}
