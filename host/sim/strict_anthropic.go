package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// anthropicFields are the top-level fields that the Messages API knows; it
// refuses any other.
var anthropicFields = strings.Fields(`cache_control container context_management inference_geo max_tokens mcp_servers messages metadata
	model output_config output_format safeguards service_tier speed stop_sequences stream system temperature thinking tool_choice
	tools top_k top_p`)

var anthropicBlocks = strings.Fields(`text image document tool_use tool_result thinking redacted_thinking search_result
	server_tool_use web_search_tool_result container_upload`)

// check words its findings as the Messages API does. The rules are those of its
// reference and of refusals that users reported, such as
// github.com/anomalyco/opencode/issues/3077 for thinking.
func (anthropicFormat) check(v Vendor, r *request, body []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return "The request body is not valid JSON: " + err.Error()
	}
	if name := unknownField(fields, anthropicFields); name != "" {
		return name + ": Extra inputs are not permitted"
	}
	switch {
	case r.Model == "":
		return "model: Field required"
	case r.MaxTokens == nil:
		return "max_tokens: Field required"
	case *r.MaxTokens < 1:
		return "max_tokens: Input should be greater than or equal to 1"
	case len(r.Messages) == 0:
		return "messages: at least one message is required"
	}
	for _, fault := range []string{checkAnthropicTools(r.Tools), checkAnthropicShape(fields["messages"]), v.checkTurns(r)} {
		if fault != "" {
			return fault
		}
	}
	return ""
}

func checkAnthropicTools(tools []tool) string {
	for i, t := range tools {
		switch {
		case t.Type == "function":
			return fmt.Sprintf("tools.%d: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom'", i)
		case t.Type != "" && t.Type != "custom":
			continue // one that the vendor runs itself
		case !isName(t.Name, 128):
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case t.InputSchema == nil:
			return fmt.Sprintf("tools.%d.custom.input_schema: Field required", i)
		}
	}
	return ""
}

// checkTurns looks at roles, blocks and the pairing of calls and results.
// System turns may stand anywhere; they do not come between a call and its
// result.
func (v Vendor) checkTurns(r *request) string {
	var open []string // calls of the turn before that have no result yet
	calledAt := 0
	turn := -1 // where the last turn of the assistant begins: results do not end one
	ids := map[string]bool{}
	for i, m := range r.Messages {
		switch m.Role {
		case "system":
			continue
		case "user", "assistant":
		default:
			return fmt.Sprintf("messages: Unexpected role %q. Allowed roles are \"user\" or \"assistant\".", m.Role)
		}
		if m.Role == "assistant" && turn < 0 {
			turn = i
		}
		called := open
		open = nil
		for j, b := range m.Content {
			if m.Role == "user" && b.Type != "tool_result" {
				turn = -1
			}
			if fault := v.checkBlock(m.Role, b); fault != "" {
				return fmt.Sprintf("messages.%d.content.%d%s", i, j, fault)
			}
			switch b.Type {
			case "tool_use":
				if ids[b.ID] {
					return fmt.Sprintf("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
				}
				ids[b.ID] = true
				open, calledAt = append(open, b.ID), i
			case "tool_result":
				k := slices.Index(called, b.ToolUseID)
				if k < 0 {
					return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.ToolUseID)
				}
				if j > 0 && m.Content[j-1].Type != "tool_result" { // results come first
					return unansweredUse(calledAt, called)
				}
				called = slices.Delete(called, k, k+1)
			}
		}
		if len(called) > 0 {
			return unansweredUse(calledAt, called)
		}
		if len(open) > 0 && v.lacksReasoning(r, slices.ContainsFunc(m.Content, func(b block) bool { return b.Type == "thinking" })) {
			return noReasoning(i)
		}
	}
	if len(open) > 0 {
		return unansweredUse(calledAt, open)
	}
	return v.checkThinkingFirst(r, turn)
}

// checkThinkingFirst looks at the turn that is to go on. Who thinks by a budget
// wants it to begin with thinking; who thinks as it sees fit does not mind
// (platform.claude.com, "Adaptive thinking").
func (v Vendor) checkThinkingFirst(r *request, turn int) string {
	if turn < 0 || v.ReasoningHistory || r.Thinking.Type != "enabled" {
		return ""
	}
	content := r.Messages[turn].Content
	if len(content) == 0 || strings.HasSuffix(content[0].Type, "thinking") {
		return ""
	}
	return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, "+
		"a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
		turn, content[0].Type)
}

func unansweredUse(at int, ids []string) string {
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(ids, ", "))
}

func (v Vendor) checkBlock(role string, b block) string {
	switch {
	case !slices.Contains(anthropicBlocks, b.Type):
		return fmt.Sprintf(".type: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", b.Type, strings.Join(anthropicBlocks, "', '"))
	case b.Type == "text" && b.Text == "":
		return ": text content blocks must be non-empty"
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return ": text content blocks must contain non-whitespace text"
	case b.Type == "tool_use" && role != "assistant":
		return ": `tool_use` blocks can only be in `assistant` messages"
	case b.Type == "tool_result" && role != "user":
		return ": `tool_result` blocks can only be in `user` messages"
	case b.Type == "tool_use" && !isName(b.ID, 256):
		return ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
	case b.Type == "thinking" && b.Signature == "" && v.ReasoningHistory:
		return "" // who demands reasoning takes it unsigned
	case b.Type == "thinking":
		if thinking, ok := signed(v.Name, b.Signature); !ok || thinking != b.Thinking {
			return ": Invalid `signature` in `thinking` block"
		}
	case b.Type == "redacted_thinking": // it never sends any
		return ": Invalid `data` in `redacted_thinking` block"
	}
	return ""
}

// isName reports whether s is 1 to n letters, digits, dashes and underlines.
func isName(s string, n int) bool { return len(s) <= n && isToken(s) }
