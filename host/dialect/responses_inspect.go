package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"spillway/sdk"
)

// maxFreeform bounds the names of tools that are kept of a request.
const maxFreeform = 64

func (responses) Inspect(body []byte) (Inspection, error) {
	var cacheKey, kept string
	background := false
	in, err := inspect(body, "input", (*survey).input, func(s *survey, key string, val []byte) {
		switch key {
		case "reasoning":
			for w := walk(val); w.member(); {
				if string(w.key) == "effort" {
					s.Effort = unquote(w.val)
					s.Shape.Reasoning = reasons(s.Effort)
				}
			}
		case "text":
			for w := walk(val); w.member(); {
				if string(w.key) == "format" {
					s.Shape.Structured = typeOf(w.val) == "json_schema"
				}
			}
		case "tools":
			for w := walk(val); w.element(); {
				s.freeform(w.val)
				s.hosted(typeOf(w.val))
			}
		case "parallel_tool_calls":
			s.Shape.ParallelTools = s.Shape.ParallelTools || string(val) == "true"
		case "background":
			background = string(val) == "true"
		case "previous_response_id", "prompt":
			if given(val) {
				s.Held = key
			}
		case "conversation":
			if given(val) {
				s.Held = key
			}
			kept = unquote(val)
			for w := walk(val); w.member(); {
				if string(w.key) == "id" {
					kept = unquote(w.val)
				}
			}
		case "prompt_cache_key":
			cacheKey = conversation(unquote(val))
		case "user":
			s.User = conversation(unquote(val))
		}
	})
	if background && err == nil { // the answer would be fetched later, by another path
		return Inspection{}, invalid("background", "not served here")
	}
	in.Conversation = cmp.Or(cacheKey, conversation(kept))
	return in, err
}

// typeOf is the type that an object names.
func typeOf(raw []byte) string {
	kind := ""
	for w := walk(raw); w.member(); {
		if string(w.key) == "type" {
			kind = unquote(w.val)
		}
	}
	return kind
}

// freeform keeps the name of a tool that takes plain text.
func (s *survey) freeform(tool []byte) {
	if typeOf(tool) != "custom" || len(s.Freeform) == maxFreeform {
		return
	}
	for w := walk(tool); w.member(); {
		if string(w.key) == "name" && len(w.val) <= maxName {
			s.Freeform = append(s.Freeform, unquote(w.val))
		}
	}
}

// input reads the conversation of a Responses request: a text, or items.
func (s *survey) input(raw []byte) *sdk.Failure {
	s.Shape.Messages, s.Shape.ToolResult, s.past = 0, false, past{}
	switch raw[0] {
	case '"':
		s.Shape.Messages = 1
		return nil
	case '[':
	default:
		return invalid("input", "want a text or a list")
	}
	calls := 0 // in a row
	for w := walk(raw); w.element(); {
		if w.val[0] != '{' {
			return invalid(fmt.Sprintf("input[%d]", s.Shape.Messages), "want an object")
		}
		s.Shape.Messages++
		calls = s.item(w.val, calls)
	}
	return nil
}

// item reads one item and says how many calls are in a row with it.
func (s *survey) item(raw []byte, calls int) int {
	var kind, role string
	var id []byte
	for w := walk(raw); w.member(); {
		switch string(w.key) {
		case "type":
			kind = unquote(w.val)
		case "role":
			role = unquote(w.val)
		case "id":
			id = w.val
		case "encrypted_content":
			if filled(w.val) {
				s.past.seen |= HistorySealed
			}
		case "content", "output":
			s.content(w.val, false)
		}
	}
	if role != "system" && role != "developer" {
		s.Shape.ToolResult = strings.HasSuffix(kind, "_output")
	}
	switch kind {
	case "function_call", "custom_tool_call":
		if calls++; calls > 1 {
			s.Shape.ParallelTools = true
		}
		return calls
	case "reasoning":
		if isMade(id) {
			s.past.seen |= HistoryMade
		}
	case "item_reference":
		s.Held = kind
	}
	return 0
}
