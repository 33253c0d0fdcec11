package agent_test

import (
	"strings"
	"testing"

	"spillway/host/agent"
	"spillway/sdk"
)

// A conversation that no model takes is summed up, openly: older turns go, a call
// and its result stay together, and the session keeps every word.
func TestSummary(t *testing.T) {
	long := strings.Repeat("much was said. ", 20_000)
	tooLong := fails(sdk.Failure{Code: sdk.CodeContextWindow})
	d := newDesk(t,
		says(long), says("short"), // two turns
		calls(`note {"text":"a"}`), tooLong, says("The user asked twice."), says("done"))
	for _, text := range []string{"first", "second"} {
		if err := d.send(t, text); err != nil {
			t.Fatal(err)
		}
	}
	before := len(d.session.Entries())
	if err := d.send(t, "third"); err != nil {
		t.Fatal(err)
	}
	sum := d.models.prompts[4]
	if text := sum.Messages[0].Parts[0].Text; len(sum.Tools) != 0 || !strings.Contains(text, "[user] first") || len(text) > len(long)/2 {
		t.Errorf("the summary was asked for with %d tools and %d bytes", len(sum.Tools), len(text))
	}
	last := d.models.prompts[5].Messages
	if text := last[0].Parts[0].Text; !strings.Contains(text, "summary") || !strings.Contains(text, "The user asked twice.") {
		t.Errorf("first message: got %q", text)
	}
	if n := len(last); last[n-1].Role != sdk.RoleTool || last[n-2].Parts[0].Kind != sdk.PartToolCall {
		t.Errorf("the call was parted from its result: %v", last)
	}
	for _, m := range last {
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "much was said") {
				t.Error("the long answer is still told")
			}
		}
	}
	if got := d.told(agent.EventSummary); len(got) != 1 || got[0].Count == 0 {
		t.Errorf("told: %v", got)
	}
	if len(d.session.Entries()) <= before || d.session.Entries()[2].Parts[0].Text != long {
		t.Error("the session does not hold what was said")
	}
}

// Where there is nothing to sum up the vendor's refusal is the answer.
func TestTooLongForEverybody(t *testing.T) {
	d := newDesk(t, fails(sdk.Failure{Code: sdk.CodeContextWindow, Message: "too long"}))
	if err := d.send(t, strings.Repeat("word ", 1000)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
}

// The present message of the user is told word for word, also when the summary
// covers it.
func TestSummaryKeepsTheTask(t *testing.T) {
	d := newDesk(t,
		calls(`note {"text":"a"}`), calls(`note {"text":"b"}`), calls(`note {"text":"c"}`),
		fails(sdk.Failure{Code: sdk.CodeContextWindow}), says("a and b are noted"), says("done"))
	d.note.effect = 0
	if err := d.send(t, "the whole task"); err != nil {
		t.Fatal(err)
	}
	first := d.models.prompts[5].Messages[0].Parts[0].Text
	if !strings.Contains(first, "the whole task") || !strings.Contains(first, "a and b are noted") {
		t.Errorf("got %q", first)
	}
}

// What a tool says is cut in its middle, with a mark.
func TestLongResult(t *testing.T) {
	d := newDesk(t, calls(`note {"text":"`+strings.Repeat("x", 100_000)+`"}`), says("done"))
	if err := d.send(t, "go"); err != nil {
		t.Fatal(err)
	}
	text := d.models.prompts[1].Messages[2].Parts[0].Result[0].Text
	if len(text) > 70_000 || !strings.Contains(text, "bytes left out here]") || !strings.HasPrefix(text, "noted x") {
		t.Errorf("got %d bytes: %.40q", len(text), text)
	}
}
