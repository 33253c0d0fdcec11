package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/host/dialect"
	"spillway/sdk"
)

func parse(t *testing.T, d dialect.Dialect, body string) *sdk.Prompt {
	t.Helper()
	p, err := d.ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(t *testing.T, d dialect.Dialect, p *sdk.Prompt, o dialect.Outbound) (string, []string) {
	t.Helper()
	o.Model = "m"
	body, dropped, err := d.BuildRequest(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), dropped
}

func TestParseAgents(t *testing.T) {
	schema := json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "number"}}, "required": ["path"]}`)
	want := &sdk.Prompt{
		System: []sdk.Part{{Kind: sdk.PartText, Text: "You tend a harbour.", Cache: true}, sdk.TextPart("Work with care.")},
		Messages: []sdk.Message{
			{Role: sdk.RoleUser, Parts: []sdk.Part{
				sdk.TextPart("<reminder>Keep answers short.</reminder>"), sdk.TextPart("Say which day the harbour log names."),
			}},
			{Role: sdk.RoleSystem, Parts: []sdk.Part{sdk.TextPart("# Surroundings\nFolder: /srv/harbour")}},
			{Role: sdk.RoleAssistant, Parts: []sdk.Part{
				{Kind: sdk.PartReasoning, Text: "The log must be read.", Signature: "c2lnbmVk"},
				sdk.TextPart("Reading the log."),
				{Kind: sdk.PartToolCall, ID: "toolu_01harbour", Name: "Read", Input: json.RawMessage(`{"path": "log.txt", "lines": 3}`)},
			}},
			{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "toolu_01harbour", Result: []sdk.Part{sdk.TextPart("Monday: fog")}, Cache: true},
			}},
		},
		Tools: []sdk.Tool{
			{Name: "Read", Description: "Reads a file.", Schema: schema},
			{Name: "Later", Description: "Stands for tools not yet shown.", Schema: json.RawMessage(`{"type": "object"}`)},
		},
		MaxTokens: 32000,
		Effort:    "medium",
		Reasoning: true,
		Dropped: []string{
			"messages.output_config", "x-anthropic-billing-header", "tools.defer_loading", "tool web_search",
			"metadata.user_id", "context_management", "safeguards",
		},
	}
	if diff := cmp.Diff(want, parse(t, dialect.Anthropic(), string(testdata(t, "anthropic/agent.json")))); diff != "" {
		t.Errorf("anthropic (-want +got):\n%s", diff)
	}

	want = &sdk.Prompt{
		System: []sdk.Part{sdk.TextPart("You tend a harbour.")},
		Messages: []sdk.Message{
			want.Messages[0],
			{Role: sdk.RoleAssistant, Parts: []sdk.Part{
				{Kind: sdk.PartReasoning, Text: "The log must be read."},
				sdk.TextPart("Reading the log."),
				{Kind: sdk.PartToolCall, ID: "call_01harbour", Name: "read", Input: json.RawMessage(`{"path":"log.txt","lines":3}`)},
			}},
			{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "call_01harbour", Result: []sdk.Part{sdk.TextPart("Monday: fog")}},
			}},
		},
		Tools: []sdk.Tool{
			{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
		},
		MaxTokens: 8192,
		Effort:    "high",
		Reasoning: true,
		Dropped:   []string{"store"},
	}
	if diff := cmp.Diff(want, parse(t, dialect.OpenAI(), string(testdata(t, "openai/agent.json")))); diff != "" {
		t.Errorf("openai (-want +got):\n%s", diff)
	}
}

// Each row is one thing a caller may send, and what of it is known afterwards.
func TestParseFields(t *testing.T) {
	anthropic, openai := dialect.Anthropic(), dialect.OpenAI()
	yes, no, half := true, false, 0.5
	user := func(parts ...sdk.Part) []sdk.Message {
		return []sdk.Message{{Role: sdk.RoleUser, Parts: parts}}
	}
	tests := []struct {
		name    string
		dialect dialect.Dialect
		fields  string // beside the model; with "messages" absent it is empty
		want    sdk.Prompt
	}{
		{"system string", anthropic, `"system":"S"`, sdk.Prompt{System: []sdk.Part{sdk.TextPart("S")}}},
		{"sampling", anthropic, `"temperature":0.5,"top_p":0.5,"top_k":3,"stop_sequences":["a","b"]`,
			sdk.Prompt{Temperature: &half, TopP: &half, Stop: []string{"a", "b"}, Dropped: []string{"top_k"}}},
		{"sampling", openai, `"temperature":0.5,"top_p":0.5,"seed":3,"stop":["a","b"]`,
			sdk.Prompt{Temperature: &half, TopP: &half, Stop: []string{"a", "b"}, Dropped: []string{"seed"}}},
		{"one stop", openai, `"stop":"a"`, sdk.Prompt{Stop: []string{"a"}}},
		{"null is nothing", openai, `"stop":null,"temperature":null,"seed":null,"tools":null`, sdk.Prompt{}},
		{"user", anthropic, `"metadata":{"user_id":"anna","team":"x"}`, sdk.Prompt{User: "anna", Dropped: []string{"metadata.team"}}},
		{"user", openai, `"user":"anna"`, sdk.Prompt{User: "anna"}},
		{"limits", openai, `"max_tokens":5,"max_completion_tokens":7`, sdk.Prompt{MaxTokens: 7}},
		{"budget", anthropic, `"thinking":{"type":"enabled","budget_tokens":2000}`,
			sdk.Prompt{Reasoning: true, Dropped: []string{"thinking.budget_tokens"}}},
		{"no thinking", anthropic, `"thinking":{"type":"disabled"},"output_config":{"effort":"low","x":1}`,
			sdk.Prompt{Effort: "low", Dropped: []string{"thinking.disabled", "output_config.x"}}},
		{"no thinking", openai, `"thinking":{"type":"disabled"}`, sdk.Prompt{Dropped: []string{"thinking.disabled"}}},
		{"thinking", openai, `"thinking":{"type":"enabled"}`, sdk.Prompt{Reasoning: true}},
		{"relay's reasoning", openai, `"reasoning":{"effort":"high","enabled":false}`, sdk.Prompt{Effort: "high"}},
		{"schema", anthropic, `"output_config":{"format":{"type":"json_schema","schema":{"a":1}}}`,
			sdk.Prompt{Schema: &sdk.Schema{Schema: json.RawMessage(`{"a":1}`), Strict: true}}},
		{"schema, older", anthropic, `"output_format":{"type":"json_schema","schema":{"a":1}}`,
			sdk.Prompt{Schema: &sdk.Schema{Schema: json.RawMessage(`{"a":1}`), Strict: true}}},
		{"schema", openai, `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"a":1},"strict":true}}`,
			sdk.Prompt{Schema: &sdk.Schema{Name: "n", Schema: json.RawMessage(`{"a":1}`), Strict: true}}},
		{"any object", openai, `"response_format":{"type":"json_object"}`, sdk.Prompt{Schema: &sdk.Schema{}}},
		{"text", openai, `"response_format":{"type":"text"}`, sdk.Prompt{}},
		{"grammar", openai, `"response_format":{"type":"grammar"}`, sdk.Prompt{Dropped: []string{"response_format"}}},

		{"choice any, single", anthropic, `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`,
			sdk.Prompt{ToolChoice: &sdk.ToolChoice{Mode: "required"}, ParallelTools: &no}},
		{"choice tool", anthropic, `"tools":[{"name":"t","input_schema":{}}],"tool_choice":{"type":"tool","name":"t"}`,
			sdk.Prompt{Tools: []sdk.Tool{{Name: "t", Schema: json.RawMessage(`{}`)}}, ToolChoice: &sdk.ToolChoice{Mode: "tool", Name: "t"}}},
		{"choice of a dropped tool", anthropic, `"tool_choice":{"type":"tool","name":"t"},"tools":[{"name":"t","type":"bash_20250124"}]`,
			sdk.Prompt{Dropped: []string{"tool t", "tool_choice"}}},
		{"choice required", openai, `"tool_choice":"required","parallel_tool_calls":true`,
			sdk.Prompt{ToolChoice: &sdk.ToolChoice{Mode: "required"}, ParallelTools: &yes}},
		{"choice function", openai, `"tools":[{"type":"function","function":{"name":"t","strict":true}}],"tool_choice":{"type":"function","function":{"name":"t"}}`,
			sdk.Prompt{Tools: []sdk.Tool{{Name: "t", Strict: true}}, ToolChoice: &sdk.ToolChoice{Mode: "tool", Name: "t"}}},
		{"choice among some", openai, `"tool_choice":{"type":"allowed_tools"}`, sdk.Prompt{Dropped: []string{"tool_choice"}}},
		{"vendor's tools", openai, `"tools":[{"type":"custom"},{"type":"web_search"}]`,
			sdk.Prompt{Dropped: []string{"tool custom", "tool web_search"}}},
		{"tool fields", anthropic, `"tools":[{"type":"custom","name":"t","input_schema":{},"strict":true,"cache_control":{}}]`,
			sdk.Prompt{Tools: []sdk.Tool{{Name: "t", Schema: json.RawMessage(`{}`), Strict: true}}, Dropped: []string{"tools.cache_control"}}},

		{"images", anthropic, `"messages":[{"role":"user","content":[
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},
			{"type":"image","source":{"type":"url","url":"https://a.example/x"}},
			{"type":"image","source":{"type":"file","file_id":"f"}}]}]`,
			sdk.Prompt{Messages: user(sdk.Part{Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="},
				sdk.Part{Kind: sdk.PartImage, URL: "https://a.example/x"}), Dropped: []string{"image.file"}}},
		{"images", openai, `"messages":[{"role":"user","content":[
			{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}},
			{"type":"image_url","image_url":"https://a.example/x"},
			{"type":"input_audio"}]}]`,
			sdk.Prompt{Messages: user(sdk.Part{Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="},
				sdk.Part{Kind: sdk.PartImage, URL: "https://a.example/x"}), Dropped: []string{"input_audio"}}},
		{"documents", anthropic, `"messages":[{"role":"user","content":[
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}},
			{"type":"document","source":{"type":"url","url":"https://a.example/x"}}]}]`,
			sdk.Prompt{Messages: user(sdk.Part{Kind: sdk.PartDocument, MediaType: "text/plain", Data: "aGk="},
				sdk.Part{Kind: sdk.PartDocument, URL: "https://a.example/x"})}},
		{"documents", openai, `"messages":[{"role":"user","content":[
			{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"x.pdf"}},
			{"type":"file","file":{"file_id":"f"}}]}]`,
			sdk.Prompt{Messages: user(sdk.Part{Kind: sdk.PartDocument, MediaType: "application/pdf", Data: "AA=="}), Dropped: []string{"file"}}},
		{"redacted reasoning and unknown blocks", anthropic, `"messages":[{"role":"assistant","content":[
			{"type":"redacted_thinking","data":"xx"},{"type":"server_tool_use","id":"s"},{"type":"text","text":"a"}]}]`,
			sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleAssistant, Parts: []sdk.Part{{Kind: sdk.PartReasoning, Redacted: "xx"}, sdk.TextPart("a")}}},
				Dropped: []string{"server_tool_use"}}},
		{"results and text in one message", anthropic, `"messages":[{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"u"}}]},
			{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"go on"}]}]`,
			sdk.Prompt{Messages: []sdk.Message{
				{Role: sdk.RoleTool, Parts: []sdk.Part{
					{Kind: sdk.PartToolResult, ID: "a", Error: true, Result: []sdk.Part{sdk.TextPart("x"), {Kind: sdk.PartImage, URL: "u"}}},
					{Kind: sdk.PartToolResult, ID: "b"},
				}},
				{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("go on")}},
			}}},
		{"results of their own", openai, `"messages":[{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":""}]`,
			sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "a", Result: []sdk.Part{sdk.TextPart("x")}},
				{Kind: sdk.PartToolResult, ID: "b", Result: []sdk.Part{sdk.TextPart("")}},
			}}}}},
		{"result with a cache marker", openai, `"messages":[{"role":"tool","tool_call_id":"a","content":"x","cache_control":{"type":"ephemeral"}}]`,
			sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "a", Result: []sdk.Part{sdk.TextPart("x")}, Cache: true},
			}}}}},
		{"calls in odd forms", openai, `"messages":[{"role":"assistant","content":"","tool_calls":[
			{"id":"a","function":{"name":"f","arguments":{"x":1}}},
			{"id":"b","function":{"name":"f","arguments":""}},
			{"id":"c","function":{"name":"f","arguments":"{\"x\":"}},
			{"id":"d","type":"custom","custom":{}}]}]`,
			sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleAssistant, Parts: []sdk.Part{
				{Kind: sdk.PartToolCall, ID: "a", Name: "f", Input: json.RawMessage(`{"x":1}`)},
				{Kind: sdk.PartToolCall, ID: "b", Name: "f", Input: json.RawMessage(`{}`)},
				{Kind: sdk.PartToolCall, ID: "c", Name: "f", Input: json.RawMessage(`{}`)},
			}}}, Dropped: []string{"tool_calls.arguments", "tool_calls.custom"}}},
		{"refusal in the history", openai, `"messages":[{"role":"assistant","content":null,"refusal":"no","parsed":{}}]`,
			sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleAssistant, Parts: []sdk.Part{sdk.TextPart("no")}}}}},
		{"system, leading and not", openai, `"messages":[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c"},{"role":"system","content":"d"}]`,
			sdk.Prompt{System: []sdk.Part{sdk.TextPart("a"), sdk.TextPart("b")}, Messages: []sdk.Message{
				{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("c")}}, {Role: sdk.RoleSystem, Parts: []sdk.Part{sdk.TextPart("d")}},
			}}},
		{"unknown role", openai, `"messages":[{"role":"critic","content":"a","name":"n"}]`,
			sdk.Prompt{Messages: user(sdk.TextPart("a")), Dropped: []string{"messages.name", "role critic"}}},
		{"unknown role", anthropic, `"messages":[{"role":"critic","content":"a"}]`,
			sdk.Prompt{Messages: user(sdk.TextPart("a")), Dropped: []string{"role critic"}}},
		{"bytes that are no text", openai, "\"user\":\"a\xffb\\ud800\"", sdk.Prompt{User: "a\ufffdb\ufffd"}},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+" "+tt.name, func(t *testing.T) {
			body := `{"model":"m",` + tt.fields + `}`
			if !strings.Contains(body, `"messages"`) {
				body = `{"model":"m","messages":[],` + tt.fields + `}`
			}
			if diff := cmp.Diff(&tt.want, parse(t, tt.dialect, body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDroppedIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(`,"` + strings.Repeat("é", 100) + strings.Repeat("x", i) + `":1`)
		b.WriteString(`,"` + strings.Repeat("y", i%50) + `":1`)
	}
	p := parse(t, dialect.OpenAI(), `{"model":"m","messages":[]`+b.String()+`}`)
	if len(p.Dropped) != 32 {
		t.Errorf("got %d names", len(p.Dropped))
	}
	for _, name := range p.Dropped {
		if len(name) > 64 {
			t.Errorf("long name %q", name)
		}
	}
}

func TestBuild(t *testing.T) {
	anthropic, openai := dialect.Anthropic(), dialect.OpenAI()
	no, half, two := false, 0.5, 2.0
	say := func(role sdk.Role, parts ...sdk.Part) sdk.Message { return sdk.Message{Role: role, Parts: parts} }
	call := sdk.Part{Kind: sdk.PartToolCall, ID: "c", Name: "f", Input: json.RawMessage(`{"a":"<b>"}`)}
	result := sdk.Part{Kind: sdk.PartToolResult, ID: "c", Result: []sdk.Part{sdk.TextPart("x"), sdk.TextPart("y")}, Error: true}
	picture := sdk.Part{Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="}
	tool := []sdk.Tool{{Name: "f", Description: "d", Strict: true}}
	hi := []sdk.Message{say(sdk.RoleUser, sdk.TextPart("hi"))}
	const hiAnthropic = `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]`
	const hiOpenAI = `"messages":[{"role":"user","content":"hi"}]`
	tests := []struct {
		name    string
		to      dialect.Dialect
		p       sdk.Prompt
		o       dialect.Outbound
		want    string
		dropped []string
	}{
		{"least", anthropic, sdk.Prompt{}, dialect.Outbound{}, `{"model":"m","max_tokens":8192,"messages":[]}`, nil},
		{"least", openai, sdk.Prompt{}, dialect.Outbound{}, `{"model":"m","messages":[]}`, nil},
		{"stream, limit of the outbound", anthropic, sdk.Prompt{Messages: hi}, dialect.Outbound{Stream: true, MaxOutput: 99},
			`{"model":"m","max_tokens":99,"stream":true,` + hiAnthropic + `}`, nil},
		{"limit of the prompt", anthropic, sdk.Prompt{Messages: hi, MaxTokens: 7}, dialect.Outbound{MaxOutput: 99},
			`{"model":"m","max_tokens":7,` + hiAnthropic + `}`, nil},
		{"stream", openai, sdk.Prompt{Messages: hi, MaxTokens: 7}, dialect.Outbound{Stream: true, MaxOutput: 99},
			`{"model":"m",` + hiOpenAI + `,"stream":true,"stream_options":{"include_usage":true},"max_tokens":7}`, nil},
		{"quirks", openai, sdk.Prompt{Messages: hi, MaxTokens: 7},
			dialect.Outbound{Stream: true, Quirks: dialect.Quirks{NoStreamUsage: true, MaxCompletionTokens: true}},
			`{"model":"m",` + hiOpenAI + `,"stream":true,"max_completion_tokens":7}`, nil},
		{"cache marker to others", anthropic, sdk.Prompt{System: []sdk.Part{{Kind: sdk.PartText, Text: "a", Cache: true}}, Messages: hi}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,"system":[{"type":"text","text":"a"}],` + hiAnthropic + `}`, []string{"cache_control"}},
		{"notice between a call and its result", openai, sdk.Prompt{Messages: []sdk.Message{
			{Role: sdk.RoleAssistant, Parts: []sdk.Part{{Kind: sdk.PartToolCall, ID: "c", Name: "f"}}},
			{Role: sdk.RoleSystem, Parts: []sdk.Part{sdk.TextPart("n")}},
			{Role: sdk.RoleTool, Parts: []sdk.Part{{Kind: sdk.PartToolResult, ID: "c", Result: []sdk.Part{sdk.TextPart("r")}}}}}}, dialect.Outbound{},
			`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","content":"r","tool_call_id":"c"},{"role":"system","content":"n"}]}`, nil},
		{"system", anthropic, sdk.Prompt{System: []sdk.Part{{Kind: sdk.PartText, Text: "a", Cache: true}, sdk.TextPart("b"), sdk.TextPart(""), picture}, Messages: hi}, dialect.Outbound{Quirks: claude},
			`{"model":"m","max_tokens":8192,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],` + hiAnthropic + `}`,
			[]string{"system.image"}},
		{"system", openai, sdk.Prompt{System: []sdk.Part{{Kind: sdk.PartText, Text: "a", Cache: true}, sdk.TextPart("b")}, Messages: hi}, dialect.Outbound{},
			`{"model":"m","messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":"hi"}]}`, []string{"cache_control"}},
		{"tool trip", anthropic, sdk.Prompt{Messages: []sdk.Message{
			say(sdk.RoleAssistant, call), say(sdk.RoleSystem, sdk.TextPart("note")), say(sdk.RoleTool, result), say(sdk.RoleUser, sdk.TextPart("go on")),
		}}, dialect.Outbound{}, `{"model":"m","max_tokens":8192,"messages":[` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":"<b>"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}],"is_error":true},` +
			`{"type":"text","text":"note"},{"type":"text","text":"go on"}]}]}`, []string{"role system"}},
		{"tool trip", openai, sdk.Prompt{Messages: []sdk.Message{
			say(sdk.RoleAssistant, call), say(sdk.RoleTool, result), say(sdk.RoleSystem, sdk.TextPart("note")), say(sdk.RoleUser, sdk.TextPart("go on")),
		}}, dialect.Outbound{}, `{"model":"m","messages":[` +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":\"<b>\"}"}}]},` +
			`{"role":"tool","content":"x\n\ny","tool_call_id":"c"},{"role":"system","content":"note"},{"role":"user","content":"go on"}]}`, []string{"is_error"}},
		{"call without arguments", anthropic, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartToolCall, ID: "c", Name: "f", Input: json.RawMessage(`[1]`)})}},
			dialect.Outbound{}, `{"model":"m","max_tokens":8192,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}]}`, []string{"tool_call.input"}},
		{"picture in a result", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleTool, sdk.Part{Kind: sdk.PartToolResult, ID: "c", Result: []sdk.Part{picture}})}},
			dialect.Outbound{}, `{"model":"m","messages":[{"role":"tool","content":"","tool_call_id":"c"},{"role":"user","content":[` +
				`{"type":"text","text":"Attached to the result of c:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`, nil},
		{"picture", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleUser, sdk.TextPart("see"), sdk.Part{Kind: sdk.PartImage, URL: "https://a.example/x"})}},
			dialect.Outbound{}, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"https://a.example/x"}}]}]}`, nil},
		{"documents", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleUser,
			sdk.Part{Kind: sdk.PartDocument, MediaType: "application/pdf", Data: "AA=="},
			sdk.Part{Kind: sdk.PartDocument, MediaType: "text/plain", Data: "aGk="},
			sdk.Part{Kind: sdk.PartDocument, URL: "https://a.example/x"})}}, dialect.Outbound{},
			`{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,AA=="}},{"type":"text","text":"hi"}]}]}`,
			[]string{"document"}},
		{"documents", anthropic, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleUser,
			sdk.Part{Kind: sdk.PartDocument, MediaType: "text/plain", Data: "aGk="}, sdk.Part{Kind: sdk.PartDocument, URL: "https://a.example/x"})}}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}},{"type":"document","source":{"type":"url","url":"https://a.example/x"}}]}]}`, nil},
		{"reasoning at home", anthropic, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant,
			sdk.Part{Kind: sdk.PartReasoning, Signature: "s"}, sdk.Part{Kind: sdk.PartReasoning, Redacted: "r"}, sdk.Part{Kind: sdk.PartReasoning, Text: "unsigned"}, sdk.TextPart("a"))}},
			dialect.Outbound{}, `{"model":"m","max_tokens":8192,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"redacted_thinking","data":"r"},{"type":"text","text":"a"}]}]}`,
			[]string{"reasoning"}},
		{"only foreign reasoning", anthropic, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartReasoning, Text: "x"}), hi[0]}},
			dialect.Outbound{}, `{"model":"m","max_tokens":8192,` + hiAnthropic + `}`, []string{"reasoning"}},
		{"foreign reasoning", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartReasoning, Text: "x", Signature: "s"}, call)}},
			dialect.Outbound{Quirks: dialect.Quirks{ReasoningContent: true}},
			`{"model":"m","messages":[{"role":"assistant","content":null,"reasoning_content":"Calling a tool.","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":\"<b>\"}"}}]}]}`, []string{"reasoning"}},
		{"reasoning the vendor wants back", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartReasoning, Text: "x"}, sdk.TextPart("a"))}},
			dialect.Outbound{Quirks: dialect.Quirks{ReasoningContent: true}}, `{"model":"m","messages":[{"role":"assistant","content":"a","reasoning_content":"x"}]}`, nil},
		{"reasoning nobody wants back", openai, sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartReasoning, Text: "x"}, sdk.TextPart("a"))}},
			dialect.Outbound{}, `{"model":"m","messages":[{"role":"assistant","content":"a"}]}`, []string{"reasoning"}},
		{"tools", anthropic, sdk.Prompt{Messages: hi, Tools: tool, ParallelTools: &no}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `,"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, nil},
		{"tools", openai, sdk.Prompt{Messages: hi, Tools: tool, ParallelTools: &no, ToolChoice: &sdk.ToolChoice{Mode: "tool", Name: "f"}}, dialect.Outbound{},
			`{"model":"m",` + hiOpenAI + `,"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true}}],"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false}`, nil},
		{"choice without tools", anthropic, sdk.Prompt{Messages: hi, ToolChoice: &sdk.ToolChoice{Mode: "auto"}}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `}`, nil},
		{"choice without tools", openai, sdk.Prompt{Messages: hi, ToolChoice: &sdk.ToolChoice{Mode: "auto"}, ParallelTools: &no}, dialect.Outbound{},
			`{"model":"m",` + hiOpenAI + `}`, nil},
		{"reasoning and its rivals", anthropic, sdk.Prompt{Messages: hi, Reasoning: true, Effort: "minimal", Temperature: &half, TopP: &half}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`, []string{"temperature", "top_p"}},
		{"reasoning and a forced tool", anthropic, sdk.Prompt{Messages: hi, Reasoning: true, Tools: tool, ToolChoice: &sdk.ToolChoice{Mode: "required"}}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `,"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true}],"tool_choice":{"type":"any"}}`, []string{"thinking"}},
		{"hot", anthropic, sdk.Prompt{Messages: hi, Temperature: &two, TopP: &half, Stop: []string{"a"}}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `,"temperature":1,"stop_sequences":["a"]}`, []string{"temperature", "top_p"}},
		{"effort", openai, sdk.Prompt{Messages: hi, Reasoning: true, Effort: "max", Stop: []string{"a", "b", "c", "d", "e"}}, dialect.Outbound{},
			`{"model":"m",` + hiOpenAI + `,"stop":["a","b","c","d"],"reasoning_effort":"high"}`, []string{"effort", "stop"}},
		{"reasoning without effort", openai, sdk.Prompt{Messages: hi, Reasoning: true}, dialect.Outbound{}, `{"model":"m",` + hiOpenAI + `}`, []string{"thinking"}},
		{"unknown effort", anthropic, sdk.Prompt{Messages: hi, Effort: "heroic"}, dialect.Outbound{}, `{"model":"m","max_tokens":8192,` + hiAnthropic + `}`, []string{"effort"}},
		{"schema", anthropic, sdk.Prompt{Messages: hi, User: "anna", Schema: &sdk.Schema{Schema: json.RawMessage(`{"a":1}`)}}, dialect.Outbound{},
			`{"model":"m","max_tokens":8192,` + hiAnthropic + `,"output_config":{"format":{"type":"json_schema","schema":{"a":1}}},"metadata":{"user_id":"anna"}}`, nil},
		{"schema", openai, sdk.Prompt{Messages: hi, User: "anna", Schema: &sdk.Schema{Schema: json.RawMessage(`{"a":1}`), Strict: true}}, dialect.Outbound{},
			`{"model":"m",` + hiOpenAI + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"a":1},"strict":true}},"user":"anna"}`, nil},
		{"any object", anthropic, sdk.Prompt{Messages: hi, Schema: &sdk.Schema{}}, dialect.Outbound{}, `{"model":"m","max_tokens":8192,` + hiAnthropic + `}`, []string{"response_format"}},
		{"any object", openai, sdk.Prompt{Messages: hi, Schema: &sdk.Schema{}}, dialect.Outbound{}, `{"model":"m",` + hiOpenAI + `,"response_format":{"type":"json_object"}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.to.Name()+" "+tt.name, func(t *testing.T) {
			got, dropped := build(t, tt.to, &tt.p, tt.o)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.dropped, dropped, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBuildRefusesBrokenSchema(t *testing.T) {
	for _, d := range dialects() {
		_, _, err := d.BuildRequest(&sdk.Prompt{Tools: []sdk.Tool{{Name: "f", Schema: json.RawMessage(`{`)}}}, dialect.Outbound{})
		if err == nil {
			t.Errorf("%s: no error", d.Name())
		}
	}
}
