package caller_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/internal/caller"
)

// whole are answers of two parts: some text, and a tool call.
var whole = map[caller.Dialect]string{
	caller.Chat: `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

: keep-alive

data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}

data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"hello"}}]}

data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"look","arguments":""}}]}}]}

data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}

data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","model":"m","choices":[],"usage":{"completion_tokens":3}}

data: [DONE]

`,
	caller.Messages: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"m"}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`,
	caller.Responses: `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"m","status":"in_progress"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs","type":"reasoning"}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":2,"item_id":"rs","output_index":0,"delta":"hm"}

event: keepalive
data: {"type":"keepalive"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"rs","type":"reasoning","summary":[{"text":"hm"}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"id":"msg","type":"message"}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg","output_index":1,"delta":"hello"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":6,"output_index":1,"item":{"id":"msg","type":"message","content":[{"text":"hello"}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":7,"output_index":2,"item":{"id":"fc","type":"function_call","call_id":"t","name":"look"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":8,"item_id":"fc","output_index":2,"delta":"{}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":9,"output_index":2,"item":{"id":"fc","type":"function_call","call_id":"t","name":"look","arguments":"{}"}}

event: response.completed
data: {"type":"response.completed","sequence_number":10,"response":{"id":"resp_1","status":"completed","output":[{"id":"rs","type":"reasoning","summary":[{"text":"hm"}]},{"id":"msg","type":"message","content":[{"text":"hello"}]},{"id":"fc","type":"function_call","arguments":"{}"}],"usage":{"output_tokens":3}}}

`,
}

// failures are error events.
var failures = map[caller.Dialect]string{
	caller.Chat:      "data: {\"error\":{\"message\":\"broken\",\"type\":\"server_error\"}}\n\n",
	caller.Messages:  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"broken\"}}\n\n",
	caller.Responses: "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":99,\"response\":{\"error\":{\"message\":\"broken\"}}}\n\n",
}

// listen asks a server that says this and then ends, or breaks off.
func listen(t *testing.T, d caller.Dialect, says string, breaks bool) caller.Answer {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(says))
		if breaks {
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	return caller.Ask(t.Context(), s.Client(), s.URL, d, d.Body(caller.Question{Model: "m"}))
}

func TestWhole(t *testing.T) {
	for _, d := range caller.Dialects() {
		a := listen(t, d, whole[d], false)
		if !a.Whole() || a.Cut() || a.Refused() || a.Text != "hello" || a.Reasoning != "hm" || a.Model != "m" || a.Stop != "tool_calls" || a.Output != 3 {
			t.Errorf("%s: got %+v", d, a)
		}
		if diff := cmp.Diff([]caller.Call{{Name: "look", Arguments: "{}"}}, a.Calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", d, diff)
		}
	}
}

// TestCut: an answer tells of its failure and breaks off, at any place behind its
// start.
func TestCut(t *testing.T) {
	for _, d := range caller.Dialects() {
		events := strings.SplitAfter(whole[d], "\n\n")
		for n := 1; n < len(events)-2; n++ {
			begun := strings.Join(events[:n], "")
			if a := listen(t, d, begun+failures[d], true); !a.Cut() || a.Problem != "broken" {
				t.Errorf("%s, %d events: got %+v", d, n, a)
			}
			for name, a := range map[string]caller.Answer{
				"a clean end behind the error": listen(t, d, begun+failures[d], false),
				"no word of it":                listen(t, d, begun, true),
				"a clean end":                  listen(t, d, begun, false),
				"a terminal behind the error":  listen(t, d, begun+failures[d]+events[len(events)-2], true),
			} {
				if a.Cut() || a.Whole() || a.Broken == nil {
					t.Errorf("%s, %d events: %s: got %+v", d, n, name, a)
				}
			}
		}
		if a := listen(t, d, failures[d], true); a.Cut() {
			t.Errorf("%s: an error in the place of a start: got %+v", d, a)
		}
	}
}

// TestBroken: no event may be missing or come twice, but for those that say a
// piece, and nothing may stand behind the end.
func TestBroken(t *testing.T) {
	for _, d := range caller.Dialects() {
		events := strings.SplitAfter(whole[d], "\n\n")
		for i, e := range events[:len(events)-1] {
			before, after := strings.Join(events[:i], ""), strings.Join(events[i+1:], "")
			free := strings.Contains(e, "keep") || strings.Contains(e, "ping") || strings.Contains(e, "usage\":{\"completion") ||
				d != caller.Responses && (strings.Contains(e, `"hello"`) || strings.Contains(e, `"hm"`))
			if a := listen(t, d, before+after, false); !free && a.Broken == nil {
				t.Errorf("%s: without %s: got %+v", d, e, a)
			}
			if a := listen(t, d, before+e+e+after, false); (!free || strings.Contains(e, "usage")) && a.Broken == nil {
				t.Errorf("%s: twice %s: got %+v", d, e, a)
			}
		}
		if a := listen(t, d, whole[d]+whole[d], false); a.Broken == nil {
			t.Errorf("%s: two answers: got %+v", d, a)
		}
		if a := listen(t, d, whole[d]+"data: [DONE]\n\n", false); a.Broken == nil {
			t.Errorf("%s: a sentinel behind the end: got %+v", d, a)
		}
		if a := listen(t, d, strings.TrimSuffix(whole[d], "\n"), false); a.Whole() {
			t.Errorf("%s: half a frame at the end: got %+v", d, a)
		}
	}
	for _, tt := range []struct {
		name     string
		d        caller.Dialect
		old, new string
	}{
		{"another id", caller.Chat, `{"id":"c","model":"m","choices":[{"index":0,"delta":{"content"`, `{"id":"d","model":"m","choices":[{"index":0,"delta":{"content"`},
		{"a call out of turn", caller.Chat, `[{"index":0,"id":"t"`, `[{"index":1,"id":"t"`},
		{"an index out of turn", caller.Messages, `"index":1,"content_block"`, `"index":2,"content_block"`},
		{"another kind of piece", caller.Messages, `"text_delta","text"`, `"thinking_delta","thinking"`},
		{"the event and its type differ", caller.Messages, "event: message_delta", "event: message_gamma"},
		{"a number that stays", caller.Responses, `"sequence_number":5`, `"sequence_number":4`},
		{"no number", caller.Responses, `"sequence_number":5,`, ``},
		{"an item out of turn", caller.Responses, `"output_index":1,"item":{"id":"msg","type":"message"}}`, `"output_index":2,"item":{"id":"msg","type":"message"}}`},
		{"an item that says more than its pieces", caller.Responses, `"item":{"id":"msg","type":"message","content":[{"text":"hello"}]}`, `"item":{"id":"msg","type":"message","content":[{"text":"hello you"}]}`},
		{"an end that says less", caller.Responses, `{"id":"msg","type":"message","content":[{"text":"hello"}]},{`, `{`},
	} {
		says := strings.Replace(whole[tt.d], tt.old, tt.new, 1)
		if a := listen(t, tt.d, says, false); says == whole[tt.d] || a.Broken == nil {
			t.Errorf("%s: %s: got %+v", tt.d, tt.name, a)
		}
	}
	for _, d := range caller.Dialects() {
		says := strings.ReplaceAll(whole[d], `"{}"`, `"{"`)
		if a := listen(t, d, says, false); a.Broken == nil {
			t.Errorf("%s: half an argument: got %+v", d, a)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		d       caller.Dialect
		body    string
		refused bool
	}{
		{caller.Chat, `{"error":{"message":"no","type":"t"}}`, true},
		{caller.Responses, `{"error":{"message":"no","type":"t"}}`, true},
		{caller.Messages, `{"type":"error","error":{"message":"no","type":"t"}}`, true},
		{caller.Messages, `{"error":{"message":"no","type":"t"}}`, false},
		{caller.Chat, `{"message":"no"}`, false},
		{caller.Chat, `no`, false},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, tt.body, http.StatusServiceUnavailable)
		}))
		a := caller.Ask(t.Context(), s.Client(), s.URL, tt.d, "{}")
		s.Close()
		if a.Refused() != tt.refused || a.Whole() || a.Cut() {
			t.Errorf("%s %s: got %+v", tt.d, tt.body, a)
		}
	}
}
