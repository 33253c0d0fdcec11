package sim_test

import (
	"encoding/json"
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

const (
	anthropicLoop = `[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},`
	openaiLoop    = `[{"role":"user","content":"Hi."},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]},`
)

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
		{"prefill", "openai", noPrefill, `[{"role":"assistant","content":"Well"}]`, nil, "does not support assistant message prefill"},
	} {
		t.Run(tt.dialect+" "+tt.name, func(t *testing.T) {
			e := one(t, "ok", tt.mode)
			a := ask{dialect: tt.dialect, stream: tt.fields["stream"] == nil, fields: maps.Clone(tt.fields)}
			if tt.messages != "" {
				a.fields = map[string]any{"messages": list(t, tt.messages)}
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
}

func TestVersionHeader(t *testing.T) {
	e := one(t, "ok", strict)
	r := ask{dialect: "anthropic"}.request(t.Context(), t, e.URL())
	r.Header.Del("Anthropic-Version")
	if got := roundTrip(r); got.status != 400 || !strings.Contains(got.body, "anthropic-version: header is required") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}
