package dialecttest_test

import (
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
)

func TestCheckRequest(t *testing.T) {
	const (
		call   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
		result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
		signed = `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"tool_use","id":"a"}]}`
	)
	turns := func(all ...string) string { return `{"model":"m","messages":[` + strings.Join(all, ",") + `]}` }
	items := func(all ...string) string { return `{"model":"m","input":[` + strings.Join(all, ",") + `]}` }
	made := func(seal string) bool { return seal == "s" }
	tests := []struct {
		name, dialect, body string
		vendor              dialecttest.Vendor
		want                string // in the error, "" for none
	}{
		{"pairs", "anthropic", turns(call, result), dialecttest.Vendor{}, ""},
		{"no JSON", "anthropic", `{`, dialecttest.Vendor{}, "unexpected end"},
		{"no model", "openai", `{}`, dialecttest.Vendor{}, "no model"},
		{"unknown dialect", "x", `{"model":"m"}`, dialecttest.Vendor{}, "unknown"},
		{"call without result", "anthropic", turns(call), dialecttest.Vendor{}, "no result"},
		{"result too late", "anthropic", turns(call, `{"role":"user","content":"x"}`, result), dialecttest.Vendor{}, "no result"},
		{"result of nothing", "anthropic", turns(result), dialecttest.Vendor{}, "tool_result"},
		{"result behind words", "anthropic", turns(call, `{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}`), dialecttest.Vendor{}, "tool_result"},
		{"id twice", "anthropic", turns(call, result, call, result), dialecttest.Vendor{}, "tool_use"},
		{"id of other letters", "anthropic", turns(`{"role":"assistant","content":[{"type":"tool_use","id":"a:1"}]}`), dialecttest.Vendor{}, "tool_use"},
		{"own signature", "anthropic", turns(signed, result), dialecttest.Vendor{Made: made}, ""},
		{"foreign signature", "anthropic", turns(signed, result), dialecttest.Vendor{}, "seal"},
		{"no signature", "anthropic", turns(`{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}`), dialecttest.Vendor{Made: made}, "seal"},
		{"no signature needed", "anthropic", turns(`{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}`), dialecttest.Vendor{Unsigned: true}, ""},
		{"call without reasoning", "anthropic", turns(call, result), dialecttest.Vendor{Reasoning: true}, "reasoning"},
		{"loop without thinking", "anthropic", `{"model":"m","thinking":{"type":"enabled"},"messages":[` + call + "," + result + `]}`, dialecttest.Vendor{Begun: true}, "began"},
		{"loop with thinking", "anthropic", `{"model":"m","thinking":{"type":"enabled"},"messages":[` + signed + "," + result + `]}`, dialecttest.Vendor{Begun: true, Made: made}, ""},
		{"empty text", "anthropic", turns(`{"role":"user","content":[{"type":"text","text":""}]}`), dialecttest.Vendor{}, "empty"},
		{"no content", "anthropic", turns(`{"role":"user","content":[]}`), dialecttest.Vendor{}, "no content"},
		{"system in the midst", "anthropic", turns(`{"role":"system","content":"x"}`), dialecttest.Vendor{Common: true}, "role"},
		{"block of another vendor", "anthropic", turns(`{"role":"assistant","content":[{"type":"server_tool_use"}]}`), dialecttest.Vendor{Common: true}, "block"},
		{"field of another vendor", "anthropic", `{"model":"m","metadata":{}}`, dialecttest.Vendor{Common: true}, "metadata"},
		{"cache marker", "anthropic", turns(`{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}`), dialecttest.Vendor{Common: true}, "cache"},

		{"pairs", "openai", turns(`{"role":"assistant","tool_calls":[{"id":"a"}]}`, `{"role":"tool","tool_call_id":"a"}`), dialecttest.Vendor{}, ""},
		{"call without result", "openai", turns(`{"role":"assistant","tool_calls":[{"id":"a"}]}`, `{"role":"user","content":"x"}`), dialecttest.Vendor{}, "no result"},
		{"result of nothing", "openai", turns(`{"role":"tool","tool_call_id":"a"}`), dialecttest.Vendor{}, "result of"},
		{"long id", "openai", turns(`{"role":"assistant","tool_calls":[{"id":"` + strings.Repeat("a", 41) + `"}]}`), dialecttest.Vendor{Common: true}, "call"},
		{"call without reasoning", "openai", turns(`{"role":"assistant","tool_calls":[{"id":"a"}]}`), dialecttest.Vendor{Reasoning: true}, "reasoning"},
		{"reasoning", "openai", turns(`{"role":"assistant","content":"x","reasoning_content":"y"}`), dialecttest.Vendor{Common: true}, "reasoning"},
		{"nothing said", "openai", turns(`{"role":"assistant"}`), dialecttest.Vendor{}, "nothing"},
		{"developer", "openai", turns(`{"role":"developer","content":"x"}`), dialecttest.Vendor{Common: true}, "role"},
		{"critic", "openai", turns(`{"role":"critic","content":"x"}`), dialecttest.Vendor{}, "role"},

		{"pairs", "responses", items(`{"type":"function_call","call_id":"a"}`, `{"type":"function_call_output","call_id":"a"}`), dialecttest.Vendor{Common: true}, ""},
		{"call without result", "responses", items(`{"type":"function_call","call_id":"a"}`), dialecttest.Vendor{}, "no result"},
		{"result of nothing", "responses", items(`{"type":"function_call_output","call_id":"a"}`), dialecttest.Vendor{}, "output of"},
		{"long id", "responses", items(`{"type":"function_call","call_id":"` + strings.Repeat("a", 65) + `"}`), dialecttest.Vendor{Common: true}, "call"},
		{"own reasoning", "responses", items(`{"type":"reasoning","id":"rs_1","encrypted_content":"s"}`), dialecttest.Vendor{Made: made}, ""},
		{"foreign reasoning", "responses", items(`{"type":"reasoning","id":"rs_1","encrypted_content":"t"}`), dialecttest.Vendor{Made: made}, "encrypted"},
		{"reasoning that was made here", "responses", items(`{"type":"reasoning","id":"rs_spillway_1"}`), dialecttest.Vendor{}, "nobody"},
		{"kept item", "responses", items(`{"type":"message","id":"msg_1"}`), dialecttest.Vendor{Common: true}, "id"},
	}
	for _, tt := range tests {
		err := dialecttest.CheckRequest(tt.dialect, []byte(tt.body), tt.vendor)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %s: got %v, want %q", tt.dialect, tt.name, err, tt.want)
		}
	}
}
