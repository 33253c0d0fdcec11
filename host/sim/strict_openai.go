package sim

import (
	"fmt"
	"slices"
	"strings"
)

var (
	openaiRoles = strings.Fields("system assistant user function tool developer")
	openaiParts = strings.Fields("text image_url input_audio refusal audio file")
)

// check words its findings as the Chat Completions API does. Unknown top-level
// fields pass: most vendors of this dialect ignore them.
func (openaiFormat) check(v Vendor, r *request, _ []byte) string {
	switch {
	case r.Model == "":
		return "you must provide a model parameter"
	case len(r.Messages) == 0:
		return "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
	case r.StreamOptions != nil && !r.Stream:
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	for i, t := range r.Tools {
		switch {
		case t.Type != "function" || t.Function == nil:
			return fmt.Sprintf("Missing required parameter: 'tools[%d].function'.", i)
		case !isName(t.Function.Name, 64):
			return fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
	}
	var open []string // calls that have no result yet
	for i, m := range r.Messages {
		if fault := checkChatMessage(i, m); fault != "" {
			return fault
		}
		if m.Role == "tool" {
			k := slices.Index(open, m.ToolCallID)
			if k < 0 {
				return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
			}
			open = slices.Delete(open, k, k+1)
			continue
		}
		if len(open) > 0 {
			return unansweredCalls(open)
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
		if v.ReasoningHistory && len(m.ToolCalls) > 0 && m.ReasoningContent == nil {
			return fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", i)
		}
	}
	if len(open) > 0 {
		return unansweredCalls(open)
	}
	return ""
}

func checkChatMessage(i int, m message) string {
	if !slices.Contains(openaiRoles, m.Role) {
		return fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", m.Role, strings.Join(openaiRoles, "', '"))
	}
	for _, b := range m.Content {
		if !slices.Contains(openaiParts, b.Type) {
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", b.Type, strings.Join(openaiParts, "', '"))
		}
	}
	for j, c := range m.ToolCalls {
		path := fmt.Sprintf("messages[%d].tool_calls[%d]", i, j)
		switch _, isText := c.Function.Arguments.(string); {
		case c.ID == "":
			return fmt.Sprintf("Missing required parameter: '%s.id'.", path)
		case c.Type != "function":
			return fmt.Sprintf("Missing required parameter: '%s.type'.", path)
		case c.Function.Name == "":
			return fmt.Sprintf("Missing required parameter: '%s.function.name'.", path)
		case !isText:
			return fmt.Sprintf("Invalid type for '%s.function.arguments': expected a string, but got an object instead.", path)
		}
	}
	return ""
}

func unansweredCalls(ids []string) string {
	return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"The following tool_call_ids did not have response messages: " + strings.Join(ids, ", ")
}
