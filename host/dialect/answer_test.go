package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/sdk"
)

// An answer says the same whether it was streamed or not.
func TestParseAnswerRecordings(t *testing.T) {
	for _, d := range dialects() {
		streamed, _ := decode(t, d, testdata(t, d.Name()+"/tool.sse"))
		whole, ok := d.ParseAnswer(testdata(t, d.Name()+"/answer.json"))
		checkEvents(t, d.Name(), whole, ok)
		checkScan(t, d, testdata(t, d.Name()+"/answer.json"), whole, ok)
		want, got := said(streamed), said(whole)
		delete(want, "usage") // comes in two parts
		delete(got, "usage")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name(), diff)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	tests := []struct {
		name    string
		dialect dialect.Dialect
		body    string
		want    []sdk.Event // nil: not an answer
	}{
		{"nothing", dialect.Anthropic(), ``, nil},
		{"cut", dialect.Anthropic(), `{"type":"message","content":[`, nil},
		{"error", dialect.Anthropic(), `{"type":"error","error":{"type":"api_error"},"content":[]}`, nil},
		{"not an answer", dialect.Anthropic(), `{"input_tokens":5}`, nil},
		{"empty", dialect.Anthropic(), `{"id":"msg_1","model":"m","content":[],"stop_reason":"refusal"}`,
			[]sdk.Event{start("msg_1", "m"), finish(sdk.FinishRefusal)}},
		{"vendor's own blocks", dialect.Anthropic(), `{"content":[{"type":"server_tool_use"},{"type":"text","text":"a"}],"stop_reason":"pause_turn"}`,
			[]sdk.Event{start("", ""), blockStart(0, sdk.BlockText), textDelta(0, "a"), blockEnd(0), finish(sdk.FinishStop)}},
		{"nothing", dialect.OpenAI(), `null`, nil},
		{"all null", dialect.OpenAI(), `{"id":null,"choices":null,"usage":null}`, nil},
		{"error", dialect.OpenAI(), `{"error":{"message":"busy"},"choices":[{"message":{"content":"a"}}]}`, nil},
		{"capacity", dialect.OpenAI(), `{"choices":[{"message":{"content":"a"},"finish_reason":"insufficient_system_resource"}]}`, nil},
		{"a list for a choice", dialect.OpenAI(), `{"choices":[["message",{"content":"a"}]]}`, nil},
		{"refusal", dialect.OpenAI(), `{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"content_filter"}],"error":null}`,
			[]sdk.Event{start("", ""), blockStart(0, sdk.BlockText), textDelta(0, "no"), blockEnd(0), finish(sdk.FinishRefusal)}},
		{"error", dialect.Responses(), `{"error":{"message":"busy"}}`, nil},
		{"failed", dialect.Responses(), `{"object":"response","status":"failed","error":{"code":"server_error"},"output":[]}`, nil},
		{"given up", dialect.Responses(), `{"object":"response","status":"cancelled","output":[]}`, nil},
		{"not yet", dialect.Responses(), `{"object":"response","status":"queued","output":[]}`, nil},
		{"chat", dialect.Responses(), `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, nil},
		{"empty", dialect.Responses(), `{"id":"resp_1","model":"m","error":null,"output":[]}`, []sdk.Event{start("resp_1", "m"), finish(sdk.FinishStop)}},
		{"vendor's own items", dialect.Responses(), `{"output":[{"type":"reasoning","encrypted_content":"x","summary":[]},{"type":"web_search_call"},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}],"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`,
			[]sdk.Event{start("", ""), blockStart(0, sdk.BlockText), textDelta(0, "ab"), blockEnd(0), finish(sdk.FinishRefusal)}},
		{"text for a tool", dialect.Responses(), `{"output":[{"type":"custom_tool_call","call_id":"c","name":"f","input":"a\"b"}],"status":"completed"}`,
			[]sdk.Event{start("", ""), callStart(0, "c", "f"), callDelta(0, `{"input":"a\"b"}`), blockEnd(0), finish(sdk.FinishToolCalls)}},
		{"arguments as an object", dialect.OpenAI(), `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]},"finish_reason":"tool_calls"}]}`,
			[]sdk.Event{start("", ""), callStart(0, "c", "f"), callDelta(0, `{"a":1}`), blockEnd(0), finish(sdk.FinishToolCalls)}},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+" "+tt.name, func(t *testing.T) {
			got, ok := tt.dialect.ParseAnswer([]byte(tt.body))
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want != nil) {
				t.Errorf("ok %v, (-want +got):\n%s", ok, diff)
			}
			checkScan(t, tt.dialect, []byte(tt.body), got, ok)
		})
	}
}

