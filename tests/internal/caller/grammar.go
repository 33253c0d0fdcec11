package caller

import (
	"encoding/json"
	"fmt"
)

// grammar takes the frames of one answer up to its end, says in the answer what
// they mean, and returns the rule that a frame breaks. A terminal sets Done, an
// error event Problem.
type grammar interface {
	frame(a *Answer, f frame) error
}

// problem is the message of an error's body, "" if that is not in the dialect's
// form: a gateway passes on what a vendor said about the caller's own fault.
func (d Dialect) problem(body []byte) string {
	var e struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if json.Unmarshal(body, &e) != nil || e.Error.Type == "" || d == Messages && e.Type != "error" {
		return ""
	}
	return e.Error.Message
}

// stop is the reason for an end by the words of the dialects.
func stop(word string) (string, error) {
	s, ok := map[string]string{
		"stop": "stop", "end_turn": "stop", "stop_sequence": "stop",
		"tool_calls": "tool_calls", "tool_use": "tool_calls",
		"length": "length", "max_tokens": "length", "max_output_tokens": "length",
		"content_filter": "refusal", "refusal": "refusal",
	}[word]
	if !ok {
		return "", fmt.Errorf("unknown reason %q for the end", word)
	}
	return s, nil
}

// add appends a piece of a tool call's arguments.
func (a *Answer) add(call int, piece string) { a.Calls[call].Arguments += piece }

// sound checks what a client parses once an answer ends.
func (a *Answer) sound() error {
	for _, c := range a.Calls {
		if a.Stop == "tool_calls" && !json.Valid([]byte(c.Arguments)) {
			return fmt.Errorf("arguments of %s are no JSON: %q", c.Name, c.Arguments)
		}
	}
	return nil
}
