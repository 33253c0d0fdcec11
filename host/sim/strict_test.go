package sim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"spillway/host/sim"
)

// list reads JSON written in a test.
func list(t *testing.T, text string) (v []any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func strict(v *sim.Vendor)    { v.Strict = true }
func noPrefill(v *sim.Vendor) { v.NoPrefill = true }
func reasons(v *sim.Vendor)   { v.Strict, v.ReasoningHistory = true, true }
func likeKimi(v *sim.Vendor)  { v.Strict, v.ReasoningHistory, v.FilledReasoning = true, true, true }
func exact(v *sim.Vendor)     { v.Strict, v.Exact = true, true }

const (
	anthropicLoop = `[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},`
	responsesLoop = `[{"role":"user","content":"Hi."},{"type":"function_call","id":"fc_1","call_id":"t1","name":"f","arguments":"{}"},`
	openaiLoop    = `[{"role":"user","content":"Hi."},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]},`
)

const (
	anthropicResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"}]}`
	openaiResult    = `{"role":"tool","tool_call_id":"t1","content":"42"}`
)

// thoughtLoop is a tool loop that begins with unsigned thinking.
func thoughtLoop(thinking string) string {
	return strings.Replace(anthropicLoop, `[{"type":"tool_use"`, `[{"type":"thinking","thinking":`+thinking+`,"signature":""},{"type":"tool_use"`, 1) + anthropicResult + `]`
}

func TestStrict(t *testing.T) {
	for _, tt := range []struct {
		name, dialect string
		mode          func(*sim.Vendor)
		messages      string         // "" for a good one
		fields        map[string]any // nil values take a field away
		want          string         // "" to be answered
	}{
		{"plain", "anthropic", strict, "", nil, ""},
		{"system turns", "anthropic", strict, `[{"role":"user","content":"Hi."},{"role":"system","content":"Be kind."}]`, nil, ""},
		{"tool loop", "anthropic", strict, anthropicLoop + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"}]}]`, nil, ""},
		{"no result", "anthropic", strict, anthropicLoop + `{"role":"user","content":"So?"}]`, nil, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1."},
		{"ends with a call", "anthropic", strict, strings.TrimSuffix(anthropicLoop, ",") + `]`, nil, "`tool_use` ids were found without"},
		{"result of nothing", "anthropic", strict, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"42"}]}]`, nil, "unexpected `tool_use_id` found in `tool_result` blocks: t9"},
		{"no max_tokens", "anthropic", strict, "", map[string]any{"max_tokens": nil}, "max_tokens: Field required"},
		{"max_tokens 0", "anthropic", strict, "", map[string]any{"max_tokens": 0}, "max_tokens: Input should be greater"},
		{"no messages", "anthropic", strict, `[]`, nil, "messages: at least one message is required"},
		{"tool role", "anthropic", strict, `[{"role":"tool","content":"42"}]`, nil, `Unexpected role \"tool\"`},
		{"chat part", "anthropic", strict, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`, nil, "messages.0.content.0.type: Input tag 'image_url'"},
		{"empty text", "anthropic", strict, `[{"role":"user","content":[{"type":"text","text":""}]}]`, nil, "text content blocks must be non-empty"},
		{"chat field", "anthropic", strict, "", map[string]any{"stream_options": map[string]any{}}, "stream_options: Extra inputs are not permitted"},
		{"chat tool", "anthropic", strict, "", map[string]any{"tools": []any{openaiTool}}, "tools.0: Input tag 'function'"},
		{"tool name", "anthropic", strict, "", map[string]any{"tools": []any{map[string]any{"name": "a.b", "input_schema": map[string]any{}}}}, "tools.0.custom.name: String should match pattern"},
		{"tool id", "anthropic", strict, `[{"role":"assistant","content":[{"type":"tool_use","id":"a:b","name":"f","input":{}}]}]`, nil, "tool_use.id: String should match pattern"},
		{"foreign reasoning", "anthropic", strict, `[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"Zm9yZWlnbg=="}]},{"role":"user","content":"So?"}]`, nil, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"reasoning left out", "anthropic", reasons, anthropicLoop + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"}]}]`, nil, "reasoning_content is missing in assistant tool call message at index 1"},
		{"empty reasoning", "anthropic", reasons, thoughtLoop(`""`), nil, ""},
		{"unsigned reasoning", "anthropic", likeKimi, thoughtLoop(`"Well."`), nil, ""},
		{"unsigned reasoning", "anthropic", strict, thoughtLoop(`"Well."`), nil, "Invalid `signature` in `thinking` block"},
		{"reasoning left out, thinking off", "anthropic", reasons, anthropicLoop + anthropicResult + `]`, map[string]any{"thinking": map[string]any{"type": "disabled"}}, ""},
		{"foreign redacted reasoning", "anthropic", strict, `[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},{"role":"user","content":"So?"}]`, nil, "Invalid `data` in `redacted_thinking` block"},
		{"a loop without thinking by budget", "anthropic", strict, anthropicLoop + anthropicResult + `]`, map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"},
		{"a loop without thinking as it sees fit", "anthropic", strict, anthropicLoop + anthropicResult + `]`, map[string]any{"thinking": map[string]any{"type": "adaptive"}}, ""},
		{"an earlier loop without thinking", "anthropic", strict, anthropicLoop + anthropicResult + `,{"role":"assistant","content":"42."},{"role":"user","content":"So?"}]`, map[string]any{"thinking": map[string]any{"type": "enabled"}}, ""},
		{"result behind text", "anthropic", strict, anthropicLoop + `{"role":"user","content":[{"type":"text","text":"So."},{"type":"tool_result","tool_use_id":"t1","content":"42"}]}]`, nil, "`tool_result` blocks immediately after: t1."},
		{"text behind the result", "anthropic", strict, anthropicLoop + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"},{"type":"text","text":"So."}]}]`, nil, ""},
		{"an id twice", "anthropic", strict, anthropicLoop + anthropicResult + `,` + strings.TrimPrefix(anthropicLoop, "[") + anthropicResult + `]`, nil, "`tool_use` ids must be unique"},
		{"message field", "anthropic", strict, `[{"role":"user","content":"Hi.","name":"x"}]`, nil, "messages.0.name: Extra inputs are not permitted"},
		{"block field", "anthropic", strict, `[{"role":"user","content":[{"type":"text","text":"Hi.","id":"x"}]}]`, nil, "messages.0.content.0.text.id: Extra inputs are not permitted"},
		{"marked reasoning", "anthropic", likeKimi, strings.Replace(thoughtLoop(`"Well."`), `"thinking":`, `"cache_control":{"type":"ephemeral"},"thinking":`, 1), nil, "thinking.cache_control: Extra inputs are not permitted"},
		{"no input", "anthropic", strict, strings.Replace(anthropicLoop, `{}`, `"{}"`, 1) + anthropicResult + `]`, nil, "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{"empty message", "anthropic", strict, `[{"role":"user","content":""},{"role":"user","content":"Hi."}]`, nil, "messages.0: all messages must have non-empty content"},
		{"no content", "anthropic", strict, `[{"role":"user"}]`, nil, "messages.0: all messages must have non-empty content"},
		{"empty end", "anthropic", strict, `[{"role":"user","content":"Hi."},{"role":"assistant","content":[]}]`, nil, ""},
		{"blank text", "anthropic", strict, `[{"role":"user","content":" "}]`, nil, "text content blocks must contain non-whitespace text"},
		{"messages of no shape", "anthropic", strict, `[{"role":"user","content":[{"type":7}]}]`, nil, "messages.0.content.0.type: Input tag ''"},
		{"prefill", "anthropic", noPrefill, `[{"role":"user","content":"Hi."},{"role":"assistant","content":"Well"}]`, nil, "does not support assistant message prefill"},
		{"prefill where it is fine", "anthropic", strict, `[{"role":"user","content":"Hi."},{"role":"assistant","content":"Well"}]`, nil, ""},

		{"plain", "openai", strict, "", nil, ""},
		{"developer", "openai", strict, `[{"role":"developer","content":"Be kind."},{"role":"user","content":[{"type":"text","text":"Hi."}]}]`, nil, ""},
		{"tool loop", "openai", strict, openaiLoop + `{"role":"tool","tool_call_id":"t1","content":"42"}]`, nil, ""},
		{"no result", "openai", strict, openaiLoop + `{"role":"user","content":"So?"}]`, nil, "The following tool_call_ids did not have response messages: t1"},
		{"ends with a call", "openai", strict, strings.TrimSuffix(openaiLoop, ",") + `]`, nil, "did not have response messages: t1"},
		{"result of nothing", "openai", strict, `[{"role":"tool","tool_call_id":"t9","content":"42"}]`, nil, "messages with role 'tool' must be a response"},
		{"no messages", "openai", strict, `[]`, nil, "Invalid 'messages': empty array."},
		{"unknown role", "openai", strict, `[{"role":"model","content":"Hi."}]`, nil, "Invalid value: 'model'."},
		{"messages block", "openai", strict, `[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]`, nil, "Invalid value: 'thinking'."},
		{"usage without a stream", "openai", strict, "", map[string]any{"stream_options": map[string]any{"include_usage": true}, "stream": false}, "only allowed when 'stream' is enabled"},
		{"messages tool", "openai", strict, "", map[string]any{"tools": []any{anthropicTool}}, "Missing required parameter: 'tools[0].function'."},
		{"arguments as an object", "openai", strict, strings.Replace(openaiLoop, `"{}"`, `{}`, 1) + `{"role":"tool","tool_call_id":"t1","content":"42"}]`, nil, "arguments': expected a string"},
		{"reasoning left out", "openai", reasons, openaiLoop + `{"role":"tool","tool_call_id":"t1","content":"42"}]`, nil, "reasoning_content is missing in assistant tool call message at index 1"},
		{"empty reasoning", "openai", reasons, strings.Replace(openaiLoop, `"content":null`, `"content":null,"reasoning_content":""`, 1) + `{"role":"tool","tool_call_id":"t1","content":"42"}]`, nil, ""},
		{"plain", "responses", strict, "", nil, ""},
		{"a string", "responses", strict, "", map[string]any{"input": "Hi."}, ""},
		{"every kind of turn", "responses", strict, `[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be kind."}]},{"role":"user","content":[{"type":"input_image","image_url":"data:"}]},` +
			`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Well.","annotations":[]}]},{"type":"web_search_call","id":"ws_1"}]`, nil, ""},
		{"tool loop", "responses", strict, responsesLoop + `{"type":"function_call_output","call_id":"t1","output":"42"}]`, nil, ""},
		{"outputs in parts", "responses", strict, responsesLoop + `{"type":"function_call_output","call_id":"t1","output":[{"type":"input_text","text":"42"}]}]`, nil, ""},
		{"freeform loop", "responses", strict, `[{"type":"custom_tool_call","call_id":"t1","name":"f","input":"x"},{"type":"custom_tool_call_output","call_id":"t1","output":"42"}]`, nil, ""},
		{"no output", "responses", strict, responsesLoop + `{"role":"user","content":"So?"}]`, nil, "No tool output found for function call t1."},
		{"output of nothing", "responses", strict, `[{"type":"function_call_output","call_id":"t9","output":"42"}]`, nil, "No tool call found for function call output with call_id t9."},
		{"empty output", "responses", strict, responsesLoop + `{"type":"function_call_output","call_id":"t1"}]`, nil, "Missing required parameter: 'input[2].output'."},
		{"messages block in an output", "responses", strict, responsesLoop + `{"type":"function_call_output","call_id":"t1","output":[{"type":"text","text":"42"}]}]`, nil, "'input[2].output[0]': 'text'"},
		{"no input", "responses", strict, `[]`, nil, "Missing required parameter: 'input'."},
		{"no model", "responses", strict, "", map[string]any{"model": nil}, "Missing required parameter: 'model'."},
		{"chat messages", "responses", strict, "", map[string]any{"messages": []any{}}, "this parameter has moved to 'input'"},
		{"chat limit", "responses", strict, "", map[string]any{"max_tokens": 100}, "this parameter has moved to 'max_output_tokens'"},
		{"unknown field", "responses", strict, "", map[string]any{"stop": "x"}, "Unknown parameter: 'stop'."},
		{"a small limit", "responses", strict, "", map[string]any{"max_output_tokens": 15}, "Expected a value >= 16"},
		{"earlier answer", "responses", strict, "", map[string]any{"previous_response_id": "resp_1"}, "Previous response with id 'resp_1' not found."},
		{"item kept by the vendor", "responses", strict, `[{"type":"item_reference","id":"msg_1"}]`, nil, "Item with id 'msg_1' not found."},
		{"unknown kind", "responses", strict, `[{"type":"tool_use","id":"t1"}]`, nil, "Invalid value for 'input[0]': 'tool_use'."},
		{"no items", "responses", strict, "", map[string]any{"input": map[string]any{}}, "Invalid value for 'input[0]': ''."},
		{"unknown role", "responses", strict, `[{"role":"tool","content":"Hi."}]`, nil, "Invalid value for 'input[0].role': 'tool'."},
		{"heard and said", "responses", strict, `[{"role":"assistant","content":[{"type":"input_text","text":"Hi."}]}]`, nil, "'input[0].content[0]': 'input_text'"},
		{"chat part", "responses", strict, `[{"role":"user","content":[{"type":"text","text":"Hi."}]}]`, nil, "'input[0].content[0]': 'text'"},
		{"id of another kind", "responses", strict, strings.Replace(responsesLoop, "fc_1", "call_1", 1) + `{"type":"function_call_output","call_id":"t1","output":"42"}]`, nil, "Expected an ID that begins with 'fc'."},
		{"no call id", "responses", strict, `[{"type":"function_call","name":"f","arguments":"{}"}]`, nil, "Missing required parameter: 'input[0].call_id'."},
		{"long call id", "responses", strict, `[{"type":"function_call","call_id":"` + strings.Repeat("x", 65) + `","name":"f","arguments":"{}"}]`, nil, "string too long. Expected a string with maximum length 64"},
		{"no name", "responses", strict, `[{"type":"function_call","call_id":"t1","arguments":"{}"}]`, nil, "Missing required parameter: 'input[0].name'."},
		{"bad name", "responses", strict, `[{"type":"function_call","call_id":"t1","name":"a.b","arguments":"{}"}]`, nil, "Invalid 'input[0].name': string does not match pattern."},
		{"arguments as an object", "responses", strict, `[{"type":"function_call","call_id":"t1","name":"f","arguments":{}}]`, nil, "'input[0].arguments': expected a string"},
		{"foreign reasoning", "responses", strict, `[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Zm9yZWlnbg=="},{"role":"user","content":"Hi."}]`, nil, "The encrypted content for item rs_1 could not be verified."},
		{"open reasoning", "responses", strict, `[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"Hi."}]`, nil, "Item with id 'rs_1' not found."},
		{"hosted tools", "responses", strict, "", map[string]any{"tools": []any{responsesTool, map[string]any{"type": "web_search"}, map[string]any{"type": "custom", "name": "f"}}}, ""},
		{"chat tool", "responses", strict, "", map[string]any{"tools": []any{openaiTool}}, "Missing required parameter: 'tools[0].name'."},
		{"tool of no type", "responses", strict, "", map[string]any{"tools": []any{anthropicTool}}, "Missing required parameter: 'tools[0].type'."},
		{"tool name", "responses", strict, "", map[string]any{"tools": []any{map[string]any{"type": "function", "name": "a.b"}}}, "Invalid 'tools[0].name'"},
		{"prefill", "responses", noPrefill, `[{"role":"user","content":"Hi."},{"role":"assistant","content":"Well"}]`, nil, "does not support assistant message prefill"},
		{"empty reasoning counts for none", "openai", likeKimi, strings.Replace(openaiLoop, `"content":null`, `"content":null,"reasoning_content":""`, 1) + openaiResult + `]`, nil, "reasoning_content is missing in assistant tool call message at index 1"},
		{"blank reasoning", "openai", likeKimi, strings.Replace(openaiLoop, `"content":null`, `"content":null,"reasoning_content":" "`, 1) + openaiResult + `]`, nil, ""},
		{"reasoning left out, thinking off", "openai", likeKimi, openaiLoop + openaiResult + `]`, map[string]any{"thinking": map[string]any{"type": "disabled"}}, ""},
		{"nothing said", "openai", strict, `[{"role":"assistant","content":null},{"role":"user","content":"Hi."}]`, nil, "Invalid value for 'messages[0].content': expected a string, got null."},
		{"exact", "openai", exact, openaiLoop + openaiResult + `]`, map[string]any{"store": false, "max_completion_tokens": 9}, ""},
		{"unknown field", "openai", strict, "", map[string]any{"thinking": map[string]any{"type": "enabled"}}, ""},
		{"unknown field, exact", "openai", exact, "", map[string]any{"thinking": map[string]any{"type": "enabled"}}, "Unrecognized request argument supplied: thinking"},
		{"unknown message field, exact", "openai", exact, `[{"role":"assistant","content":"Hi.","reasoning_content":"x"}]`, nil, "Unknown parameter: 'messages[0].reasoning_content'."},
		{"long call id, exact", "openai", exact, strings.Replace(openaiLoop, `"id":"t1"`, `"id":"`+strings.Repeat("x", 41)+`"`, 1) + openaiResult + `]`, nil, "'messages[1].tool_calls[0].id': string too long"},
		{"prefill", "openai", noPrefill, `[{"role":"assistant","content":"Well"}]`, nil, "does not support assistant message prefill"},
	} {
		t.Run(tt.dialect+" "+tt.name, func(t *testing.T) {
			e := one(t, "ok", tt.mode)
			a := ask{dialect: tt.dialect, stream: tt.fields["stream"] == nil, fields: maps.Clone(tt.fields)}
			if tt.messages != "" {
				if a.fields == nil {
					a.fields = map[string]any{}
				}
				a.fields[stopWord(tt.dialect, "messages", "messages", "input")] = list(t, tt.messages)
			}
			r := a.send(t.Context(), t, e)
			status := http.StatusBadRequest
			if tt.want == "" {
				status = http.StatusOK
			}
			if r.status != status || !strings.Contains(r.body, tt.want) {
				t.Errorf("got %d %s, want %d with %s", r.status, r.body, status, tt.want)
			}
			if step := e.Calls()[0].Step; (step == "") != (tt.want != "") {
				t.Errorf("played %q: a request that is refused takes no step", step)
			}
		})
	}
}

// A vendor's own reasoning passes its own check and nobody else's.
func TestSignatures(t *testing.T) {
	s := open(t, sim.Vendor{Name: "claude", Strict: true, Script: "ok reasoning=3"}, sim.Vendor{Name: "kimi", Strict: true})
	first := ask{dialect: "anthropic"}.send(t.Context(), t, s.Vendor("claude"))
	var answer struct{ Content []any }
	if err := json.Unmarshal([]byte(first.body), &answer); err != nil {
		t.Fatal(err)
	}
	user := map[string]any{"role": "user", "content": "Hi."}
	next := ask{dialect: "anthropic", fields: map[string]any{"messages": []any{user, map[string]any{"role": "assistant", "content": answer.Content}, user}}}
	for vendor, want := range map[string]int{"claude": 200, "kimi": 400} {
		if r := next.send(t.Context(), t, s.Vendor(vendor)); r.status != want {
			t.Errorf("%s: got %d %s, want %d", vendor, r.status, r.body, want)
		}
	}

	first = ask{dialect: "responses"}.send(t.Context(), t, s.Vendor("claude"))
	var response struct{ Output []any }
	if err := json.Unmarshal([]byte(first.body), &response); err != nil {
		t.Fatal(err)
	}
	next = ask{dialect: "responses", fields: map[string]any{"input": response.Output}}
	for vendor, want := range map[string]int{"claude": 200, "kimi": 400} {
		if r := next.send(t.Context(), t, s.Vendor(vendor)); r.status != want {
			t.Errorf("%s: got %d %s, want %d", vendor, r.status, r.body, want)
		}
	}
	next.fields["input"] = response.Output[:1]
	if r := next.send(t.Context(), t, s.Vendor("claude")); !strings.Contains(r.body, "without its required following item") {
		t.Errorf("reasoning alone: got %d %s", r.status, r.body)
	}
}

func TestNamedCalls(t *testing.T) {
	e := one(t, "tool", func(v *sim.Vendor) { v.NamedCalls = true })
	for _, dialect := range dialects {
		tool := map[string]any{"anthropic": anthropicTool, "openai": openaiTool, "responses": responsesTool}[dialect]
		for _, stream := range []bool{false, true} {
			a := ask{dialect: dialect, stream: stream, fields: map[string]any{"tools": []any{tool}}}
			want := fmt.Sprintf(`"Bash:%d"`, len(e.Calls())+1)
			if r := a.send(t.Context(), t, e); !strings.Contains(r.body, want) {
				t.Errorf("%s: got %s, want the id %s", a.name(), r.body, want)
			}
		}
	}
}

func TestVersionHeader(t *testing.T) {
	e := one(t, "ok", strict)
	r := ask{dialect: "anthropic"}.request(t.Context(), t, e.URL())
	r.Header.Del("Anthropic-Version")
	if got := roundTrip(r); got.status != 400 || !strings.Contains(got.body, "anthropic-version: header is required") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}
