package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"spillway/host/agent/session"
	"spillway/host/dialect"
	"spillway/sdk"
)

const (
	// maxSummaries bounds how often a conversation is summed up for one answer.
	maxSummaries = 3
	// defaultWindow is supposed of models that say nothing of theirs, in tokens.
	defaultWindow = 128_000
	// keptShare of the window is what the turns may take that are not summed up.
	keptShare = 4
	// maxQuoted and maxSaid bound what a summary's maker is shown of a call or a
	// result, and of what was said, in bytes each.
	maxQuoted = 4 << 10
	maxSaid   = 16 << 10
)

const summaryPrompt = `Below stands the beginning of a conversation between a user and an agent. It has become too long to be told again.
Write what the agent must know to go on with the work: what the user wants, word for word where it matters; what was
done, with names of files, commands and their outcomes; what was found out; what is still to be done. Do not call tools
and do not go on with the work.`

// tooLong reports whether no model of the profile can take a prompt, as far as
// they declare it.
func (a *Agent) tooLong(p *sdk.Prompt) bool {
	window, known := a.window()
	return known && dialect.ShapeOf(p).PromptTokens > window
}

// window is the largest one of the profile's models. known is false where a model
// does not say how large its own is.
func (a *Agent) window() (tokens int, known bool) {
	known = true
	for _, p := range a.o.Models.Graph().Catalogue().Providers {
		for _, m := range p.Models {
			known = known && m.Context > 0
			tokens = max(tokens, m.Context)
		}
	}
	if tokens == 0 {
		return defaultWindow, false
	}
	return tokens, known
}

// summarise has the older turns summed up. shorter is false if there are none that
// could be: then the conversation is as short as it gets.
func (a *Agent) summarise(ctx context.Context) (shorter bool, err error) {
	entries := a.o.Session.Entries()
	window, _ := a.window()
	// Somebody's window was smaller than that, if the conversation is: then a half
	// of it goes.
	whole := dialect.TokensOf(session.Read(entries).Messages...)
	covers := split(entries, min(window/keptShare, whole/2))
	if covers == 0 {
		return false, nil
	}
	older := session.Read(entries[:covers]).Messages
	for room := window * bytesPerToken / 2; ; room /= 2 {
		text := cutMiddle(transcript(older), room)
		got, err := a.complete(ctx, &sdk.Prompt{
			System:   []sdk.Part{sdk.TextPart(summaryPrompt)},
			Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart(text)}}},
		}, false)
		if f, ok := errors.AsType[*FailedError](err); ok && f.Failure.Code == sdk.CodeContextWindow && room > minRoom {
			continue
		}
		if errors.Is(err, ErrInterrupted) {
			return false, a.interrupted(answered{})
		}
		if err != nil {
			return false, fmt.Errorf("the conversation is too long, and it was not summed up: %w", err)
		}
		err = a.o.Session.Append(session.Entry{
			Kind: session.KindSummary, Covers: covers, Text: session.Text(got.parts), Route: got.route, Request: got.request, Usage: got.usage,
		})
		if err != nil {
			return false, err
		}
		a.tell(Event{Kind: EventSummary, Count: len(older), Request: got.request})
		return true, nil
	}
}

const (
	bytesPerToken = 4
	minRoom       = 8 << 10 // bytes; less than that is no account of anything
)

// split is how many entries to sum up: the turns behind them take at most so many
// tokens. A call is never parted from its results, so it falls where an answer or
// the user begins to speak. 0: there is nothing to sum up.
func split(entries []session.Entry, tokens int) int {
	from := 1 // behind the first one, and what was summed up before
	for _, e := range entries {
		if e.Kind == session.KindSummary {
			from = e.Covers
		}
	}
	covers, taken := 0, 0
	for i := len(entries) - 1; i > from; i-- {
		e := entries[i]
		taken += dialect.TokensOf(sdk.Message{Parts: e.Parts})
		if taken > tokens && covers > 0 {
			break
		}
		if e.Kind == session.KindUser || e.Kind == session.KindAnswer {
			covers = i
		}
	}
	answered := func(e session.Entry) bool { return e.Kind == session.KindAnswer }
	if covers == 0 || !slices.ContainsFunc(entries[from:covers], answered) {
		return 0 // the user's words alone would not get shorter
	}
	return covers
}

// transcript is messages as a text, each part of it only so long.
func transcript(messages []sdk.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case sdk.PartText:
				fmt.Fprintf(&b, "[%s] %s\n\n", m.Role, cutMiddle(p.Text, maxSaid))
			case sdk.PartToolCall:
				fmt.Fprintf(&b, "[%s calls %s] %s\n\n", m.Role, p.Name, cutMiddle(string(p.Input), maxQuoted))
			case sdk.PartToolResult:
				fmt.Fprintf(&b, "[result of %s] %s\n\n", p.Name, cutMiddle(session.Text(p.Result), maxQuoted))
			case sdk.PartImage, sdk.PartDocument:
				fmt.Fprintf(&b, "[%s: %s]\n\n", m.Role, p.Kind)
			case sdk.PartReasoning:
			}
		}
	}
	return b.String()
}
