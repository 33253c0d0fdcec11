package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/host/dialect/dialecttest"
	"spillway/sdk"
)

func TestScanResponses(t *testing.T) {
	noise := dialect.Mark{Kind: dialect.MarkNoise}
	content := func(v sdk.Visible) dialect.Mark { return dialect.Mark{Kind: dialect.MarkContent, Visible: v} }
	ends := func(f sdk.Finish) dialect.Mark { return dialect.Mark{Kind: dialect.MarkTerminal, Finish: f} }
	failed := dialect.Mark{Kind: dialect.MarkError}
	tests := []struct {
		name, event, data string
		want              dialect.Mark
	}{
		{"no data", "", "", noise},
		{"garbage", "response.created", `{"type":`, dialect.Mark{}},
		{"created", "", `{"type":"response.created","sequence_number":0,"response":{"error":null,"status":"in_progress"}}`, noise},
		{"keepalive", "keepalive", `{"type":"keepalive","sequence_number":9}`, dialect.Mark{Kind: dialect.MarkNoise, Number: 9}},
		{"unknown event", "", `{"type":"response.omen","delta":"x"}`, noise},
		{"vendor's own call", "", `{"type":"response.mcp_call_arguments.delta","delta":"{"}`, noise},
		{"text", "", `{"type":"response.output_text.delta","sequence_number":6,"delta":"x"}`, dialect.Mark{Kind: dialect.MarkContent, Visible: sdk.VisibleText, Number: 6}},
		{"event only in the line", "response.output_text.delta", `{"delta":"x"}`, content(sdk.VisibleText)},
		{"escaped type", "", `{"type":"response.output_t\u0065xt.delta","delta":"x"}`, content(sdk.VisibleText)},
		{"empty text", "", `{"type":"response.output_text.delta","delta":""}`, noise},
		{"refusing text", "", `{"type":"response.refusal.delta","delta":"x"}`, content(sdk.VisibleText)},
		{"reasoning", "", `{"type":"response.reasoning_text.delta","delta":"x"}`, content(sdk.VisibleReasoning)},
		{"its summary", "", `{"type":"response.reasoning_summary_text.delta","delta":"x"}`, content(sdk.VisibleReasoning)},
		{"arguments", "", `{"type":"response.function_call_arguments.delta","delta":"{"}`, content(sdk.VisibleToolCall)},
		{"text for a tool", "", `{"type":"response.custom_tool_call_input.delta","delta":"x"}`, content(sdk.VisibleToolCall)},
		{"item begins", "", `{"type":"response.output_item.added","item":{"type":"message","content":[]}}`, noise},
		{"whole text", "", `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"x"}]}}`, content(sdk.VisibleText)},
		{"whole reasoning", "", `{"type":"response.output_item.done","item":{"summary":[{"text":"x"}],"type":"reasoning"}}`, content(sdk.VisibleReasoning)},
		{"reasoning that cannot be read", "", `{"type":"response.output_item.done","item":{"type":"reasoning","summary":[],"encrypted_content":"x"}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Seal: dialect.SealOf("x")}},
		{"whole call", "", `{"type":"response.output_item.done","item":{"type":"function_call","arguments":"{}"}}`, content(sdk.VisibleToolCall)},
		{"end", "", `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2}}}}`,
			dialect.Mark{Kind: dialect.MarkTerminal, Finish: sdk.FinishStop, Usage: sdk.Usage{Input: 9, CacheRead: 4, Output: 5, Reasoning: 2}}},
		{"end with nothing", "response.completed", `{}`, ends(sdk.FinishStop)},
		{"calls", "", `{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"x"}]},{"type":"function_call","arguments":"{}"}]}}`,
			dialect.Mark{Kind: dialect.MarkTerminal, Finish: sdk.FinishToolCalls, Visible: sdk.VisibleText | sdk.VisibleToolCall}},
		{"refusal", "", `{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}}`,
			dialect.Mark{Kind: dialect.MarkTerminal, Finish: sdk.FinishRefusal, Visible: sdk.VisibleText}},
		{"token limit", "", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, ends(sdk.FinishMaxTokens)},
		{"filter", "", `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`, ends(sdk.FinishRefusal)},
		{"cut for no reason", "", `{"type":"response.incomplete","response":{}}`, ends(sdk.FinishMaxTokens)},
		{"sentinel of a relay", "", `[DONE]`, dialect.Mark{Kind: dialect.MarkTerminal}},
		{"failed", "", `{"type":"response.failed","sequence_number":7,"response":{"error":{"code":"server_error","message":"m"}}}`, dialect.Mark{Kind: dialect.MarkError, Number: 7}},
		{"an end that failed", "", `{"type":"response.completed","response":{"status":"failed"}}`, failed},
		{"error", "", `{"type":"error","code":"rate_limit_exceeded","message":"m","param":null}`, failed},
		{"error in plain text", "error", `busy`, failed},
		{"error in another form", "", `{"error":{"message":"busy"}}`, failed},
		{"error without a type", "", `{"code":1,"message":"busy"}`, failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, dialect.Responses().Scan(tt.event, []byte(tt.data))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeResponses(t *testing.T) {
	frame := func(kind, members string) string { return `data: {"type":"response.` + kind + `",` + members + "}\n\n" }
	item := func(step string, i int, item string) string {
		return frame("output_item."+step, fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
	}
	piece := func(kind string, i int, s string) string {
		return frame(kind+".delta", fmt.Sprintf(`"output_index":%d,"delta":%q`, i, s))
	}
	message := func(s string) string {
		return fmt.Sprintf(`{"type":"message","content":[{"type":"output_text","text":%q}]}`, s)
	}
	call := func(id, args string) string {
		return fmt.Sprintf(`{"type":"function_call","id":"fc","call_id":%q,"name":"f","arguments":%q}`, id, args)
	}
	patch := func(s string) string {
		return fmt.Sprintf(`{"type":"custom_tool_call","call_id":"p","name":"patch","input":%q}`, s)
	}
	created := frame("created", `"response":{"id":"resp_1","model":"m"}`)
	over := frame("completed", `"response":{"id":"resp_1","model":"m","status":"completed"}`)
	begun := start("resp_1", "m")
	a := []sdk.Event{begun, blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}
	one := []sdk.Event{begun, callStart(0, "c", "f"), callDelta(0, `{"x":`), callDelta(0, `1}`), blockEnd(0), finish(sdk.FinishToolCalls)}
	whole := []sdk.Event{begun, callStart(0, "c", "f"), callDelta(0, `{"x":1}`), blockEnd(0), finish(sdk.FinishToolCalls)}
	tests := []struct {
		name, stream string
		want         []sdk.Event
		complete     bool
	}{
		{"nothing", "", nil, false},
		{"cut", created + piece("output_text", 0, "a"), a[:4], false},
		{"a sentinel is no end", created + piece("output_text", 0, "a") + "data: [DONE]\n\n", a[:4], false},
		{"only pieces", created + piece("output_text", 0, "a") + over, a, true},
		{"only the whole item", created + item("done", 0, message("a")) + over, a, true},
		{"only the end", frame("completed", `"response":{"id":"resp_1","model":"m","output":[`+message("a")+`]}`), a, true},
		{"everything", created + item("added", 0, message("")) + piece("output_text", 0, "a") + item("done", 0, message("a")) + over, a, true},
		{"after the end", created + piece("output_text", 0, "a") + over + piece("output_text", 0, "b"), a, true},
		{"pieces of an item that is over", created + piece("output_text", 0, "a") + item("done", 0, message("a")) + piece("output_text", 0, "b") + over, a, true},
		{"refusal", created + piece("refusal", 0, "a") + frame("completed", `"response":{"output":[{"type":"message","content":[{"refusal":"a"}]}]}`),
			append(a[:4:4], finish(sdk.FinishRefusal)), true},
		{"call", created + item("added", 0, call("c", "")) + piece("function_call_arguments", 0, `{"x":`) + piece("function_call_arguments", 0, `1}`) + item("done", 0, call("c", `{"x":1}`)) + over, one, true},
		{"whole call", created + item("done", 0, call("c", `{"x":1}`)) + over, whole, true},
		{"call without pieces", created + item("added", 0, call("c", "")) + item("done", 0, call("c", `{"x":1}`)) + over, whole, true},
		{"pieces before the start of a call", created + piece("function_call_arguments", 0, `{"x":`) + item("done", 0, call("c", `{"x":1}`)) + over, whole, true},
		{"a call without a call_id", created + item("done", 0, call("", `{"x":1}`)) + over, []sdk.Event{begun, callStart(0, "fc", "f"), whole[2], whole[3], whole[4]}, true},
		{"interleaved calls", created + item("added", 0, call("c", "")) + item("added", 1, call("d", "")) + piece("function_call_arguments", 0, `{"x":`) + piece("function_call_arguments", 1, `{}`) +
			piece("function_call_arguments", 0, `1}`) + item("done", 1, call("d", "{}")) + item("done", 0, call("c", `{"x":1}`)) + over,
			append(one[:5:5], callStart(1, "d", "f"), callDelta(1, "{}"), blockEnd(1), one[5]), true},
		{"text for a tool", created + item("added", 0, patch("")) + piece("custom_tool_call_input", 0, "a\"") + piece("custom_tool_call_input", 0, "é\n") + item("done", 0, patch("a\"é\n")) + over,
			[]sdk.Event{begun, callStart(0, "p", "patch"), callDelta(0, `{"input":"a\"`), callDelta(0, `é\n`), callDelta(0, `"}`), blockEnd(0), finish(sdk.FinishToolCalls)}, true},
		{"whole text for a tool", created + item("done", 0, patch("a\"")) + over,
			[]sdk.Event{begun, callStart(0, "p", "patch"), callDelta(0, `{"input":"a\""}`), blockEnd(0), finish(sdk.FinishToolCalls)}, true},
		{"summary of two parts", created + frame("reasoning_summary_part.added", `"output_index":0`) + piece("reasoning_summary_text", 0, "a") + frame("reasoning_summary_part.added", `"output_index":0`) + piece("reasoning_summary_text", 0, "b") + over,
			[]sdk.Event{begun, blockStart(0, sdk.BlockReasoning), delta(0, sdk.KindReasoningDelta, "a"), delta(0, sdk.KindReasoningDelta, "\n\n"), delta(0, sdk.KindReasoningDelta, "b"), blockEnd(0), finish(sdk.FinishStop)}, true},
		{"vendor's own items and reasoning that cannot be read are left out", created + item("done", 0, `{"type":"reasoning","encrypted_content":"x","summary":[]}`) + item("added", 1, `{"type":"web_search_call"}`) +
			item("done", 1, `{"type":"web_search_call"}`) + piece("output_text", 2, "a") + over, a, true},
		{"cut by the limit", created + piece("output_text", 0, "a") + frame("incomplete", `"response":{"incomplete_details":{"reason":"max_output_tokens"}}`), append(a[:4:4], finish(sdk.FinishMaxTokens)), true},
		{"failed", created + piece("output_text", 0, "a") + frame("completed", `"response":{"status":"failed"}`), a[:4], false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, complete := decode(t, dialect.Responses(), []byte(tt.stream))
			if diff := cmp.Diff(tt.want, got); diff != "" || complete != tt.complete {
				t.Errorf("complete %v, (-want +got):\n%s", complete, diff)
			}
		})
	}
}

// The items of one answer are bounded, and one with more is never complete.
func TestDecodeResponsesBounded(t *testing.T) {
	var stream strings.Builder
	for i := range 1025 {
		fmt.Fprintf(&stream, `data: {"type":"response.output_text.delta","output_index":%d,"delta":"x"}`+"\n\n", i)
	}
	stream.WriteString(`data: {"type":"response.completed","response":{}}` + "\n\n")
	if _, complete := decode(t, dialect.Responses(), []byte(stream.String())); complete {
		t.Error("the answer counts as complete")
	}
}

func TestEncodeResponses(t *testing.T) {
	o := dialect.AnswerOptions{ID: "42", Model: "m", Created: 7, Freeform: []string{"patch"}}
	got := encode(dialect.Responses(), o, []sdk.Event{
		start("msg_1", ""),
		usage(sdk.Usage{Input: 10, CacheRead: 4, CacheWrite: 1}),
		delta(0, sdk.KindReasoningDelta, "hm"), {Kind: sdk.KindBlockEnd, Signature: "s"},
		textDelta(1, "a\n"), textDelta(1, "<b>"),
		callStart(2, "x", "f"), callDelta(2, `{"a":`), callDelta(2, `1}`),
		callStart(3, "y", "g"), blockEnd(3),
		callStart(4, "z", "patch"), callDelta(4, `{"inp`), callDelta(4, `ut":"+\"fog\"\n"}`), blockEnd(4),
		usage(sdk.Usage{Output: 5, Reasoning: 2}),
		finish(sdk.FinishToolCalls),
		textDelta(5, "after the end"),
	})
	if diff := cmp.Diff(string(testdata(t, "responses/encoded.sse")), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := dialecttest.Check("responses", got); err != nil {
		t.Error(err)
	}
}

// The ways in which an answer ends.
func TestEncodeResponsesEnds(t *testing.T) {
	for f, want := range map[sdk.Finish]string{
		sdk.FinishStop:      `"status":"completed","error":null,"incomplete_details":null`,
		sdk.FinishToolCalls: `"status":"completed","error":null,"incomplete_details":null`,
		sdk.FinishMaxTokens: `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`,
		sdk.FinishRefusal:   `"status":"incomplete","error":null,"incomplete_details":{"reason":"content_filter"}`,
	} {
		events := []sdk.Event{start("", "m"), callStart(0, "x", "f"), callDelta(0, `{"cut`), finish(f)}
		for name, got := range map[string]string{
			"streamed": string(encode(dialect.Responses(), dialect.AnswerOptions{}, events)),
			"whole":    string(dialect.Responses().BuildAnswer(events, dialect.AnswerOptions{})),
		} {
			if !strings.Contains(got, want) || !strings.Contains(got, `"status":"incomplete","call_id":"x","name":"f","arguments":"{\"cut"`) {
				t.Errorf("%s, %s: got %s", f, name, got)
			}
		}
	}
}

func TestErrorFrameResponses(t *testing.T) {
	f := sdk.NewFailure(sdk.CodeRateLimit, "test", "slow\ndown")
	want := "event: response.failed\n" + `data: {"type":"response.failed","sequence_number":9,"response":{"id":"resp_7","object":"response","created_at":0,"status":"failed",` +
		`"error":{"code":"rate_limit_exceeded","message":"slow\ndown"},"incomplete_details":null,"model":"","output":[],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":null,"metadata":{}}}` + "\n\n"
	if diff := cmp.Diff(want, string(dialect.Responses().ErrorFrame(f, "req-1", dialect.Sent{ID: "resp_7", Next: 9}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Text for a tool stays text on the way through the vocabulary, also where the
// model wrote something else.
func TestFreeform(t *testing.T) {
	o := dialect.AnswerOptions{Freeform: []string{"patch"}}
	for input, want := range map[string]string{
		`{"input":"a\"b"}`:          `a"b`,
		`{"input":""}`:              ``,
		``:                          ``,
		`{"input":"a","b":1}`:       `{"input":"a","b":1}`,
		`{"input":7}`:               `{"input":7}`,
		`{"input":"a`:               `{"input":"a`,
		`{"input":"a","input":"b"}`: `{"input":"a","input":"b"}`,
	} {
		events := []sdk.Event{start("resp_1", "m"), callStart(0, "x", "patch"), callDelta(0, input), blockEnd(0), finish(sdk.FinishToolCalls)}
		streamed, complete := decode(t, dialect.Responses(), encode(dialect.Responses(), o, events))
		whole, ok := dialect.Responses().ParseAnswer(dialect.Responses().BuildAnswer(events, o))
		events[2] = callDelta(0, fmt.Sprintf(`{"input":%q}`, want))
		if diff := cmp.Diff(said(events), said(streamed)); diff != "" || !complete {
			t.Errorf("%s: complete %v (-want +got):\n%s", input, complete, diff)
		}
		if diff := cmp.Diff(said(events), said(whole)); diff != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", input, ok, diff)
		}
	}
}

// What an encoder holds is bounded, and an answer that overruns says that it was
// cut.
func TestEncodeResponsesBounded(t *testing.T) {
	enc := dialect.Responses().NewEncoder(dialect.AnswerOptions{Model: "m"})
	piece := textDelta(0, strings.Repeat("x", 1<<20))
	var last []byte
	for range 17 {
		last = enc.Encode(last[:0], piece)
	}
	if len(last) > 0 {
		t.Errorf("got %d bytes behind the limit", len(last))
	}
	end := enc.Encode(nil, finish(sdk.FinishStop))
	if n := strings.Count(string(end), "x"); n > 5*16<<20 || !strings.Contains(string(end), `"incomplete_details":{"reason":"max_output_tokens"}`) {
		t.Errorf("got %d bytes of text", n)
	}
}
