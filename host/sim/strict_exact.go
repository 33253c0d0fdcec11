package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// openaiFields and openaiMessageFields are those of OpenAI's own reference.
var (
	openaiFields = strings.Fields(`audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
		messages metadata modalities model n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention
		reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice
		tools top_logprobs top_p user verbosity web_search_options`)
	openaiMessageFields = strings.Fields("role content name refusal audio annotations tool_calls tool_call_id function_call")
)

// maxChatCallID is how long the id of a call may be in Chat Completions.
const maxChatCallID = 40

// checkExact finds what OpenAI refuses and most who copied its dialect do not.
func checkExact(r *request, body []byte) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return "We could not parse the JSON body of your request: " + err.Error()
	}
	if name := unknownField(fields, openaiFields); name != "" {
		return "Unrecognized request argument supplied: " + name
	}
	for i, m := range objects(fields["messages"]) {
		if name := unknownField(m, openaiMessageFields); name != "" {
			return fmt.Sprintf("Unknown parameter: 'messages[%d].%s'.", i, name)
		}
	}
	for i, m := range r.Messages {
		for j, c := range m.ToolCalls {
			if len(c.ID) > maxChatCallID {
				return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d].id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.",
					i, j, maxChatCallID, len(c.ID))
			}
		}
	}
	return ""
}

// unknownField returns the first name that is not known, "" for none.
func unknownField(fields map[string]json.RawMessage, known []string) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// objects reads a list of objects; what is no such list has none.
func objects(list json.RawMessage) []map[string]json.RawMessage {
	var all []map[string]json.RawMessage
	_ = json.Unmarshal(list, &all)
	return all
}
