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

func TestCheckAccepts(t *testing.T) {
	for dialect, stream := range map[string]string{"anthropic": messages, "openai": chat} {
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
	for dialect, stream := range map[string]string{"anthropic": messages, "openai": chat} {
		frames := strings.SplitAfter(stream, "\n\n")
		for i, frame := range frames[:len(frames)-1] {
			harmless := strings.Contains(frame, "ping") || strings.HasPrefix(frame, ":") ||
				strings.Contains(frame, `"hi"`) || strings.Contains(frame, `"total_tokens"`) || strings.Contains(frame, `partial_json`)
			before, after := strings.Join(frames[:i], ""), strings.Join(frames[i+1:], "")
			if err := dialecttest.Check(dialect, []byte(before+after)); err == nil && !harmless {
				t.Errorf("%s: passes without frame %q", dialect, frame)
			}
			if err := dialecttest.Check(dialect, []byte(before+frame+frame+after)); err == nil && (!harmless || strings.Contains(frame, "total")) {
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
