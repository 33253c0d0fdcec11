package session

import (
	"fmt"
	"strings"
	"time"

	"spillway/sdk"
)

// Markdown is a session for people to read.
func Markdown(id string, entries []Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n", id)
	names := map[string]string{} // of the tools that calls are for
	for _, e := range entries {
		for _, c := range e.Calls() {
			names[c.ID] = c.Name
		}
		switch e.Kind {
		case KindSession:
			fmt.Fprintf(&b, "\nFolder `%s`, begun %s.\n", e.Folder, e.At.Format(time.DateTime))
		case KindUser:
			fmt.Fprintf(&b, "\n## User\n%s", body(e.Parts))
		case KindAnswer:
			fmt.Fprintf(&b, "\n## %s\n%s", by(e), body(e.Parts))
		case KindResult:
			state := "result"
			if e.Failed {
				state = "failed"
			}
			fmt.Fprintf(&b, "\n### %s: %s\n\n%s", names[e.ID], state, fenced("", said(e.Parts)))
		case KindWithdrawn:
			fmt.Fprintf(&b, "\n## %s, withdrawn\n\nIt broke off and does not count: %s\n%s", by(e), e.Text, body(e.Parts))
		case KindInterrupted:
			fmt.Fprintf(&b, "\n## %s, interrupted by the user\n%s", by(e), body(e.Parts))
		case KindSummary:
			fmt.Fprintf(&b, "\n## Summary\n\nFrom here on the model is told this in the place of what stands above:\n\n%s\n", e.Text)
		}
	}
	return b.String()
}

func by(e Entry) string {
	if e.Route == "" {
		return "Agent"
	}
	return "Agent (" + e.Route + ")"
}

// body is what was said and called.
func body(parts []sdk.Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch p.Kind {
		case sdk.PartText:
			fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(p.Text, "\n"))
		case sdk.PartToolCall:
			fmt.Fprintf(&b, "\n### %s\n\n%s", p.Name, fenced("json", string(p.Input)))
		case sdk.PartImage, sdk.PartDocument:
			fmt.Fprintf(&b, "\n(%s)\n", p.Kind)
		case sdk.PartReasoning, sdk.PartToolResult:
		}
	}
	return b.String()
}

func said(parts []sdk.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == sdk.PartText {
			texts = append(texts, p.Text)
		} else {
			texts = append(texts, "("+string(p.Kind)+")")
		}
	}
	return strings.Join(texts, "\n")
}

// fenced is text as it stands, between fences longer than any in it.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
