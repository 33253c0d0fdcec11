package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/dialect"
	"spillway/host/sse"
	"spillway/sdk"
)

// frames calls f for each frame of a recording.
func frames(tb testing.TB, stream []byte, f func(event string, data []byte)) {
	tb.Helper()
	r := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
		f(frame.Event, frame.Data)
	}
}

func TestScan(t *testing.T) {
	noise := dialect.Mark{Kind: dialect.MarkNoise}
	content := func(v sdk.Visible) dialect.Mark { return dialect.Mark{Kind: dialect.MarkContent, Visible: v} }
	finish := func(f sdk.Finish) dialect.Mark { return dialect.Mark{Kind: dialect.MarkFinish, Finish: f} }
	failed := dialect.Mark{Kind: dialect.MarkError}
	anthropic, openai := dialect.Anthropic(), dialect.OpenAI()
	choice := func(members string) string { return `{"choices":[{"index":0,` + members + `}]}` }
	tests := []struct {
		name    string
		dialect dialect.Dialect
		event   string
		data    string
		want    dialect.Mark
	}{
		{"no data", anthropic, "", "", noise},
		{"garbage", anthropic, "content_block_delta", `{"type":"content_bl`, dialect.Mark{}},
		{"too deep", anthropic, "ping", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), dialect.Mark{}},
		{"no object", anthropic, "", `7`, noise},
		{"start", anthropic, "message_start", `{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":1}}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Usage: sdk.Usage{Input: 28, CacheRead: 20, CacheWrite: 3, Output: 1}}},
		{"absurd usage", anthropic, "message_start", `{"type":"message_start","message":{"usage":{"input_tokens":-5,"output_tokens":99999999999999999999,"cache_read_input_tokens":"x"}}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Usage: sdk.Usage{Output: 1_000_000_000}}},
		{"ping", anthropic, "ping", `{"type":"ping"}`, noise},
		{"event only in the line", anthropic, "message_stop", `{}`, dialect.Mark{Kind: dialect.MarkTerminal}},
		{"event only in the data", anthropic, "", `{"type":"message_stop"}`, dialect.Mark{Kind: dialect.MarkTerminal}},
		{"unknown event", anthropic, "omen", `{"type":"omen","delta":{"text":"x"}}`, noise},
		{"text start", anthropic, "", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, noise},
		{"text in the start", anthropic, "", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`, content(sdk.VisibleText)},
		{"tool start", anthropic, "", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{ }}}`, noise},
		{"whole tool call", anthropic, "", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"a":1}}}`, content(sdk.VisibleToolCall)},
		{"text", anthropic, "", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\n"}}`, content(sdk.VisibleText)},
		{"empty text", anthropic, "", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`, noise},
		{"thinking", anthropic, "", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}`, content(sdk.VisibleReasoning)},
		{"arguments", anthropic, "", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`, content(sdk.VisibleToolCall)},
		{"signature", anthropic, "", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Seal: dialect.SealOf("x")}},
		{"redacted thinking", anthropic, "", `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"y"}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Seal: dialect.SealOf("y")}},
		{"finish", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}`,
			dialect.Mark{Kind: dialect.MarkFinish, Finish: sdk.FinishStop, Usage: sdk.Usage{Output: 15}}},
		{"usage alone", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":15}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Usage: sdk.Usage{Output: 15}}},
		{"finish without usage", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":null}`, finish(sdk.FinishToolCalls)},
		{"stop sequence", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"stop_sequence"}}`, finish(sdk.FinishStop)},
		{"token limit", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}`, finish(sdk.FinishMaxTokens)},
		{"window", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, finish(sdk.FinishMaxTokens)},
		{"refusal", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, finish(sdk.FinishRefusal)},
		{"pause", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`, finish(sdk.FinishStop)},
		{"unknown reason", anthropic, "", `{"type":"message_delta","delta":{"stop_reason":"bored"}}`, finish(sdk.FinishStop)},
		{"error", anthropic, "error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"} }`, failed},
		{"error in plain text", anthropic, "error", `Overloaded`, failed},
		{"error without its event", anthropic, "", `{"type":"error","error":{}}`, failed},
		{"error in another form", anthropic, "", `{"error":"busy"}`, failed},

		{"done", openai, "", " [DONE]", dialect.Mark{Kind: dialect.MarkTerminal}},
		{"garbage", openai, "", "[DONE", dialect.Mark{}},
		{"role", openai, "", choice(`"delta":{"role":"assistant","content":""},"finish_reason":null`), noise},
		{"text", openai, "", choice(`"delta":{"content":"x"},"finish_reason":null`), content(sdk.VisibleText)},
		{"refusing text", openai, "", choice(`"delta":{"refusal":"x"}`), content(sdk.VisibleText)},
		{"reasoning", openai, "", choice(`"delta":{"content":null,"reasoning_content":"x"}`), content(sdk.VisibleReasoning)},
		{"reasoning of relays", openai, "", choice(`"delta":{"content":"","reasoning":"x"}`), content(sdk.VisibleReasoning)},
		{"both", openai, "", choice(`"delta":{"content":"x","reasoning_content":"x"}`), content(sdk.VisibleText | sdk.VisibleReasoning)},
		{"call start", openai, "", choice(`"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}`), noise},
		{"arguments", openai, "", choice(`"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`), content(sdk.VisibleToolCall)},
		{"arguments as an object", openai, "", choice(`"delta":{"tool_calls":[{"function":{"arguments":{}}}]}`), content(sdk.VisibleToolCall)},
		{"finish", openai, "", choice(`"delta":{},"finish_reason":"stop"`), finish(sdk.FinishStop)},
		{"empty finish", openai, "", choice(`"delta":{},"finish_reason":""`), noise},
		{"length", openai, "", choice(`"delta":{},"finish_reason":"length"`), finish(sdk.FinishMaxTokens)},
		{"calls", openai, "", choice(`"delta":{},"finish_reason":"tool_calls"`), finish(sdk.FinishToolCalls)},
		{"one function", openai, "", choice(`"delta":{},"finish_reason":"function_call"`), finish(sdk.FinishToolCalls)},
		{"filter", openai, "", choice(`"delta":{},"finish_reason":"content_filter"`), finish(sdk.FinishRefusal)},
		{"text and finish", openai, "", choice(`"delta":{"content":"x"},"finish_reason":"stop"`),
			dialect.Mark{Kind: dialect.MarkFinish, Visible: sdk.VisibleText, Finish: sdk.FinishStop}},
		{"usage", openai, "", `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Usage: sdk.Usage{Input: 9, Output: 5, CacheRead: 4, Reasoning: 2}}},
		{"usage in the choice", openai, "", choice(`"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"cached_tokens":4}`),
			dialect.Mark{Kind: dialect.MarkFinish, Finish: sdk.FinishStop, Usage: sdk.Usage{Input: 9, CacheRead: 4}}},
		{"cache hits", openai, "", `{"choices":[],"usage":{"prompt_tokens":9,"prompt_cache_hit_tokens":4}}`,
			dialect.Mark{Kind: dialect.MarkNoise, Usage: sdk.Usage{Input: 9, CacheRead: 4}}},
		{"error", openai, "", `{"error":{"message":"busy"}}`, failed},
		{"error as text", openai, "", `{"error":"busy"}`, failed},
		{"empty error in each chunk", openai, "", `{"error":null,"choices":[{"delta":{"content":"x"}}]}`, content(sdk.VisibleText)},
		{"error by its event", openai, "error", `busy`, failed},
		{"error of the vendor's own form", openai, "", `{"code":1305,"message":"busy"}`, failed},
		{"capacity", openai, "", choice(`"delta":{},"finish_reason":"insufficient_system_resource"`), failed},
		{"capacity after text", openai, "", choice(`"finish_reason":"insufficient_system_resource","delta":{"content":"x"}`),
			dialect.Mark{Kind: dialect.MarkError, Visible: sdk.VisibleText}},
		{"filter results before the answer", openai, "", `{"choices":[],"prompt_filter_results":[]}`, noise},
	}
	for _, tt := range tests {
		t.Run(tt.dialect.Name()+" "+tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.dialect.Scan(tt.event, []byte(tt.data))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanRecordings(t *testing.T) {
	for _, d := range dialects() {
		var kinds []dialect.MarkKind
		var visible sdk.Visible
		var usage sdk.Usage
		frames(t, testdata(t, d.Name()+"/tool.sse"), func(event string, data []byte) {
			m := d.Scan(event, data)
			kinds = append(kinds, m.Kind)
			visible |= m.Visible
			usage = usage.Merge(m.Usage)
		})
		last := len(kinds) - 1
		if kinds[last] != dialect.MarkTerminal || kinds[0] != dialect.MarkNoise {
			t.Errorf("%s: got %v", d.Name(), kinds)
		}
		if visible != sdk.DefaultVisible || usage.Input != 100 || usage.Output != 15 || usage.CacheRead != 70 {
			t.Errorf("%s: got visible %b, usage %+v", d.Name(), visible, usage)
		}
	}
}

// On the relay every frame is scanned, so a healthy one must cost no garbage.
func TestScanDoesNotAllocate(t *testing.T) {
	for _, d := range dialects() {
		frames(t, testdata(t, d.Name()+"/tool.sse"), func(event string, data []byte) {
			if m := d.Scan(event, data); m.Kind == dialect.MarkFinish || m.ID != "" {
				return // once an answer: its reason, or its id, becomes a string
			}
			if n := testing.AllocsPerRun(10, func() { d.Scan(event, data) }); n > 0 {
				t.Errorf("%s: %v allocations for %s", d.Name(), n, data)
			}
		})
	}
}

func FuzzScan(f *testing.F) {
	for _, d := range dialects() {
		frames(f, testdata(f, d.Name()+"/tool.sse"), func(event string, data []byte) { f.Add(event, data) })
	}
	f.Add("", []byte(`{"type":"response.output_item.done","item":{"type":"custom_tool_call","input":""}}`))
	f.Add("response.completed", []byte(`{"response":{"output":[{"type":"function_call","arguments":{}}],"incomplete_details":{"reason":"\u0063"}}}`))
	f.Add("", []byte(`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":""}}]}}],"error":{}}`))
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		for _, d := range dialects() {
			d.Scan(event, data)
			var v any
			if json.Unmarshal(data, &v) != nil {
				continue
			}
			data, _ = json.Marshal(v) // no doubled keys: which of them counts is not settled
			m := d.Scan(event, data)
			if m.Kind == dialect.MarkError {
				continue // is not decoded
			}
			shows := false
			dec := d.NewDecoder()
			emit := func(e sdk.Event) { shows = shows || sdk.DefaultVisible.Shows(e) }
			dec.Decode(event, data, emit)
			dec.Close(emit)
			if shows && m.Visible == 0 {
				t.Errorf("%s: the decoder shows something, the scan does not: %s", d.Name(), data)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat(`some words\n`, 6)
	for _, bb := range []struct {
		dialect dialect.Dialect
		event   string
		data    string
	}{
		{dialect.Anthropic(), "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + text + `"}}`},
		{dialect.Responses(), "response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":6,"item_id":"msg_01","output_index":1,"content_index":0,"delta":"` + text + text + `"}`},
		{dialect.OpenAI(), "", `{"id":"chatcmpl-01harbour","object":"chat.completion.chunk","created":1795998887,"model":"mock-model","choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}`},
	} {
		b.Run(bb.dialect.Name(), func(b *testing.B) {
			data := []byte(bb.data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if m := bb.dialect.Scan(bb.event, data); m.Kind != dialect.MarkContent {
					b.Fatal(m)
				}
			}
		})
	}
}

// TestScanHosted: tools that the vendor runs are told from those of the caller.
func TestScanHosted(t *testing.T) {
	block := func(kind string) string {
		return `{"type":"content_block_start","index":0,"content_block":{"type":"` + kind + `","id":"x","name":"n","input":{}}}`
	}
	item := func(event, kind string) string {
		return `{"type":"response.output_item.` + event + `","output_index":0,"item":{"id":"x","type":"` + kind + `"}}`
	}
	tests := []struct {
		d    dialect.Dialect
		data string
		want bool
	}{
		{dialect.Anthropic(), block("text"), false},
		{dialect.Anthropic(), block("thinking"), false},
		{dialect.Anthropic(), block("tool_use"), false},
		{dialect.Anthropic(), block("server_tool_use"), true},
		{dialect.Anthropic(), block("mcp_tool_use"), true},
		{dialect.Anthropic(), block("web_search_tool_result"), true},
		{dialect.Responses(), item("added", "message"), false},
		{dialect.Responses(), item("added", "reasoning"), false},
		{dialect.Responses(), item("added", "function_call"), false},
		{dialect.Responses(), item("done", "custom_tool_call"), false},
		{dialect.Responses(), item("added", "web_search_call"), true},
		{dialect.Responses(), item("done", "mcp_call"), true},
	}
	for _, tt := range tests {
		if got := tt.d.Scan("", []byte(tt.data)).Hosted; got != tt.want {
			t.Errorf("%s: got %t", tt.data, got)
		}
	}
}
