package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// responsesFields are the top-level fields that the Responses API knows; it
// refuses any other. client_metadata is what OpenAI's own agent sends.
var responsesFields = strings.Fields(`background client_metadata context_management conversation include input instructions max_output_tokens
	max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning
	safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`)

// responsesMoved are fields of Chat Completions that have another name here.
var responsesMoved = map[string]string{
	"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
	"response_format": "text.format", "reasoning_effort": "reasoning.effort",
}

var responsesItems = strings.Fields(`message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
	item_reference web_search_call file_search_call computer_call computer_call_output image_generation_call code_interpreter_call
	local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output mcp_list_tools
	mcp_approval_request mcp_approval_response mcp_call compaction`)

// responsesIDs are how the ids of items begin.
var responsesIDs = map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}

var (
	responsesRoles = strings.Fields("assistant system developer user")
	responsesSaid  = strings.Fields("output_text refusal")
	responsesHeard = strings.Fields("input_text input_image input_file input_audio")
)

const (
	minOutputTokens = 16
	maxCallID       = 64
)

// check words its findings as the Responses API does. The vendor keeps no
// answers, so there is nothing that a request could refer to. The rules are
// those of its reference and of refusals that users reported:
// github.com/continuedev/continue/pull/11785 (pairs, ids), …/issues/8933
// (reasoning alone), github.com/openai/codex/issues/8145 (encrypted content).
func (responsesFormat) check(v Vendor, r *request, body []byte) string {
	if fault := checkResponsesFields(r, body); fault != "" {
		return fault
	}
	for i, t := range r.Tools {
		switch path := fmt.Sprintf("tools[%d]", i); {
		case t.Type == "":
			return fmt.Sprintf("Missing required parameter: '%s.type'.", path)
		case t.Type != "function" && t.Type != "custom":
			continue // one that the vendor runs itself
		case t.Name == "":
			return fmt.Sprintf("Missing required parameter: '%s.name'.", path)
		case !isName(t.Name, 128):
			return badName(path + ".name")
		}
	}
	return v.checkItems(r.Input)
}

func checkResponsesFields(r *request, body []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return "We could not parse the JSON body of your request: " + err.Error()
	}
	if name := unknownField(fields, responsesFields); responsesMoved[name] != "" {
		return fmt.Sprintf("Unsupported parameter: '%s'. In the Responses API, this parameter has moved to '%s'.", name, responsesMoved[name])
	} else if name != "" {
		return fmt.Sprintf("Unknown parameter: '%s'.", name)
	}
	switch {
	case r.Model == "":
		return "Missing required parameter: 'model'."
	case r.PreviousResponseID != "":
		return fmt.Sprintf("Previous response with id '%s' not found.", r.PreviousResponseID)
	case len(r.Input) == 0:
		return "Missing required parameter: 'input'."
	case r.MaxOutputTokens != nil && *r.MaxOutputTokens < minOutputTokens:
		return fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d, but got %d instead.",
			minOutputTokens, *r.MaxOutputTokens)
	}
	return ""
}

func badName(path string) string {
	return fmt.Sprintf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", path)
}

func badValue(path, value string, allowed []string) string {
	return fmt.Sprintf("Invalid value for '%s': '%s'. Supported values are: '%s'.", path, value, strings.Join(allowed, "', '"))
}

// checkItems looks at each item and at the pairing of calls and their outputs.
func (v Vendor) checkItems(items []item) string {
	var open []string // calls that have no output yet
	for i, it := range items {
		if fault := v.checkItem(fmt.Sprintf("input[%d]", i), it); fault != "" {
			return fault
		}
		switch it.kind() {
		case "reasoning":
			if i == len(items)-1 {
				return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", it.ID)
			}
		case "function_call", "custom_tool_call":
			open = append(open, it.CallID)
		case "function_call_output", "custom_tool_call_output":
			k := slices.Index(open, it.CallID)
			if k < 0 {
				return fmt.Sprintf("No tool call found for %s with call_id %s.", strings.ReplaceAll(it.Type, "_", " "), it.CallID)
			}
			open = slices.Delete(open, k, k+1)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("No tool output found for function call %s.", open[0])
	}
	return ""
}

func (v Vendor) checkItem(path string, it item) string {
	kind := it.kind()
	if !slices.Contains(responsesItems, kind) {
		return badValue(path, kind, responsesItems)
	}
	if prefix := responsesIDs[kind]; it.ID != "" && !strings.HasPrefix(it.ID, prefix) {
		return fmt.Sprintf("Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", path, it.ID, prefix)
	}
	switch kind {
	case "message":
		return checkMessageItem(path, it)
	case "reasoning":
		return v.checkReasoningItem(it)
	case "item_reference":
		return fmt.Sprintf("Item with id '%s' not found.", it.ID)
	case "function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output":
		return checkCallItem(path, kind, it)
	}
	return ""
}

func checkMessageItem(path string, it item) string {
	if !slices.Contains(responsesRoles, it.Role) {
		return badValue(path+".role", it.Role, responsesRoles)
	}
	allowed := responsesHeard
	if it.Role == "assistant" {
		allowed = responsesSaid
	}
	for i, part := range it.Content {
		if !slices.Contains(allowed, part.Type) && !part.plain {
			return badValue(fmt.Sprintf("%s.content[%d]", path, i), part.Type, allowed)
		}
	}
	return ""
}

// checkReasoningItem refuses what the vendor cannot read: it has neither kept an
// answer nor the means to open what others have sealed.
func (v Vendor) checkReasoningItem(it item) string {
	if it.Encrypted == nil {
		return fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. "+
			"Try again with `store` set to true, or remove this item from your input.", it.ID)
	}
	if _, ok := signed(v.Name, *it.Encrypted); !ok {
		return fmt.Sprintf("The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", it.ID)
	}
	return ""
}

func checkCallItem(path, kind string, it item) string {
	said, field := it.Arguments, "arguments"
	if kind == "custom_tool_call" {
		said, field = it.Input, "input"
	}
	_, isText := said.(string)
	output := strings.HasSuffix(kind, "_output")
	switch {
	case it.CallID == "":
		return fmt.Sprintf("Missing required parameter: '%s.call_id'.", path)
	case len(it.CallID) > maxCallID:
		return fmt.Sprintf("Invalid '%s.call_id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
			path, maxCallID, len(it.CallID))
	case output:
		return checkOutput(path, it.Output)
	case it.Name == "":
		return fmt.Sprintf("Missing required parameter: '%s.name'.", path)
	case !isName(it.Name, 128):
		return badName(path + ".name")
	case !isText:
		return fmt.Sprintf("Invalid type for '%s.%s': expected a string.", path, field)
	}
	return ""
}

func checkOutput(path string, output content) string {
	if output == nil {
		return fmt.Sprintf("Missing required parameter: '%s.output'.", path)
	}
	for i, part := range output {
		if !slices.Contains(responsesHeard, part.Type) && !part.plain {
			return badValue(fmt.Sprintf("%s.output[%d]", path, i), part.Type, responsesHeard)
		}
	}
	return ""
}
