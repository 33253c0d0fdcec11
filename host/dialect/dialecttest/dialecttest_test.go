package dialecttest_test

import (
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
)

const messages = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":0}}}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`

const chat = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}

: comment

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}

data: [DONE]

`

// responses is an answer of two items in the fewest frames.
const responses = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}

event: response.in_progress
data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hi"}

event: keepalive
data: {"type":"keepalive"}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":5,"item_id":"msg_1","output_index":0,"content_index":0,"text":"hi"}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":6,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"hi"}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi"}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":10,"item_id":"fc_1","output_index":1,"arguments":"{}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":11,"output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}}

event: response.completed
data: {"type":"response.completed","sequence_number":12,"response":{"id":"resp_1","status":"completed","model":"m","output":[{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hi"}]},{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}}

`

func streams() map[string]string {
	return map[string]string{"anthropic": messages, "openai": chat, "responses": responses}
}

func TestCheckAccepts(t *testing.T) {
	for dialect, stream := range streams() {
		if err := dialecttest.Check(dialect, []byte(stream)); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		if err := dialecttest.CheckFailed(dialect, []byte(stream)); err == nil {
			t.Errorf("%s: a good stream passes for a failed one", dialect)
		}
	}
	if err := dialecttest.Check("telegraph", nil); err == nil {
		t.Error("an unknown dialect passes")
	}
}

func TestCheckFailedAccepts(t *testing.T) {
	for dialect, stream := range map[string]string{
		"anthropic": messages[:strings.Index(messages, "event: content_block_stop")] + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"broken\"}}\n\n",
		"responses": responses[:strings.Index(responses, "event: response.output_text.done")] + "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":5,\"response\":{\"id\":\"resp_1\",\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"broken\"}}}\n\n",
		"openai":    chat[:strings.Index(chat, ": comment")] + "data: {\"error\":{\"message\":\"broken\",\"type\":\"server_error\"}}\n\n",
	} {
		if err := dialecttest.CheckFailed(dialect, []byte(stream)); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		if err := dialecttest.Check(dialect, []byte(stream)); err == nil {
			t.Errorf("%s: a failed stream passes for a good one", dialect)
		}
	}
}

