package dialect_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
)

// The vendors of vendors.yml, as far as histories go.
var (
	claude = dialect.Quirks{SealedReasoning: true, AllFields: true}
	kimi   = dialect.Quirks{ReasoningContent: true, AnyToolID: true}
	plain  = dialect.Quirks{}
)

// own says that the seals of these signatures are the vendor's.
func own(signatures ...string) func(dialect.Seal) bool {
	return func(s dialect.Seal) bool {
		return slices.ContainsFunc(signatures, func(sig string) bool { return dialect.SealOf(sig) == s })
	}
}

// The history of one conversation, as the caller holds it: Claude's turn, then
// Kimi's by way of Messages, then one that was translated.
const mixed = `[{"role":"user","content":"go"},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"C","signature":"claude's"},{"type":"redacted_thinking","data":"claude's too"}, {"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1, "a":"é"}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"}]},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"K","signature":"kimi's"},{"type":"tool_use","id":"f:1","name":"f","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"f:1","content":"2"}]},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"D","signature":""},{"type":"tool_use","id":"call_2","name":"f","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"3"}]}]`

func TestProject(t *testing.T) {
	const tail = `,"messages":` + mixed + `}`
	atClaude := strings.NewReplacer(
		`{"type":"thinking","thinking":"K","signature":"kimi's"},`, ``,
		`{"type":"thinking","thinking":"D","signature":""},`, ``,
		`f:1`, `id_Zjox`)
	atKimi := strings.NewReplacer(
		`{"type":"thinking","thinking":"C","signature":"claude's"},{"type":"redacted_thinking","data":"claude's too"}, `, `{"type":"thinking","thinking":"Calling a tool.","signature":""},`,
		`f:1`, `id_Zjox`)
	chat := func(body string) string { return `{"model":"m","messages":[` + body + `]}` }
	tests := []struct {
		name    string
		dialect dialect.Dialect
		body    string
		o       dialect.Outbound
		want    string
		dropped []string
	}{
		{"home again", dialect.Anthropic(), `{"model":"m" ,"metadata":{"user_id":"u"},"thinking":{"type":"adaptive"}` + tail,
			dialect.Outbound{Quirks: claude, Home: true, Owns: own("claude's", "claude's too")},
			atClaude.Replace(`{"model":"m" ,"metadata":{"user_id":"u"},"thinking":{"type":"adaptive"}` + tail), []string{"thinking"}},
		{"nothing foreign", dialect.Anthropic(), `{"model":"m", "messages":[ {"role":"assistant", "content":[ {"type":"thinking","thinking":"C","signature":"claude's"} ]} ] }`,
			dialect.Outbound{Quirks: claude, Home: true}, `{"model":"m", "messages":[ {"role":"assistant", "content":[ {"type":"thinking","thinking":"C","signature":"claude's"} ]} ] }`, nil},
		{"to who wants reasoning", dialect.Anthropic(), `{"model":"m"` + tail,
			dialect.Outbound{Quirks: kimi, Owns: own("kimi's")}, atKimi.Replace(`{"model":"m"` + tail), []string{"thinking", "redacted_thinking"}},
		{"to anybody", dialect.Anthropic(), `{"model":"m","messages":[{"role":"user","content":"go"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"D"}]},{"role":"user","content":"on"}]}`,
			dialect.Outbound{Quirks: plain, Owns: own()}, `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"user","content":"on"}]}`, []string{"thinking"}},
		{"unsigned at home, where nobody signs", dialect.Anthropic(), `{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"D"}]}]}`,
			dialect.Outbound{Quirks: plain, Home: true}, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"D"}]}]}`, nil},

		{"a loop that another began, manual thinking", dialect.Anthropic(), `{"thinking":{"type":"enabled","budget_tokens":2000},"context_management":{"edits":[]},"model":"m","messages":[{"role":"user","content":"go"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"n"}]}]}`,
			dialect.Outbound{Quirks: claude, Home: true}, `{"thinking":{"type":"disabled"},"model":"m","messages":[{"role":"user","content":"go"},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"n"}]}]}`,
			[]string{"thinking", "context_management"}},
		{"a loop that it began itself", dialect.Anthropic(), `{"thinking":{"type":"enabled"},"model":"m"` + tail,
			dialect.Outbound{Quirks: claude, Home: true, Owns: own("claude's", "claude's too")},
			atClaude.Replace(`{"thinking":{"type":"enabled"},"model":"m"` + tail), []string{"thinking"}},
		{"an id that counts anew in each turn", dialect.Anthropic(), `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"f:0"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f:0"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"f:0"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"f:0"}]}]}`,
			dialect.Outbound{Quirks: claude, Home: true}, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"id_Zjow"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"id_Zjow"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"id_ZjowOjI"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"id_ZjowOjI"}]}]}`, nil},
		{"a loop that is over", dialect.Anthropic(), `{"thinking":{"type":"enabled"},"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`,
			dialect.Outbound{Quirks: claude, Home: true}, `{"thinking":{"type":"enabled"},"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, nil},

		{"what is Anthropic's only", dialect.Anthropic(),
			`{"model":"m","max_tokens":9,"safeguards":[1],"metadata":{"user_id":"u"},"context_management":{},"output_config":{"effort":"low","x":1},"thinking":{"type":"adaptive","display":"omitted"},` +
				`"system":[{"type":"text","text":"x-anthropic-billing-header: v"},{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],` +
				`"tools":[{"name":"f","input_schema":{"x":1},"defer_loading":true,"eager_input_streaming":true,"cache_control":{}},{"type":"web_search_20250305","name":"web_search"}],` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}],"x":1},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"server_tool_use","id":"s"}]},` +
				`{"role":"system","content":"mid","output_config":{}},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r","cache_control":{}}],"cache_control":{}}]}]}`,
			dialect.Outbound{Quirks: plain},
			`{"model":"m","max_tokens":9,"output_config":{"effort":"low"},"thinking":{"type":"adaptive"},` +
				`"system":[{"type":"text","text":"S"}],"tools":[{"name":"f","input_schema":{"x":1}}],` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r"}]}]},{"role":"user","content":"mid"}]}`,
			[]string{"safeguards", "metadata", "context_management", "output_config.x", "thinking.display", "x-anthropic-billing-header", "cache_control",
				"tools.defer_loading", "tools.eager_input_streaming", "tools.cache_control", "tool web_search_20250305 web_search", "messages.x", "server_tool_use", "messages.output_config", "role system"}},
		{"all of it, to who owns the dialect", dialect.Anthropic(), `{"model":"m","safeguards":[1],"system":[{"text":"x-anthropic-billing-header: v"}],"tools":[{"type":"t"}],"messages":[{"role":"system","content":"mid"}]}`,
			dialect.Outbound{Quirks: claude}, `{"model":"m","safeguards":[1],"system":[{"text":"x-anthropic-billing-header: v"}],"tools":[{"type":"t"}],"messages":[{"role":"system","content":"mid"}]}`, nil},
		{"no tool left", dialect.Anthropic(), `{"model":"m","tool_choice":{"type":"any"},"tools":[{"type":"web_search_20250305","name":"w"}],"messages":[]}`,
			dialect.Outbound{Quirks: plain}, `{"model":"m","messages":[]}`, []string{"tool web_search_20250305 w", "tool_choice"}},

		{"reasoning to who knows none", dialect.OpenAI(), chat(`{"role":"developer","content":"d"},{"role":"assistant","content":null,"reasoning_content":"R","reasoning":"R","reasoning_details":[1],"tool_calls":[]}`),
			dialect.Outbound{Quirks: plain}, chat(`{"role":"system","content":"d"},{"role":"assistant","content":null,"tool_calls":[]}`), []string{"messages.reasoning_details", "reasoning_content", "reasoning"}},
		{"reasoning to who wants it", dialect.OpenAI(), chat(`{"role":"assistant","content":"x"},{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"assistant","reasoning":"R","tool_calls":[{"id":"b"}]},{"role":"assistant","reasoning_content":"R","tool_calls":[{"id":"c"}]}`),
			dialect.Outbound{Quirks: kimi}, chat(`{"role":"assistant","content":"x"},{"role":"assistant","tool_calls":[{"id":"a"}],"reasoning_content":"Calling a tool."},{"role":"assistant","tool_calls":[{"id":"b"}],"reasoning_content":"R"},{"role":"assistant","reasoning_content":"R","tool_calls":[{"id":"c"}]}`), nil},
		{"ids of so many letters", dialect.OpenAI(), chat(`{"role":"assistant","tool_calls":[{"id":"call_1","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"call_1","content":"r"},{"role":"assistant","tool_calls":[{"id":"abcDEF123"}]}`),
			dialect.Outbound{Quirks: dialect.Quirks{ToolIDLength: 9}, Home: true}, chat(`{"role":"assistant","tool_calls":[{"id":"V4VBKxSKr","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"V4VBKxSKr","content":"r"},{"role":"assistant","tool_calls":[{"id":"abcDEF123"}]}`), nil},
		{"what is one vendor's only", dialect.OpenAI(), `{"model":"m","store":true,"prompt_cache_key":"k","seed":1,"max_completion_tokens":7,"thinking":{"type":"enabled"},"stream_options":{},"tools":[{"type":"function","function":{"strict":true},"cache_control":{}}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]}]}`,
			dialect.Outbound{Quirks: dialect.Quirks{NoStreamUsage: true}}, `{"model":"m","seed":1,"tools":[{"type":"function","function":{"strict":true}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"max_tokens":7}`,
			[]string{"store", "prompt_cache_key", "thinking", "stream_options", "tools.cache_control", "cache_control"}},
		{"a tool that is no function", dialect.OpenAI(), `{"model":"m","tools":[{"type":"custom","custom":{}}],"tool_choice":"auto","parallel_tool_calls":true,"messages":[]}`,
			dialect.Outbound{Quirks: plain}, `{"model":"m","messages":[]}`, []string{"tool custom", "tool_choice", "parallel_tool_calls"}},
		{"thinking beside an effort", dialect.OpenAI(), `{"model":"m","thinking":{"type":"enabled"},"reasoning_effort":"high","messages":[]}`,
			dialect.Outbound{Quirks: kimi}, `{"model":"m","reasoning_effort":"high","messages":[]}`, []string{"thinking"}},
		{"thinking alone", dialect.OpenAI(), `{"model":"m","thinking":{"type":"enabled"},"max_tokens":7,"messages":[]}`,
			dialect.Outbound{Quirks: dialect.Quirks{ReasoningContent: true, MaxCompletionTokens: true}}, `{"model":"m","thinking":{"type":"enabled"},"messages":[],"max_completion_tokens":7}`, nil},

		{"items of another", dialect.Responses(), `{"model":"m","store":true,"include":["x"],"prompt_cache_key":"k","tools":[{"type":"function","name":"f"},{"type":"namespace","name":"n"},{"type":"web_search"}],` +
			`"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"theirs"},{"type":"message","id":"msg_1","role":"assistant","content":[]},{"role":"user","content":"x"},{"type":"web_search_call","id":"ws_1"},{"type":"reasoning","id":"rs_2","summary":[]},{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}]}`,
			dialect.Outbound{Quirks: plain, Owns: own()}, `{"model":"m","store":false,"tools":[{"type":"function","name":"f"}],"input":[{"type":"message","role":"assistant","content":[]},{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}`,
			[]string{"store", "include", "prompt_cache_key", "tool namespace n", "tool web_search", "reasoning", "web_search_call"}},
		{"items at home again", dialect.Responses(), `{"model":"m","store":true,"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ours"},{"type":"reasoning","id":"rs_0","summary":[]},{"type":"reasoning","id":"rs_spillway_42_0","summary":[]},{"type":"compaction","encrypted_content":"theirs"},{"type":"function_call","id":"fc_1","call_id":"c"}]}`,
			dialect.Outbound{Quirks: plain, Home: true, Owns: own("ours")}, `{"model":"m","store":true,"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"ours"},{"type":"reasoning","id":"rs_0","summary":[]},{"type":"function_call","id":"fc_1","call_id":"c"}]}`,
			[]string{"reasoning", "compaction"}},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+" "+tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			tt.o.Model = "m"
			got, dropped, err := tt.dialect.Project(body, tt.o)
			if err != nil || string(got) != tt.want {
				t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(tt.want, string(got)))
			}
			if d := cmp.Diff(tt.dropped, dropped); d != "" {
				t.Errorf("dropped (-want +got):\n%s", d)
			}
			if string(body) != tt.body {
				t.Errorf("the caller's own became %s", body)
			}
			again, _, err := tt.dialect.Project(bytes.Clone(got), tt.o)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("projected again: %v, %s", err, again)
			}
			if tt.want == tt.body && &got[0] != &body[0] {
				t.Error("got a copy of what stays as it is")
			}
		})
	}
}

// At home a request that holds nothing foreign is looked through and not copied.
func BenchmarkProject(b *testing.B) {
	filler := strings.Repeat(`Some words of a \"prompt\", with line ends.\n`, 1000)
	body := []byte(strings.Replace(string(testdata(b, "anthropic/agent.json")), "Work with care.", filler, 1))
	in, err := dialect.Anthropic().Inspect(body)
	if err != nil {
		b.Fatal(err)
	}
	o := dialect.Outbound{Model: in.Model, Quirks: claude, Home: true}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if got, _, err := dialect.Anthropic().Project(body, o); err != nil || &got[0] != &body[0] {
			b.Fatal(err)
		}
	}
}