func TestBuildAnswer(t *testing.T) {
	events := []sdk.Event{
		start("resp_1", "vendor-model"), usage(sdk.Usage{Input: 10, CacheRead: 4}),
		delta(0, sdk.KindReasoningDelta, "hm"), textDelta(1, "<a>"), textDelta(1, "b"), blockEnd(1),
		callStart(2, "x", "f"), callDelta(2, `{"a"`), callDelta(2, `:1}`), callStart(3, "y", "g"), callDelta(3, `{"cut`),
		usage(sdk.Usage{Output: 5}), finish(sdk.FinishMaxTokens),
	}
	o := dialect.AnswerOptions{ID: "42", Model: "m", Created: 7}
	for d, want := range map[dialect.Dialect]string{
		dialect.Anthropic(): `{"id":"msg_42","type":"message","role":"assistant","model":"vendor-model","content":[` +
			`{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"<a>b"},` +
			`{"type":"tool_use","id":"x","name":"f","input":{"a":1}},{"type":"tool_use","id":"y","name":"g","input":{}}],` +
			`"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":5}}`,
		dialect.OpenAI(): `{"id":"chatcmpl-42","object":"chat.completion","created":7,"model":"vendor-model","choices":[{"index":0,"message":{"role":"assistant","content":"<a>b","reasoning_content":"hm",` +
			`"tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"y","type":"function","function":{"name":"g","arguments":"{\"cut"}}]},"finish_reason":"length"}],` +
			`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":0}}}`,
		dialect.Responses(): `{"id":"resp_1","object":"response","created_at":7,"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"model":"vendor-model","output":[` +
			`{"id":"rs_spillway_1_0","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},` +
			`{"id":"msg_1_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"<a>b","annotations":[]}]},` +
			`{"id":"fc_1_2","type":"function_call","status":"completed","call_id":"x","name":"f","arguments":"{\"a\":1}"},` +
			`{"id":"fc_1_3","type":"function_call","status":"incomplete","call_id":"y","name":"g","arguments":"{\"cut"}],` +
			`"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15},"metadata":{}}`,
	} {
		if diff := cmp.Diff(want, string(d.BuildAnswer(events, o))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name(), diff)
		}
		for name, events := range map[string][]sdk.Event{
			"cut":    {textDelta(0, "a")},
			"failed": {textDelta(0, "a"), sdk.FailEvent(sdk.NewFailure(sdk.CodeServer, "test", "broken"))},
		} {
			if got := d.BuildAnswer(events, o); got != nil {
				t.Errorf("%s, %s: got %s", d.Name(), name, got)
			}
		}
	}
}