// Every frame is needed where it stands, and each rule is enforced.
func TestCheckRefuses(t *testing.T) {
	for dialect, stream := range streams() {
		frames := strings.SplitAfter(stream, "\n\n")
		for i, frame := range frames[:len(frames)-1] {
			harmless := strings.Contains(frame, "ping") || strings.HasPrefix(frame, ":") ||
				strings.Contains(frame, `"hi"`) || strings.Contains(frame, `"total_tokens"`) || strings.Contains(frame, `partial_json`) ||
				strings.Contains(frame, "keepalive") || strings.Contains(frame, "response.in_progress")
			before, after := strings.Join(frames[:i], ""), strings.Join(frames[i+1:], "")
			if err := dialecttest.Check(dialect, []byte(before+after)); err == nil && !harmless {
				t.Errorf("%s: passes without frame %q", dialect, frame)
			}
			if err := dialecttest.Check(dialect, []byte(before+frame+frame+after)); err == nil && (!harmless || strings.Contains(frame, "total") || strings.Contains(frame, "response.output_text")) {
				t.Errorf("%s: passes with frame twice: %q", dialect, frame)
			}
		}
	}
	tests := []struct{ name, dialect, stream, old, new string }{
		{"cut in the last frame", "anthropic", messages, `"message_stop"}` + "\n\n", `"message_stop"}` + "\n"},
		{"event and type differ", "anthropic", messages, "event: ping", "event: pong"},
		{"no event line", "anthropic", messages, "event: ping\n", ""},
		{"unknown event", "anthropic", messages, "event: ping\ndata: {\"type\":\"ping\"}", "event: omen\ndata: {\"type\":\"omen\"}"},
		{"id", "anthropic", messages, "msg_1", "chatcmpl-1"},
		{"usage in the start", "anthropic", messages, `"usage":{"input_tokens":1,"output_tokens":0}`, `"usage":null`},
		{"usage at the end", "anthropic", messages, `"usage":{"output_tokens":2}`, `"usage":{}`},
		{"index", "anthropic", messages, `"index":1`, `"index":2`},
		{"delta of another type", "anthropic", messages, `"text_delta"`, `"thinking_delta"`},
		{"input in the start", "anthropic", messages, `"input":{}`, `"input":{"a":1}`},
		{"input that is no object", "anthropic", messages, `"partial_json":"{}"`, `"partial_json":"{"`},
		{"stop_reason", "anthropic", messages, `"tool_use"},"usage"`, `null},"usage"`},
		{"garbage", "anthropic", messages, `{"type":"ping"}`, `{"type":"ping"`},
		{"event line", "openai", chat, "data: [DONE]", "event: done\ndata: [DONE]"},
		{"another id", "openai", chat, `"id":"c","object":"chat.completion.chunk","model":"m","choices":[],`, `"id":"d","object":"chat.completion.chunk","model":"m","choices":[],`},
		{"finish_reason", "openai", chat, `"finish_reason":"tool_calls"`, `"finish_reason":null`},
		{"index of a call", "openai", chat, `[{"index":0,"id":"t"`, `[{"index":1,"id":"t"`},
		{"no index of a call", "openai", chat, `[{"index":0,"id":"t"`, `[{"id":"t"`},
		{"id again", "openai", chat, `[{"index":0,"function":{"arguments"`, `[{"index":0,"id":"t","function":{"arguments"`},
		{"arguments as an object", "openai", chat, `"arguments":"{}"`, `"arguments":{}`},
		{"arguments cut", "openai", chat, `"arguments":"{}"`, `"arguments":"{"`},
		{"no choices", "openai", chat, `"choices":[],`, ``},
		{"empty usage", "openai", chat, `"total_tokens":3`, `"x":3`},
		{"event and type differ", "responses", responses, "event: keepalive", "event: ping"},
		{"no number", "responses", responses, `"sequence_number":4,"item_id"`, `"item_id"`},
		{"number not above", "responses", responses, `"sequence_number":5`, `"sequence_number":4`},
		{"id", "responses", responses, `"id":"resp_1","object"`, `"id":"chatcmpl-1","object"`},
		{"another answer", "responses", responses, `"sequence_number":1,"response":{"id":"resp_1"`, `"sequence_number":1,"response":{"id":"resp_2"`},
		{"index", "responses", responses, `"output_index":1,"item":{"id":"fc_1"`, `"output_index":2,"item":{"id":"fc_1"`},
		{"no item_id", "responses", responses, `"item_id":"fc_1",`, ``},
		{"no call_id", "responses", responses, `"call_id":"c",`, ``},
		{"no number of the part", "responses", responses, `"content_index":0,"delta"`, `"delta"`},
		{"pieces of another kind", "responses", responses, "response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta", "response.output_text.delta\ndata: {\"type\":\"response.output_text.delta"},
		{"whole text is another", "responses", responses, `"text":"hi"}`, `"text":"ho"}`},
		{"part is another", "responses", responses, `"part":{"type":"output_text","text":"hi"}`, `"part":{"type":"output_text","text":"ho"}`},
		{"output is another", "responses", responses, `"output":[{"id":"msg_1"`, `"output":[{"id":"msg_2"`},
		{"output lacks an item", "responses", responses, `,{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}],"usage"`, `],"usage"`},
		{"status", "responses", responses, `"status":"completed"`, `"status":"incomplete"`},
		{"no usage", "responses", responses, `"total_tokens":3`, `"x":3`},
		{"error event", "responses", responses, "event: response.completed\ndata: {\"type\":\"response.completed\"", "event: error\ndata: {\"type\":\"error\""},
	}
	for _, tt := range tests {
		broken := strings.Replace(tt.stream, tt.old, tt.new, 1)
		if broken == tt.stream {
			t.Errorf("%s: nothing replaced", tt.name)
		}
		if err := dialecttest.Check(tt.dialect, []byte(broken)); err == nil {
			t.Errorf("%s, %s: passes", tt.dialect, tt.name)
		}
	}
}
