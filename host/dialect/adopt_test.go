package dialect

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sse"
)

// TestEncodeRelayed: behind a start of our own a vendor's frames stand as they
// were sent, but for its own start, its ids and its numbers.
func TestEncodeRelayed(t *testing.T) {
	tests := []struct {
		name     string
		d        Dialect
		in, want string
	}{
		{"messages", Anthropic(),
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_v\",\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":2,\"output_tokens\":1}}}\n\n" +
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\"}}\r\n\r\n" +
				": note\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{ \"output_tokens\":3,\"x\":1}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\"}}\r\n\r\n" +
				": note\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":5,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":2, \"output_tokens\":3,\"x\":1}}\n\n" +
				"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
		{"messages that repeat the input", Anthropic(),
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n" +
				"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":0,\"output_tokens\":3}}\n\n",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":0,\"output_tokens\":3}}\n\n"},
		{"chat", OpenAI(),
			"data: {\"id\":\"v\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n" +
				"data: {\"id\":\"v\", \"x\":1.0,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\u00e9\"}}],\"id\":\"v\"}\r\n\r\n" +
				"data: {\"choices\":[]}\n\ndata: [DONE]\n\n",
			"data: {\"id\":\"chatcmpl-1\", \"x\":1.0,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\u00e9\"}}],\"id\":\"chatcmpl-1\"}\n\n" +
				"data: {\"choices\":[]}\n\ndata: [DONE]\n\n"},
		{"responses", Responses(),
			"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_v\"}}\n\n" +
				"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"sequence_number\":1,\"response\":{\"id\":\"resp_v\"}}\n\n" +
				"event: response.web_search_call.searching\ndata: {\"type\":\"response.web_search_call.searching\",\"sequence_number\":2,\"item_id\":\"ws\"}\n\n" +
				"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{ \"id\":\"resp_v\",\"x\":[]},\"sequence_number\":3}\n\n",
			"event: response.web_search_call.searching\ndata: {\"type\":\"response.web_search_call.searching\",\"sequence_number\":3,\"item_id\":\"ws\"}\n\n" +
				"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{ \"id\":\"resp_1\",\"x\":[]},\"sequence_number\":4}\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.d.NewEncoder(AnswerOptions{ID: "1", Model: "m"})
			_ = EncodeKeepAlive(e, nil) // three frames in the numbers of Responses
			if diff := cmp.Diff(tt.want, string(relay(t, tt.d, e, []byte(tt.in)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func relay(t *testing.T, d Dialect, e Encoder, stream []byte) []byte {
	t.Helper()
	var got []byte
	r := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := r.Next()
		if err != nil {
			return got
		}
		got = EncodeRelayed(e, got, f.Event, f.Data, f.Raw, d.Scan(f.Event, f.Data))
	}
}

// FuzzEncodeRelayed: whatever a vendor sends, each of its frames becomes one, or
// none, and stays as valid as it was.
func FuzzEncodeRelayed(f *testing.F) {
	f.Add("message_delta", []byte(`{"type":"message_delta","usage":{}}`))
	f.Add("", []byte(`{"id":"v","choices":[{"delta":{"role":"assistant"}}],"id":{"a":1}}`))
	f.Add("response.completed", []byte("{\"response\":{\"id\":1},\n\"sequence_number\":\"x\"}"))
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		if !valid(data) || bytes.ContainsAny([]byte(event), "\r\n\x00") {
			return
		}
		for _, d := range []Dialect{Anthropic(), OpenAI(), Responses()} {
			e := d.NewEncoder(AnswerOptions{ID: "1"})
			_ = EncodeKeepAlive(e, nil)
			raw := sse.AppendFrame(nil, event, data)
			out := EncodeRelayed(e, nil, event, data, raw, d.Scan(event, data))
			if len(out) == 0 {
				continue
			}
			r := sse.NewReader(bytes.NewReader(out), len(out)+1)
			got, err := r.Next()
			if err != nil || !valid(got.Data) || len(got.Raw) != len(out) {
				t.Errorf("%s: %v: %q", d.Name(), err, out)
			}
		}
	})
}
