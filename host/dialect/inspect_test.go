package dialect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/sdk"
)

func TestInspect(t *testing.T) {
	tests := []struct {
		name    string
		dialect dialect.Dialect
		body    string
		want    dialect.Inspection
	}{
		{"anthropic agent", dialect.Anthropic(), string(testdata(t, "anthropic/agent.json")), dialect.Inspection{
			Model: "claude-opus-5-5", Stream: true, MaxTokens: 32000, Effort: "medium",
			Conversation: "11111111-2222-3333-4444-555555555555",
			Shape:        sdk.Shape{Messages: 4, Tools: 3, Reasoning: true, ToolResult: true},
			History:      dialect.HistorySealed,
			Hosted:       []string{"web_search_20250305"},
		}},
		{"openai agent", dialect.OpenAI(), string(testdata(t, "openai/agent.json")), dialect.Inspection{
			Model: "mock-model", Stream: true, MaxTokens: 8192, Effort: "high", IncludeUsage: true,
			Shape: sdk.Shape{Messages: 4, Tools: 1, Reasoning: true, ToolResult: true},
		}},
		{"responses agent", dialect.Responses(), string(testdata(t, "responses/agent.json")), dialect.Inspection{
			Model: "gpt-5-mock", Stream: true, Effort: "high", Conversation: "11111111-2222-3333-4444-555555555555", Freeform: []string{"apply_patch"},
			Shape:   sdk.Shape{Messages: 10, Tools: 4, Images: 1, ParallelTools: true, Reasoning: true, ToolResult: true},
			History: dialect.HistorySealed,
			Hosted:  []string{"web_search"},
		}},
		{"a text", dialect.Responses(), `{"model":"m","input":"hi","max_output_tokens":7,"text":{"format":{"type":"json_schema"}},"user":"u"}`,
			dialect.Inspection{Model: "m", MaxTokens: 7, User: "u", Shape: sdk.Shape{Messages: 1, Structured: true}}},
		{"images and files", dialect.Responses(), `{"model":"m","input":[{"role":"user","content":[{"type":"input_image"},{"type":"input_file"}]},{"type":"function_call_output","output":"x"},{"role":"developer","content":"y"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 3, Images: 1, Documents: 1, ToolResult: true}}},
		{"user after a tool's result", dialect.Responses(), `{"model":"m","input":[{"type":"function_call_output","output":"x"},{"role":"user","content":"y"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 2}}},
		{"parallel calls in the history", dialect.Responses(), `{"model":"m","input":[{"type":"function_call"},{"type":"custom_tool_call"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 2, ParallelTools: true}}},
		{"calls one after the other", dialect.Responses(), `{"model":"m","input":[{"type":"function_call"},{"type":"function_call_output"},{"type":"function_call"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 3}}},
		{"kept conversation", dialect.Responses(), `{"model":"m","conversation":{"id":"conv_1"},"reasoning":{"effort":"none"}}`,
			dialect.Inspection{Model: "m", Effort: "none", Conversation: "conv_1", Held: "conversation"}},
		{"cache key before the kept conversation", dialect.Responses(), `{"model":"m","input":null,"conversation":"conv_1","prompt_cache_key":"k","previous_response_id":null}`,
			dialect.Inspection{Model: "m", Conversation: "k", Held: "conversation"}},
		{"least", dialect.Anthropic(), `{"model":"m","messages":[]}`, dialect.Inspection{Model: "m"}},
		{"nulls", dialect.OpenAI(), `{"model":"m","messages":[],"stream":null,"max_tokens":null,"tools":null,"user":null}`,
			dialect.Inspection{Model: "m"}},
		{"the last of a doubled key counts", dialect.OpenAI(), `{"model":"a","messages":[],"mod\u0065l":"b"}`,
			dialect.Inspection{Model: "b"}},
		{"unknown roles, parts and tools", dialect.OpenAI(),
			`{"model":"m","messages":[{"role":"critic","content":[{"type":"hologram"},7,"x",[]]}],"tools":[{"type":"namespace"},7]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 1, Tools: 2}}},
		{"session in an older user id", dialect.Anthropic(),
			`{"model":"m","messages":[],"metadata":{"user_id":"user_ab_account__session_1-2"}}`,
			dialect.Inspection{Model: "m", Conversation: "1-2"}},
		{"plain user id", dialect.Anthropic(), `{"model":"m","messages":[],"metadata":{"user_id":"anna"}}`,
			dialect.Inspection{Model: "m"}},
		{"cache key and user", dialect.OpenAI(), `{"model":"m","messages":[],"user":"u","prompt_cache_key":"k"}`,
			dialect.Inspection{Model: "m", Conversation: "k", User: "u"}},
		{"user", dialect.OpenAI(), `{"model":"m","messages":[],"user":"u"}`,
			dialect.Inspection{Model: "m", User: "u"}},
		{"user too long", dialect.OpenAI(), `{"model":"m","messages":[],"user":"` + strings.Repeat("u", 257) + `"}`,
			dialect.Inspection{Model: "m"}},
		{"image in a tool's result", dialect.Anthropic(),
			`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{}}]}]}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 1, Images: 1, ToolResult: true}}},
		{"notice behind a tool's result", dialect.Anthropic(),
			`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result"}]},{"role":"system","content":"x"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 2, ToolResult: true}}},
		{"user after a tool's result", dialect.OpenAI(),
			`{"model":"m","messages":[{"role":"tool","content":"x"},{"role":"user","content":"y"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 2}}},
		{"parallel calls asked for", dialect.OpenAI(), `{"model":"m","messages":[],"parallel_tool_calls":true}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{ParallelTools: true}}},
		{"parallel calls in the history", dialect.OpenAI(), `{"model":"m","messages":[{"role":"assistant","tool_calls":[{},{}]}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 1, ParallelTools: true}}},
		{"parallel calls in the other history", dialect.Anthropic(),
			`{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use"},{"type":"tool_use"}]}],"tool_choice":{"type":"auto"}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Messages: 1, ParallelTools: true}}},
		{"parallel calls wanted", dialect.Anthropic(), `{"model":"m","messages":[],"tool_choice":{"type":"auto","disable_parallel_tool_use":false}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{ParallelTools: true}}},
		{"schema", dialect.OpenAI(), `{"model":"m","messages":[],"response_format":{"type":"json_schema"}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Structured: true}}},
		{"any object is no schema", dialect.OpenAI(), `{"model":"m","messages":[],"response_format":{"type":"json_object"}}`,
			dialect.Inspection{Model: "m"}},
		{"schema in output_config", dialect.Anthropic(), `{"model":"m","messages":[],"output_config":{"format":{"type":"json_schema"}}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Structured: true}}},
		{"schema in output_format", dialect.Anthropic(), `{"model":"m","messages":[],"output_format":{}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Structured: true}}},
		{"thinking off", dialect.OpenAI(), `{"model":"m","messages":[],"thinking":{"type":"disabled"},"reasoning_effort":"none"}`,
			dialect.Inspection{Model: "m", Effort: "none"}},
		{"thinking on", dialect.OpenAI(), `{"model":"m","messages":[],"thinking":{"type":"enabled"}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Reasoning: true}}},
		{"a relay's reasoning", dialect.OpenAI(), `{"model":"m","messages":[],"reasoning":{"effort":"high","enabled":true}}`,
			dialect.Inspection{Model: "m", Effort: "high", Shape: sdk.Shape{Reasoning: true}}},
		{"tools that the vendor runs, Messages", dialect.Anthropic(), `{"model":"m","messages":[],"tools":[{"name":"mine"},{"type":"bash_20250124","name":"bash"},{"type":"code_execution_20250825","name":"code_execution"}],"mcp_servers":[{"type":"url"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Tools: 3}, Hosted: []string{"code_execution_20250825", "mcp"}}},
		{"tools that the vendor runs, Chat Completions", dialect.OpenAI(), `{"model":"m","messages":[],"tools":[{"type":"function"},{"type":"custom"}],"web_search_options":{}}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Tools: 2}, Hosted: []string{"web_search"}}},
		{"tools that the vendor runs, Responses", dialect.Responses(), `{"model":"m","input":"x","tools":[{"type":"function","name":"f"},{"type":"local_shell"},{"type":"web_search"},{"type":"computer_use_preview"},{"type":"not known yet"}]}`,
			dialect.Inspection{Model: "m", Shape: sdk.Shape{Tools: 5, Messages: 1}, Hosted: []string{"web_search", "not known yet"}}},
		{"an absurd limit", dialect.OpenAI(), `{"model":"m","messages":[],"max_tokens":1e300}`,
			dialect.Inspection{Model: "m", MaxTokens: 1_000_000_000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.dialect.Inspect([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			got.Shape.PromptTokens = 0 // see below
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPromptTokens(t *testing.T) {
	data := strings.Repeat("A", 100_000)
	tests := []struct {
		name, content string
		min, max      int
	}{
		{"text", `"` + strings.Repeat("word ", 800) + `"`, 1000, 1020},
		{"image by data", `[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]`, 1600, 1620},
		{"image by url", `[{"type":"image","source":{"type":"url","url":"https://a.example/x.png"}}]`, 1600, 1620},
		{"image in a tool's result", `[{"type":"tool_result","content":[{"type":"image","source":{"data":"` + data + `"}}]}]`, 1600, 1630},
		{"document", `[{"type":"document","source":{"data":"` + data + `"}}]`, 2000, 2020},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := dialect.Anthropic().Inspect([]byte(`{"model":"m","messages":[{"role":"user","content":` + tt.content + `}]}`))
			if got := in.Shape.PromptTokens; err != nil || got < tt.min || got > tt.max {
				t.Errorf("got %d, %v, want %d to %d", got, err, tt.min, tt.max)
			}
		})
	}
}

func TestInspectRefuses(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"nothing", ``, "body: not valid JSON"},
		{"cut", `{"model":"m"`, "body: not valid JSON"},
		{"two values", `{"model":"m","messages":[]}{}`, "body: not valid JSON"},
		{"too deep", `{"model":"m","messages":[],"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, "body: not valid JSON"},
		{"a list", ` [{"model":"m"}]`, "body: not a JSON object"},
		{"a string", `"{"`, "body: not a JSON object"},
		{"no model", `{"messages":[]}`, "model: want a name"},
		{"model is no string", `{"model":7,"messages":[]}`, "model: want a name"},
		{"model is long", `{"model":"` + strings.Repeat("m", 257) + `","messages":[]}`, "model: longer than 256 bytes"},
		{"no messages", `{"model":"m"}`, "messages: missing"},
		{"messages is no list", `{"model":"m","messages":"hi"}`, "messages: want a list"},
		{"message is no object", `{"model":"m","messages":[{},"hi"]}`, "messages[1]: want an object"},
		{"stream", `{"model":"m","messages":[],"stream":"yes"}`, "stream: want true or false"},
		{"max_tokens", `{"model":"m","messages":[],"max_tokens":"9"}`, "max_tokens: want a number"},
	}
	for _, d := range dialects() {
		for _, tt := range tests {
			if d == dialect.Responses() { // its conversation has another name, and may be a text
				tt.body, tt.want = strings.ReplaceAll(tt.body, "messages", "input"), strings.ReplaceAll(tt.want, "messages", "input")
				tt.body, tt.want = strings.ReplaceAll(tt.body, `"input":"hi"`, `"input":7`), strings.ReplaceAll(tt.want, "want a list", "want a text or a list")
			}
			t.Run(d.Name()+" "+tt.name, func(t *testing.T) {
				_, err := d.Inspect([]byte(tt.body))
				f, ok := errors.AsType[*sdk.Failure](err)
				if !ok || f.Code != sdk.CodeInvalidRequest || f.Message != tt.want {
					t.Fatalf("Inspect: got %v, want %q", err, tt.want)
				}
				if _, perr := d.ParseRequest([]byte(tt.body)); perr == nil || perr.Error() != err.Error() {
					t.Errorf("ParseRequest: got %v, want %v", perr, err)
				}
			})
		}
	}
}

func TestInspectRefusesBackground(t *testing.T) {
	if _, err := dialect.Responses().Inspect([]byte(`{"model":"m","input":"hi","background":true}`)); err == nil || !strings.Contains(err.Error(), "background") {
		t.Errorf("got %v", err)
	}
}

func TestDepthIsCountedOutsideStrings(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat(`[{\"`, 5000) + `"}]}`
	if _, err := dialect.OpenAI().Inspect([]byte(body)); err != nil {
		t.Error(err)
	}
}

func TestRedirect(t *testing.T) {
	tests := []struct{ name, body, model, want string }{
		{"other bytes stay", `{ "a":1 , "model" : "x" ,"b":{"model":"x"}} `, "y", `{ "a":1 , "model" : "y" ,"b":{"model":"x"}} `},
		{"escaped", `{"model":"x"}`, "a\"b\n", `{"model":"a\"b\n"}`},
		{"doubled", `{"model":"x","model":"y"}`, "y", `{"model":"y","model":"y"}`},
		{"hidden", `{"model":"y","mod\u0065l":"x"}`, "y", `{"model":"y","mod\u0065l":"y"}`},
		{"no string", `{"model":{"a":[1,"]"]},"b":2}`, "y", `{"model":"y","b":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := dialect.OpenAI().Redirect([]byte(tt.body), dialect.Outbound{Model: tt.model})
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	same := []byte(`{"model":"x"}`)
	if got, _, err := dialect.Anthropic().Redirect(same, dialect.Outbound{Model: "x", MaxOutput: 1}); err != nil || &got[0] != &same[0] {
		t.Errorf("the model is that one already: got %s, %v, want the body itself", got, err)
	}
	if got, _, err := dialect.Anthropic().Redirect([]byte(`{"a":"model"}`), dialect.Outbound{Model: "x"}); err == nil {
		t.Errorf("no model: got %s", got)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(testdata(f, "anthropic/agent.json"))
	f.Add(testdata(f, "openai/agent.json"))
	f.Add(testdata(f, "responses/agent.json"))
	f.Add([]byte(`{"model":"m","input":[{"type":"custom_tool_call","input":"\ud800"},{"type":"function_call_output","output":[{"type":"input_file","file_data":"data:a/b;base64,x"}]},{"type":"item_reference"}],"tools":[{"type":"custom","name":"f"}],"text":{"format":7}}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"tool","content":[{"type":"file","file":{"file_data":"data:a/b;base64,x"}}]}],"stop":"x","user":"\ud800"}`))
	f.Add([]byte(`{"model":"\"","messages":[{"content":[{"type":"document","source":{"type":"text","data":"\u0000"}},{"type":"tool_result","content":[{"type":"image"}]}]}],"thinking":7}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range dialects() {
			d.Redirect(body, dialect.Outbound{Model: "other", MaxOutput: 9})
			in, err := d.Inspect(body)
			p, perr := d.ParseRequest(body)
			if (err == nil && in.Held == "") != (perr == nil) {
				t.Fatalf("Inspect: %v, ParseRequest: %v", err, perr)
			}
			if perr != nil {
				continue
			}
			moved, _, err := d.Redirect(body, dialect.Outbound{Model: "other"})
			if err != nil {
				t.Fatal(err)
			}
			want := in
			want.Model = "other"
			got, err := d.Inspect(moved)
			got.Shape.PromptTokens = want.Shape.PromptTokens
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("redirected: got %+v, %v, want %+v", got, err, want)
			}
			for _, to := range dialects() {
				built, _, err := to.BuildRequest(p, dialect.Outbound{Model: "m", Quirks: dialect.Quirks{ReasoningContent: true}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := to.ParseRequest(built); err != nil {
					t.Errorf("%s: %v: %s", to.Name(), err, built)
				}
			}
		}
	})
}

func BenchmarkInspect(b *testing.B) {
	filler := strings.Repeat(`Some words of a \"prompt\", with line ends.\n`, 1000)
	body := []byte(strings.Replace(string(testdata(b, "anthropic/agent.json")), "Work with care.", filler, 1))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dialect.Anthropic().Inspect(body); err != nil {
			b.Fatal(err)
		}
	}
}
