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

// check words its findings as the Chat Completions API does. Unknown fields pass
// unless the vendor is exact: most vendors of this dialect ignore them.
func (openaiFormat) check(v Vendor, r *request, body []byte) string {
	if v.Exact {
		if fault := checkExact(r, body); fault != "" {
			return fault
		}
	}
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
		given := m.ReasoningContent != nil && (*m.ReasoningContent != "" || !v.FilledReasoning)
		if len(m.ToolCalls) > 0 && v.lacksReasoning(r, given) {
			return noReasoning(i)
		}
	}
	if len(open) > 0 {
		return unansweredCalls(open)
	}
	return ""
}

// lacksReasoning reports whether a turn with tool calls is to be refused. Kimi
// thinks unless it is told not to, and so does DeepSeek since its fourth
// version.
func (v Vendor) lacksReasoning(r *request, given bool) bool {
	return v.ReasoningHistory && !given && r.Thinking.Type != "disabled"
}

// noReasoning is in the words of Kimi (github.com/earendil-works/pi/pull/4178,
// github.com/theopenco/llmgateway/pull/2093).
func noReasoning(at int) string {
	return fmt.Sprintf("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", at)
}

func checkChatMessage(i int, m message) string {
	if !slices.Contains(openaiRoles, m.Role) {
		return fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", m.Role, strings.Join(openaiRoles, "', '"))
	}
	if m.Role == "assistant" && m.Content == nil && len(m.ToolCalls) == 0 {
		return fmt.Sprintf("Invalid value for 'messages[%d].content': expected a string, got null.", i)
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
