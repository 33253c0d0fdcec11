package session

import (
	"fmt"
	"slices"
	"strings"

	"spillway/sdk"
)

// Conversation is where a session stands.
type Conversation struct {
	// Messages are what the model is told. While calls are pending they end with
	// the answer that made them.
	Messages []sdk.Message
	User     string     // id of the message that is being answered, "" if there is none
	Answers  int        // accepted since that message
	Calls    []sdk.Part // in those answers, in their order
	// Pending are the last calls of these, those without a result, as the last
	// answer made them.
	Pending []sdk.Part
	Answer  *Entry // the last one accepted since the user's message, nil if there is none
	Done    bool   // the last word is an answer that calls nothing, or there is none at all
}

// Words that stand in a conversation where something did not go as the model
// would expect. They are said openly, as the user's.
const (
	interruptedNote = "[The user interrupted you here. What stands above is not complete, and nothing more was done.]"
	notRunText      = "not run: the user went on with another message"
)

// Read makes a conversation of a session's entries. It does not modify them.
func Read(entries []Entry) Conversation {
	var c Conversation
	c.count(entries)
	first, last := 0, -1 // the entries that a summary does not cover, and it
	for i, e := range entries {
		if e.Kind == KindSummary && e.Covers <= i {
			first, last = e.Covers, i
		}
	}
	var r reader
	if last >= 0 {
		r.say(sdk.RoleUser, sdk.TextPart(summaryText(entries, entries[last])))
	}
	for _, e := range entries[first:] {
		r.entry(e)
	}
	c.Messages = r.messages
	if c.Pending = r.missing(); len(c.Pending) == 0 {
		r.results(r.calls)
		c.Messages = r.messages
	}
	return c
}

// count finds what follows the user's last message.
func (c *Conversation) count(entries []Entry) {
	c.Done = true
	for i, e := range entries {
		switch e.Kind {
		case KindUser:
			c.User, c.Answers, c.Calls, c.Answer, c.Done = e.ID, 0, nil, nil, false
		case KindAnswer:
			c.Answers++
			c.Answer = &entries[i]
			calls := e.Calls()
			c.Calls = append(c.Calls, calls...)
			c.Done = len(calls) == 0
		case KindInterrupted:
			c.Done = false
		case KindSession, KindResult, KindWithdrawn, KindSummary:
		}
	}
}

// summaryText is how the model is told of what is not told any more. The user's
// present message is never lost in it.
func summaryText(entries []Entry, s Entry) string {
	summary := "[The beginning of this conversation was too long to be told again. In its place stands a summary.]\n\n" + s.Text
	for i, e := range slices.Backward(entries) {
		switch {
		case e.Kind != KindUser:
		case i < s.Covers:
			return summary + "\n\n[The user's present message, word for word:]\n\n" + Text(e.Parts)
		default:
			return summary
		}
	}
	return summary
}

// Text is what parts say, without calls and pictures.
func Text(parts []sdk.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Kind == sdk.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// reader turns entries into messages.
type reader struct {
	messages []sdk.Message
	calls    []sdk.Part          // of the last answer, until their results are told
	told     map[string]sdk.Part // results, by the call's id
}

func (r *reader) entry(e Entry) {
	switch e.Kind {
	case KindUser:
		r.results(r.calls)
		r.say(sdk.RoleUser, e.Parts...)
	case KindAnswer:
		r.results(r.calls)
		r.say(sdk.RoleAssistant, e.Parts...)
		r.calls, r.told = e.Calls(), map[string]sdk.Part{}
	case KindResult:
		if r.told != nil {
			r.told[e.ID] = sdk.Part{Kind: sdk.PartToolResult, ID: e.ID, Result: e.Parts, Error: e.Failed}
		}
	case KindInterrupted:
		r.results(r.calls)
		r.say(sdk.RoleAssistant, spoken(e.Parts)...)
		r.say(sdk.RoleUser, sdk.TextPart(interruptedNote))
	case KindSession, KindWithdrawn, KindSummary:
	}
}

// spoken is what of an unfinished answer the model may be told again: its words.
// A call that was not complete did not happen.
func spoken(parts []sdk.Part) []sdk.Part {
	var words []sdk.Part
	for _, p := range parts {
		if p.Kind == sdk.PartText && strings.TrimSpace(p.Text) != "" {
			words = append(words, p)
		}
	}
	return words
}

// say adds what a role says, to its last message if nobody spoke between.
func (r *reader) say(role sdk.Role, parts ...sdk.Part) {
	if len(parts) == 0 {
		return
	}
	if last := len(r.messages) - 1; role == sdk.RoleUser && last >= 0 && r.messages[last].Role == role {
		both := r.messages[last].Parts
		r.messages[last].Parts = append(both[:len(both):len(both)], parts...)
		return
	}
	r.messages = append(r.messages, sdk.Message{Role: role, Parts: parts})
}

// missing are the calls without a result.
func (r *reader) missing() []sdk.Part {
	var missing []sdk.Part
	for _, c := range r.calls {
		if _, ok := r.told[c.ID]; !ok {
			missing = append(missing, c)
		}
	}
	return missing
}

// results tells those of calls, in the calls' order. Vendors refuse a call
// without one.
func (r *reader) results(calls []sdk.Part) {
	var parts []sdk.Part
	for _, c := range calls {
		p, ok := r.told[c.ID]
		if !ok {
			p = sdk.Part{Kind: sdk.PartToolResult, ID: c.ID, Result: []sdk.Part{sdk.TextPart(notRunText)}, Error: true}
		}
		p.Name = c.Name
		parts = append(parts, p)
	}
	r.calls, r.told = nil, nil
	if len(parts) > 0 {
		r.messages = append(r.messages, sdk.Message{Role: sdk.RoleTool, Parts: parts})
	}
}

// Title is what a session is about: the beginning of the user's first message.
func Title(entries []Entry) string {
	for _, e := range entries {
		for _, p := range e.Parts {
			if e.Kind == KindUser && p.Kind == sdk.PartText {
				return clip(strings.Join(strings.Fields(p.Text), " "), maxTitle)
			}
		}
	}
	return ""
}

const maxTitle = 80

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%s…", string(r[:most-1]))
	}
	return s
}
