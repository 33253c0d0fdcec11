package dialect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/sdk"
)

// meaning is what a prompt says, a line for each thing, so that what a way costs
// can be read off. Neighbouring texts of one speaker are one.
func meaning(t *testing.T, p *sdk.Prompt) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	compact := func(raw json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	said := "" // whose text the last line is
	parts := func(who string, parts []sdk.Part) {
		for _, part := range parts {
			switch {
			case part.Kind == sdk.PartText && said == who:
				lines[len(lines)-1] += " | " + strings.ReplaceAll(part.Text, "\n\n", " | ")
				continue
			case part.Kind == sdk.PartToolResult:
				add("result of %s: error %v", part.ID, part.Error)
				for _, r := range part.Result {
					add("  %s %s%s%s", r.Kind, r.Text, r.URL, r.Data)
				}
			case part.Kind == sdk.PartToolCall:
				add("calls %s as %s: %s", part.Name, part.ID, compact(part.Input))
			default:
				add("%s: %s %s%s%s", who, part.Kind, strings.ReplaceAll(part.Text, "\n\n", " | "), part.URL, part.Data)
			}
			said = ""
			if part.Kind == sdk.PartText {
				said = who
			}
			if part.Signature+part.Redacted != "" {
				add("signed")
			}
		}
	}
	parts("system", p.System)
	for _, m := range p.Messages {
		parts(string(m.Role), m.Parts)
	}
	for _, tool := range p.Tools {
		add("tool %s: %s %s strict %v", tool.Name, tool.Description, compact(tool.Schema), tool.Strict)
	}
	if c := p.ToolChoice; c != nil {
		add("choice %s %s", c.Mode, c.Name)
	}
	if p.ParallelTools != nil {
		add("parallel %v", *p.ParallelTools)
	}
	add("at most %d", p.MaxTokens)
	add("effort %q, reasoning %v", p.Effort, p.Reasoning)
	add("stop %q, user %q", p.Stop, p.User)
	return lines
}

// Real agents' requests go from each dialect to each other and back, and still
// say the same but for what the table names.
func TestRecordedRequestsRoundTrip(t *testing.T) {
	const (
		reasoning = "assistant: reasoning The log must be read."
		supplied  = "assistant: reasoning Calling a tool."
		question  = "user: text <reminder>Keep answers short.</reminder> | Say which day the harbour log names."
		notice    = "# Surroundings\nFolder: /srv/harbour"
	)
	// cost has the lines that a way loses ("-") and gains ("+"): what is signed or
	// encrypted stays with its vendor, a notice in the midst of a conversation is
	// the user's in Messages, images in results stand behind them in a chat.
	signed := []string{"- " + question, "- system: text " + notice, "- " + reasoning, "- signed", "+ " + question + " | " + notice, "+ " + supplied}
	cost := map[string][]string{
		"anthropic by way of openai":    signed,
		"anthropic by way of responses": signed,
		"openai by way of responses":    {"- " + reasoning, "+ " + supplied},
		"responses by way of anthropic": {"- " + reasoning, "- parallel true", "- at most 0", "+ at most 8192"},
		"responses by way of openai": {
			"- " + reasoning, "-   image AA==", "+ user: text Attached to the result of call_02harbour:", "+ user: image AA==",
		},
	}
	for _, way := range pairs() {
		from, to := way[0], way[1]
		name := from.Name() + " by way of " + to.Name()
		t.Run(name, func(t *testing.T) {
			o := dialect.Outbound{Quirks: dialect.Quirks{ReasoningContent: true, AllFields: true}}
			want := parse(t, from, string(testdata(t, from.Name()+"/agent.json")))
			there, _ := build(t, to, want, o)
			back, _ := build(t, from, parse(t, to, there), o)
			before, after := meaning(t, want), meaning(t, parse(t, from, back))
			var changed []string
			for _, line := range before {
				if !slices.Contains(after, line) {
					changed = append(changed, "- "+line)
				}
			}
			for _, line := range after {
				if !slices.Contains(before, line) {
					changed = append(changed, "+ "+line)
				}
			}
			if diff := cmp.Diff(cost[name], changed); diff != "" {
				t.Errorf("cost (-want +got):\n%s", diff)
			}
		})
	}
}