func TestErrorBody(t *testing.T) {
	failure := func(code sdk.Code, attempt int) *sdk.Failure {
		f := sdk.NewFailure(code, "test", `it "broke"`)
		f.Attempt = attempt
		return f
	}
	tests := []struct {
		name      string
		f         *sdk.Failure
		requestID string
		anthropic string
		openai    string
	}{
		{"caller's fault", failure(sdk.CodeInvalidRequest, 1), "req-1",
			`{"type":"error","error":{"type":"invalid_request_error","message":"it \"broke\""},"request_id":"req-1"}`,
			`{"error":{"message":"it \"broke\"","type":"invalid_request_error","param":null,"code":"invalid_request","request_id":"req-1"}}`},
		{"caller's key", failure(sdk.CodeInvalidCredential, 0), "",
			`{"type":"error","error":{"type":"authentication_error","message":"it \"broke\""}}`,
			`{"error":{"message":"it \"broke\"","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{"vendor's key", failure(sdk.CodeInvalidCredential, 2), "",
			`{"type":"error","error":{"type":"api_error","message":"it \"broke\""}}`,
			`{"error":{"message":"it \"broke\"","type":"server_error","param":null,"code":"invalid_credential"}}`},
		{"no message", sdk.NewFailure(sdk.CodeOverloaded, "test", ""), "",
			`{"type":"error","error":{"type":"overloaded_error","message":"OVERLOADED"}}`,
			`{"error":{"message":"OVERLOADED","type":"server_error","param":null,"code":"overloaded"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.anthropic, string(dialect.Anthropic().ErrorBody(tt.f, tt.requestID))); diff != "" {
				t.Errorf("anthropic (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.openai, string(dialect.OpenAI().ErrorBody(tt.f, tt.requestID))); diff != "" {
				t.Errorf("openai (-want +got):\n%s", diff)
			}
		})
	}
	for _, code := range sdk.Codes() {
		for _, d := range dialects() {
			body := d.ErrorBody(failure(code, 1), "r")
			if _, ok := d.ParseAnswer(body); ok || !json.Valid(body) {
				t.Errorf("%s, %s: %s", d.Name(), code, body)
			}
		}
	}
}

// checkScan: a scan finds of a whole answer what its events say. It may take a text
// for shown that a doubled member replaces.
func checkScan(t *testing.T, d dialect.Dialect, body []byte, events []sdk.Event, ok bool) {
	t.Helper()
	want := dialect.Mark{}
	if ok {
		want.Kind = dialect.MarkTerminal
	}
	for _, e := range events {
		switch {
		case e.Kind == sdk.KindUsage:
			want.Usage = *e.Usage
		case e.Kind == sdk.KindFinish:
			want.Finish = e.Finish
		case sdk.VisibleText.Shows(e):
			want.Visible |= sdk.VisibleText
		case sdk.VisibleReasoning.Shows(e):
			want.Visible |= sdk.VisibleReasoning
		case sdk.VisibleToolCall.Shows(e):
			want.Visible |= sdk.VisibleToolCall
		}
	}
	got, scanned := dialect.ScanAnswer(d, body)
	if got.Visible&want.Visible == want.Visible {
		got.Visible = want.Visible
	}
	if diff := cmp.Diff(want, got); diff != "" || scanned != ok {
		t.Errorf("%s: scan: ok %t, want %t (-want +got):\n%s", d.Name(), scanned, ok, diff)
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, d := range dialects() {
		f.Add(testdata(f, d.Name()+"/answer.json"))
	}
	f.Add([]byte(`{"choices":[{"message":{"tool_calls":[{}],"content":[]}}]}`))
	f.Add([]byte(`{"output":[{"type":"custom_tool_call"},{"type":"message","content":[{"refusal":"x"}]},{"type":"reasoning","summary":{}}],"status":"incomplete"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range dialects() {
			events, ok := d.ParseAnswer(body)
			checkEvents(t, d.Name(), events, ok)
			checkScan(t, d, body, events, ok)
			if !ok {
				continue
			}
			for _, to := range dialects() {
				if _, ok := to.ParseAnswer(to.BuildAnswer(events, dialect.AnswerOptions{})); !ok {
					t.Errorf("%s to %s: no answer", d.Name(), to.Name())
				}
			}
		}
	})
}

// TestScanAnswerAllocates: an answer that is relayed as it is costs no allocation.
func TestScanAnswerAllocates(t *testing.T) {
	body := []byte(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a \"word\""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}`)
	d := dialect.OpenAI()
	if n := testing.AllocsPerRun(10, func() { dialect.ScanAnswer(d, body) }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
