package grammar_test

import (
	"strings"
	"testing"

	"spillway/host/dialect/grammar"
)

// answers are good ones, with what no list knows among them, a frame a line:
// the event's name, "=", its data; a comment begins with ":".
var answers = map[string]string{
	"anthropic": `
ping={"type":"ping"}
message_start={"type":"message_start","message":{}}
content_block_start={"type":"content_block_start","index":0,"content_block":{"type":"oracle"}}
:comment
content_block_delta={"type":"content_block_delta","index":0,"delta":{"type":"omen_delta"}}
content_block_stop={"type":"content_block_stop","index":0}
content_block_start={"type":"content_block_start","index":1}
content_block_stop={"type":"content_block_stop","index":1}
x_new={"type":"x_new"}
message_delta={"type":"message_delta","delta":{"stop_reason":"end_turn"}}
message_stop={"type":"message_stop"}`,
	"openai": `
={"id":"c","choices":[{"index":0,"delta":{"role":"assistant"}}]}
={"id":"c","choices":[{"index":0,"delta":{"content":"x","x_new":1}}],"error":null}
={"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f"}}]}}]}
={"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
={"id":"c","choices":[{"index":0,"delta":{"content":""},"finish_reason":"tool_calls"}]}
={"id":"c","choices":[],"usage":{}}
=[DONE]`,
	"responses": `
response.created={"type":"response.created","sequence_number":0}
keepalive={"type":"keepalive"}
response.output_item.added={"type":"response.output_item.added","sequence_number":1,"output_index":0}
response.oracle={"type":"response.oracle","sequence_number":2}
response.output_item.done={"type":"response.output_item.done","sequence_number":5,"output_index":0}
response.completed={"type":"response.completed","sequence_number":6}`,
}

// frames are those of an answer in the lines above.
func frames(lines string) []string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		line = strings.TrimSpace(line)
		event, data, ok := strings.Cut(line, "=")
		switch {
		case !ok:
			all = append(all, line+"\n\n")
		case event == "":
			all = append(all, "data: "+data+"\n\n")
		default:
			all = append(all, "event: "+event+"\ndata: "+data+"\n\n")
		}
	}
	return all
}

func check(dialect string, frames []string, broken bool) error {
	c := grammar.New(dialect)
	for _, f := range frames {
		c.Feed([]byte(f))
	}
	return c.End(broken)
}

func TestGoodAnswers(t *testing.T) {
	for dialect, lines := range answers {
		if err := check(dialect, frames(lines), false); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		if err := check(dialect, []string{strings.Join(frames(lines), "")}, false); err != nil {
			t.Errorf("%s in one piece: %v", dialect, err)
		}
		if check(dialect, frames(lines), true) == nil {
			t.Errorf("%s: a good answer passes for a broken one", dialect)
		}
	}
	if grammar.New("telegraph") != nil {
		t.Error("an unknown dialect has a grammar")
	}
}

func TestFaults(t *testing.T) {
	const cut = "event: x\ndata: {}"
	failed := map[string]string{
		"anthropic": "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n",
		"openai":    "data: {\"error\":{\"message\":\"x\"}}\n\n",
		"responses": "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":99}\n\n",
	}
	tests := []struct {
		name   string
		change func(all []string) []string
	}{
		{"no end", func(all []string) []string { return all[:len(all)-1] }},
		{"two ends", func(all []string) []string { return append(all, all[len(all)-1]) }},
		{"two answers", func(all []string) []string { return append(all, all...) }},
		{"no JSON", func(all []string) []string { return append(all[:2:2], "data: {\n\n") }},
		{"a frame that is cut", func(all []string) []string { return append(all[:2:2], cut) }},
	}
	for dialect, lines := range answers {
		all := frames(lines)
		for _, tt := range tests {
			if err := check(dialect, tt.change(all[:len(all):len(all)]), false); err == nil {
				t.Errorf("%s, %s: passes", dialect, tt.name)
			}
		}
		broken := append(all[:2:2], failed[dialect])
		if err := check(dialect, broken, true); err != nil {
			t.Errorf("%s: a broken answer: %v", dialect, err)
		}
		if check(dialect, broken, false) == nil || check(dialect, append(broken, all[2]), true) == nil {
			t.Errorf("%s: an error passes for a good end, or with something behind it", dialect)
		}
	}
}

// TestOrder: frames out of their order.
func TestOrder(t *testing.T) {
	tests := []struct{ dialect, name, from, to string }{
		{"anthropic", "a second start", `:comment`, `message_start={"type":"message_start"}`},
		{"anthropic", "something before the start", `ping={"type":"ping"}`, `content_block_stop={"type":"content_block_stop","index":0}`},
		{"anthropic", "the number again", `"content_block_start","index":1`, `"content_block_start","index":0`},
		{"anthropic", "a piece of no block", `"content_block_delta","index":0`, `"content_block_delta","index":3`},
		{"anthropic", "an open block", "content_block_stop={\"type\":\"content_block_stop\",\"index\":1}\n", ""},
		{"anthropic", "no reason", `"stop_reason":"end_turn"`, `"stop_reason":null`},
		{"anthropic", "another name", `x_new={`, `y_new={`},
		{"openai", "another id", `={"id":"c","choices":[],`, `={"id":"d","choices":[],`},
		{"openai", "no reason", `"finish_reason":"tool_calls"`, `"finish_reason":null`},
		{"openai", "content after the reason", `"choices":[],`, `"choices":[{"index":0,"delta":{"content":"y"}}],`},
		{"openai", "a call without a number", `{"index":0,"id":"t",`, `{"id":"t",`},
		{"responses", "a number again", `"sequence_number":2`, `"sequence_number":1`},
		{"responses", "a second start", `keepalive={"type":"keepalive"}`, `response.created={"type":"response.created"}`},
		{"responses", "an item that was not begun", `"sequence_number":5,"output_index":0`, `"sequence_number":5,"output_index":1`},
		{"responses", "an error that nobody hears", `response.oracle={"type":"response.oracle"`, `error={"type":"error"`},
	}
	for _, tt := range tests {
		lines := strings.Replace(answers[tt.dialect], tt.from, tt.to, 1)
		if lines == answers[tt.dialect] {
			t.Fatalf("%s, %s: nothing is replaced", tt.dialect, tt.name)
		}
		if check(tt.dialect, frames(lines), false) == nil {
			t.Errorf("%s, %s: passes", tt.dialect, tt.name)
		}
	}
}

// FuzzFeed: whatever is sent, a checker survives it and its faults are its own
// words.
func FuzzFeed(f *testing.F) {
	for _, lines := range answers {
		f.Add([]byte(strings.Join(frames(lines), "")))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for dialect := range answers {
			c := grammar.New(dialect)
			c.Feed(stream)
			c.Feed(stream)
			if err := c.End(false); err != nil && len(err.Error()) > 80 {
				t.Error(err)
			}
		}
	})
}
