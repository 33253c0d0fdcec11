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

const freeformSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

func TestParseResponsesAgent(t *testing.T) {
	want := &sdk.Prompt{
		System: []sdk.Part{sdk.TextPart("You tend a harbour."), sdk.TextPart("Work with care.")},
		Messages: []sdk.Message{
			{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("<reminder>Keep answers short.</reminder>")}},
			{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("Say which day the harbour log names.")}},
			{Role: sdk.RoleAssistant, Parts: []sdk.Part{
				{Kind: sdk.PartReasoning, Text: "The log must be read."},
				sdk.TextPart("Reading the log."),
				{Kind: sdk.PartToolCall, ID: "call_01harbour", Name: "read", Input: json.RawMessage(`{"path":"log.txt","lines":3}`)},
				{Kind: sdk.PartToolCall, ID: "call_02harbour", Name: "apply_patch", Input: json.RawMessage(`{"input":"*** Begin\n+\"fog\"\n"}`)},
			}},
			{Role: sdk.RoleTool, Parts: []sdk.Part{
				{Kind: sdk.PartToolResult, ID: "call_01harbour", Result: []sdk.Part{sdk.TextPart("Monday: fog")}},
				{Kind: sdk.PartToolResult, ID: "call_02harbour", Result: []sdk.Part{sdk.TextPart("Done"), {Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="}}},
			}},
		},
		Tools: []sdk.Tool{
			{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
			{Name: "apply_patch", Description: "Changes files.", Schema: json.RawMessage(freeformSchema)},
		},
		ToolChoice:    &sdk.ToolChoice{Mode: "auto"},
		ParallelTools: new(true),
		Effort:        "high",
		Reasoning:     true,
		Dropped: []string{
			"reasoning.encrypted_content", "tools.format", "tool namespace crew", "tool web_search",
			"reasoning.summary", "include", "prompt_cache_key", "client_metadata",
		},
	}
	if diff := cmp.Diff(want, parse(t, dialect.Responses(), string(testdata(t, "responses/agent.json")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each row is one thing a caller may send, and what of it is known afterwards.
func TestParseResponses(t *testing.T) {
	user := func(parts ...sdk.Part) []sdk.Message { return []sdk.Message{{Role: sdk.RoleUser, Parts: parts}} }
	model := func(parts ...sdk.Part) []sdk.Message {
		return []sdk.Message{{Role: sdk.RoleAssistant, Parts: parts}}
	}
	call := func(id, input string) sdk.Part {
		return sdk.Part{Kind: sdk.PartToolCall, ID: id, Name: "f", Input: json.RawMessage(input)}
	}
	tests := []struct {
		name, fields string // beside the model; with "input" absent it is empty
		want         sdk.Prompt
	}{
		{"a text", `"input":"hi"`, sdk.Prompt{Messages: user(sdk.TextPart("hi"))}},
		{"instructions come first", `"input":[{"role":"system","content":"b"},{"role":"user","content":"c"},{"role":"developer","content":"d"}],"instructions":"a"`,
			sdk.Prompt{System: []sdk.Part{sdk.TextPart("a"), sdk.TextPart("b")}, Messages: []sdk.Message{
				{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("c")}}, {Role: sdk.RoleSystem, Parts: []sdk.Part{sdk.TextPart("d")}}}}},
		{"nothing that says anything", `"instructions":"","store":false,"stream_options":{"include_obfuscation":false},"background":false,"tools":null`, sdk.Prompt{}},
		{"limits and sampling", `"max_output_tokens":7,"temperature":0.5,"top_p":0.5,"top_logprobs":2,"user":"anna","store":true`,
			sdk.Prompt{MaxTokens: 7, Temperature: new(0.5), TopP: new(0.5), User: "anna", Dropped: []string{"top_logprobs", "store"}}},
		{"reasoning", `"reasoning":{"effort":"minimal","summary":null}`, sdk.Prompt{Effort: "minimal", Reasoning: true}},
		{"no reasoning", `"reasoning":{"effort":"none","summary":"auto"}`, sdk.Prompt{Effort: "none", Dropped: []string{"reasoning.summary"}}},
		{"schema", `"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"a":1},"strict":true}}`,
			sdk.Prompt{Schema: &sdk.Schema{Name: "n", Schema: json.RawMessage(`{"a":1}`), Strict: true}, Dropped: []string{"text.verbosity"}}},
		{"any object", `"text":{"format":{"type":"json_object"}}`, sdk.Prompt{Schema: &sdk.Schema{}}},
		{"text", `"text":{"format":{"type":"text"}}`, sdk.Prompt{}},
		{"grammar", `"text":{"format":{"type":"lark"}}`, sdk.Prompt{Dropped: []string{"text.format"}}},
		{"choice of a function", `"tools":[{"type":"function","name":"f","strict":true,"defer_loading":true}],"tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false`,
			sdk.Prompt{Tools: []sdk.Tool{{Name: "f", Strict: true}}, ToolChoice: &sdk.ToolChoice{Mode: "tool", Name: "f"}, ParallelTools: new(false), Dropped: []string{"tools.defer_loading"}}},
		{"choice of a vendor's tool", `"tools":[{"type":"mcp","server_label":"x"},{"type":"local_shell"}],"tool_choice":{"type":"mcp"}`,
			sdk.Prompt{Dropped: []string{"tool mcp", "tool local_shell", "tool_choice"}}},
		{"images and files", `"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/x","detail":"low"},{"type":"input_image","file_id":"f"},
			{"type":"input_file","filename":"x.pdf","file_data":"data:application/pdf;base64,AA=="},{"type":"input_file","file_url":"https://a.example/y"},{"type":"input_file","file_id":"f"},{"type":"input_audio"}]}]`,
			sdk.Prompt{Messages: user(sdk.Part{Kind: sdk.PartImage, URL: "https://a.example/x"}, sdk.Part{Kind: sdk.PartDocument, MediaType: "application/pdf", Data: "AA=="},
				sdk.Part{Kind: sdk.PartDocument, URL: "https://a.example/y"}), Dropped: []string{"input_image.file_id", "input_file", "input_audio"}}},
		{"one turn of many items", `"input":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"a"},{"type":"reasoning_text","text":"b"}],"summary":[{"text":"s"}]},
			{"role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"c"},{"type":"refusal","refusal":"d"}]},
			{"type":"function_call","id":"i","call_id":"1","name":"f","arguments":"{\"x\":1}"},{"type":"function_call","id":"2","name":"f","arguments":"","namespace":"n"},
			{"type":"custom_tool_call","call_id":"3","name":"f"},{"type":"function_call","call_id":"4","name":"f","arguments":"{"}]`,
			sdk.Prompt{Messages: model(sdk.Part{Kind: sdk.PartReasoning, Text: "a\n\nb"}, sdk.TextPart("c"), sdk.TextPart("d"), call("1", `{"x":1}`), call("2", `{}`), call("3", `{"input":""}`), call("4", `{}`)),
				Dropped: []string{"input.phase", "function_call.namespace", "tool_calls.arguments"}}},
		{"reasoning that cannot be read", `"input":[{"type":"reasoning","summary":[],"encrypted_content":"x"}]`, sdk.Prompt{Dropped: []string{"reasoning.encrypted_content"}}},
		{"vendor's own items", `"input":[{"type":"web_search_call","id":"w"},{"type":"local_shell_call"},{"type":"local_shell_call_output"},{"type":"mcp_list_tools"},{"type":"compaction"}]`,
			sdk.Prompt{Dropped: []string{"web_search_call", "local_shell_call", "local_shell_call_output", "mcp_list_tools", "compaction"}}},
		{"unknown role", `"input":[{"role":"critic","content":"a"}]`, sdk.Prompt{Messages: user(sdk.TextPart("a")), Dropped: []string{"role critic"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m",` + tt.fields + `}`
			if !strings.Contains(body, `"input":`) {
				body = `{"model":"m","input":[],` + tt.fields + `}`
			}
			if diff := cmp.Diff(&tt.want, parse(t, dialect.Responses(), body)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a vendor keeps for the caller cannot be told to another.
func TestParseResponsesHeld(t *testing.T) {
	for field, body := range map[string]string{
		"previous_response_id": `{"model":"m","input":"hi","previous_response_id":"resp_1"}`,
		"conversation":         `{"model":"m","input":"hi","conversation":"conv_1"}`,
		"prompt":               `{"model":"m","prompt":{"id":"p"}}`,
		"item_reference":       `{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}`,
	} {
		if in, err := dialect.Responses().Inspect([]byte(body)); err != nil || in.Held != field {
			t.Errorf("%s: got %q, %v", field, in.Held, err)
		}
		if p, err := dialect.Responses().ParseRequest([]byte(body)); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %+v, %v", field, p, err)
		}
	}
}

func TestBuildResponses(t *testing.T) {
	say := func(role sdk.Role, parts ...sdk.Part) sdk.Message { return sdk.Message{Role: role, Parts: parts} }
	call := sdk.Part{Kind: sdk.PartToolCall, ID: "c", Name: "f", Input: json.RawMessage(`{"a":"<b>"}`)}
	picture := sdk.Part{Kind: sdk.PartImage, MediaType: "image/png", Data: "AA=="}
	hi := []sdk.Message{say(sdk.RoleUser, sdk.TextPart("hi"))}
	const hiItem = `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]`
	tests := []struct {
		name    string
		p       sdk.Prompt
		o       dialect.Outbound
		want    string // behind the model
		dropped []string
	}{
		{"least", sdk.Prompt{}, dialect.Outbound{MaxOutput: 9}, `"input":[],"store":false`, nil},
		{"stream, limit", sdk.Prompt{Messages: hi, MaxTokens: 70}, dialect.Outbound{Stream: true, MaxOutput: 99}, hiItem + `,"stream":true,"store":false,"max_output_tokens":70`, nil},
		{"a single token", sdk.Prompt{Messages: hi, MaxTokens: 1}, dialect.Outbound{}, hiItem + `,"store":false,"max_output_tokens":16`, []string{"max_tokens raised to 16"}},
		{"system", sdk.Prompt{System: []sdk.Part{{Kind: sdk.PartText, Text: "a", Cache: true}, sdk.TextPart("b"), picture}, Messages: hi}, dialect.Outbound{},
			`"instructions":"a\n\nb",` + hiItem + `,"store":false`, []string{"cache_control", "system.image"}},
		{"tool trip", sdk.Prompt{Messages: []sdk.Message{
			say(sdk.RoleAssistant, sdk.Part{Kind: sdk.PartReasoning, Text: "x", Signature: "s"}, sdk.TextPart("t"), call, picture),
			say(sdk.RoleTool, sdk.Part{Kind: sdk.PartToolResult, ID: "c", Error: true, Result: []sdk.Part{sdk.TextPart("x"), sdk.TextPart("y")}},
				sdk.Part{Kind: sdk.PartToolResult, ID: "d", Result: []sdk.Part{sdk.TextPart("z"), picture}}),
			say(sdk.RoleSystem, sdk.TextPart("note"))}}, dialect.Outbound{},
			`"input":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"t"}]},` +
				`{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":\"<b>\"}"},` +
				`{"type":"function_call_output","call_id":"c","output":"x\n\ny"},` +
				`{"type":"function_call_output","call_id":"d","output":[{"type":"input_text","text":"z"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},` +
				`{"type":"message","role":"system","content":[{"type":"input_text","text":"note"}]}],"store":false`,
			[]string{"reasoning", "assistant.image", "is_error"}},
		{"documents", sdk.Prompt{Messages: []sdk.Message{say(sdk.RoleUser, sdk.Part{Kind: sdk.PartDocument, MediaType: "application/pdf", Data: "AA=="},
			sdk.Part{Kind: sdk.PartDocument, MediaType: "text/plain", Data: "aGk="}, sdk.Part{Kind: sdk.PartDocument, URL: "https://a.example/x"})}}, dialect.Outbound{},
			`"input":[{"type":"message","role":"user","content":[{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,AA=="},` +
				`{"type":"input_text","text":"hi"},{"type":"input_file","file_url":"https://a.example/x"}]}],"store":false`, nil},
		{"tools", sdk.Prompt{Messages: hi, Tools: []sdk.Tool{{Name: "f", Description: "d"}}, ParallelTools: new(false), ToolChoice: &sdk.ToolChoice{Mode: "tool", Name: "f"}}, dialect.Outbound{},
			hiItem + `,"store":false,"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false`, nil},
		{"reasoning", sdk.Prompt{Messages: hi, Reasoning: true, Effort: "max", Temperature: new(0.5), TopP: new(0.5), Stop: []string{"x"}, User: "anna"}, dialect.Outbound{},
			hiItem + `,"store":false,"temperature":0.5,"top_p":0.5,"reasoning":{"effort":"high","summary":"auto"},"user":"anna"`, []string{"effort", "stop"}},
		{"no reasoning", sdk.Prompt{Messages: hi, Effort: "none"}, dialect.Outbound{}, hiItem + `,"store":false,"reasoning":{"effort":"none"}`, nil},
		{"schema", sdk.Prompt{Messages: hi, Schema: &sdk.Schema{Schema: json.RawMessage(`{"a":1}`), Strict: true}}, dialect.Outbound{},
			hiItem + `,"store":false,"text":{"format":{"type":"json_schema","name":"answer","schema":{"a":1},"strict":true}}`, nil},
		{"any object", sdk.Prompt{Messages: hi, Schema: &sdk.Schema{}}, dialect.Outbound{}, hiItem + `,"store":false,"text":{"format":{"type":"json_object"}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, dropped := build(t, dialect.Responses(), &tt.p, tt.o)
			if diff := cmp.Diff(`{"model":"m",`+tt.want+`}`, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.dropped, dropped, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}
