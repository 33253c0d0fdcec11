package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sim"
)

func stopWord(dialect, anthropic, openai, responses string) string {
	return map[string]string{"anthropic": anthropic, "openai": openai, "responses": responses}[dialect]
}

const sixTokens = "w0@p w1@p w2@p w3@p w4@p w5@p"

func TestAnswer(t *testing.T) {
	e := one(t, "ok")
	each(t, func(t *testing.T, a ask) {
		r := a.send(t.Context(), t, e)
		if r.err != nil || r.status != http.StatusOK {
			t.Fatalf("got status %d, %v", r.status, r.err)
		}
		want := content{Text: sixTokens, Stop: stopWord(a.dialect, "end_turn", "stop", "completed"), Output: 6, Last: a.stream}
		if diff := cmp.Diff(want, r.content(t, a)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		id := stopWord(a.dialect, "Request-Id", "X-Request-Id", "X-Request-Id")
		if r.header.Get(id) == "" {
			t.Errorf("no %s", id)
		}
		contentType := "application/json"
		if a.stream {
			contentType = "text/event-stream; charset=utf-8"
		}
		if got := r.header.Get("Content-Type"); got != contentType {
			t.Errorf("content type: got %q, want %q", got, contentType)
		}
	})
}

// The frames are those that strict clients demand: an event line for each,
// blocks that start and stop, ids and names once.
func TestFrames(t *testing.T) {
	e := one(t, "tool reasoning=2 tokens=1")
	tools := map[string]any{"tools": []any{anthropicTool}}
	r := ask{dialect: "anthropic", stream: true, fields: tools}.send(t.Context(), t, e)
	var got []string
	for line := range strings.Lines(r.body) {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			got = append(got, strings.TrimSpace(name))
		}
	}
	want := strings.Fields(`message_start
		content_block_start ping content_block_delta content_block_delta content_block_delta content_block_stop
		content_block_start content_block_delta content_block_stop
		content_block_start content_block_delta content_block_delta content_block_delta content_block_stop
		message_delta message_stop`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("anthropic events (-want +got):\n%s", diff)
	}
	for i, event := range r.events(t) {
		if event["type"] != got[i] {
			t.Errorf("event %d: type %v under the event line %s", i, event["type"], got[i])
		}
	}

	tools = map[string]any{"tools": []any{responsesTool}}
	r = ask{dialect: "responses", stream: true, fields: tools}.send(t.Context(), t, e)
	got = nil
	for i, event := range r.events(t) {
		got = append(got, fmt.Sprint(event["type"]))
		if event["sequence_number"] != float64(i) || !strings.Contains(r.body, fmt.Sprintf("event: %v\ndata: {\"type\":%[1]q,\"sequence_number\":%d,", event["type"], i)) {
			t.Errorf("event %d: %v", i, event)
		}
	}
	want = strings.Fields(`response.created response.in_progress
		response.output_item.added response.reasoning_summary_part.added
		response.reasoning_summary_text.delta response.reasoning_summary_text.delta
		response.reasoning_summary_text.done response.reasoning_summary_part.done response.output_item.done
		response.output_item.added response.content_part.added response.output_text.delta
		response.output_text.done response.content_part.done response.output_item.done
		response.output_item.added response.function_call_arguments.delta response.function_call_arguments.delta
		response.function_call_arguments.delta response.function_call_arguments.done response.output_item.done
		response.completed`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses events (-want +got):\n%s", diff)
	}

	tools = map[string]any{"tools": []any{openaiTool}}
	r = ask{dialect: "openai", stream: true, fields: tools}.send(t.Context(), t, e)
	roles, names, ids := 0, 0, map[any]bool{}
	for _, event := range r.events(t) {
		if at(event, "choices", 0, "delta", "role") != nil {
			roles++
		}
		if at(event, "choices", 0, "delta", "tool_calls", 0, "id") != nil {
			names++
		}
		if event["done"] == nil {
			ids[event["id"]] = true
		}
	}
	if roles != 1 || names != 1 || len(ids) != 1 {
		t.Errorf("chat: got %d roles, %d call ids, %d chunk ids, want 1 of each", roles, names, len(ids))
	}
}

var schema = json.RawMessage(`{"type":"object","properties":{
	"command":{"type":"string"},"mode":{"enum":["fast","slow"]},"count":{"type":["integer","null"],"minimum":3},
	"deep":{"type":"object","properties":{"list":{"type":"array","minItems":1,"items":{"type":"boolean"}}},"required":["list"]},
	"left_out":{"type":"string"}},"required":["command","mode","count","deep"]}`)

const schemaArgs = `{"command":"sim","count":3,"deep":{"list":[true]},"mode":"fast"}`

var (
	anthropicTool = map[string]any{"name": "Bash", "input_schema": json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
	responsesTool = map[string]any{"type": "function", "name": "Bash", "parameters": json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
	openaiTool    = map[string]any{"type": "function", "function": map[string]any{"name": "Bash", "parameters": json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}}
)

// withTools offers two tools and says a prompt; with a result, the first one
// was called before.
func withTools(dialect, prompt, result string) map[string]any {
	user := map[string]any{"role": "user", "content": prompt}
	messages := []any{user}
	if dialect == "responses" {
		if result != "" {
			messages = append(messages,
				map[string]any{"type": "function_call", "call_id": "t1", "name": "first", "arguments": "{}"},
				map[string]any{"type": "function_call_output", "call_id": "t1", "output": result})
		}
		return map[string]any{"input": messages, "tools": []any{
			map[string]any{"type": "web_search"}, map[string]any{"type": "namespace", "name": "all", "tools": []any{}},
			map[string]any{"type": "function", "name": "first", "parameters": schema},
			map[string]any{"type": "function", "name": "second", "parameters": map[string]any{"type": "object"}}}}
	}
	if dialect == "anthropic" {
		if result != "" {
			messages = append(messages,
				map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "t1", "name": "first", "input": map[string]any{}}}},
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": result}}})
		}
		return map[string]any{"messages": messages, "tools": []any{
			map[string]any{"name": "first", "input_schema": schema}, map[string]any{"name": "second", "input_schema": map[string]any{"type": "object"}}}}
	}
	if result != "" {
		messages = append(messages,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
				"id": "t1", "type": "function", "function": map[string]any{"name": "first", "arguments": "{}"}}}},
			map[string]any{"role": "tool", "tool_call_id": "t1", "content": result})
	}
	return map[string]any{"messages": messages, "tools": []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "first", "parameters": schema}},
		map[string]any{"type": "function", "function": map[string]any{"name": "second", "parameters": map[string]any{"type": "object"}}}}}
}

func TestTools(t *testing.T) {
	for _, tt := range []struct {
		name, script, prompt, result string
		want                         content
	}{
		{"the first one", "tool", "Hi.", "", content{Tool: "first", Args: schemaArgs}},
		{"one by name", "ok tool=second", "Hi.", "", content{Tool: "second", Args: "{}"}},
		{"one that is not there", "tool=third", "Hi.", "", content{Text: sixTokens}},
		{"given arguments", `tool args='{"command":"echo; ls"}'`, "Hi.", "", content{Tool: "first", Args: `{"command":"echo; ls"}`}},
		{"the prompt asks", "ok", "Please call second now.", "", content{Tool: "second", Args: "{}"}},
		{"after the result", "tool", "Please call first.", "It is 42.", content{Text: "The tool told p: It is 42."}},
		{"one more after the result", "call=second", "Please call first.", "It is 42.", content{Tool: "second", Args: "{}"}},
		{"text and reasoning before", "tool tokens=2 reasoning=1", "Hi.", "", content{Reasoning: "r0@p", Text: "w0@p w1@p", Tool: "first", Args: schemaArgs}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := one(t, tt.script)
			each(t, func(t *testing.T, a ask) {
				a.fields = withTools(a.dialect, tt.prompt, tt.result)
				got := a.send(t.Context(), t, e).content(t, a)
				want := tt.want
				want.Stop = stopWord(a.dialect, "end_turn", "stop", "completed")
				if want.Tool != "" {
					want.Stop = stopWord(a.dialect, "tool_use", "tool_calls", "completed")
				}
				want.Output, want.Last = got.Output, a.stream
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A tool that takes plain text gets some.
func TestFreeformTool(t *testing.T) {
	for script, want := range map[string]string{"tool": "sim", `tool args='{"a":1}'`: `{"a":1}`} {
		e := one(t, script)
		for _, stream := range []bool{false, true} {
			a := ask{dialect: "responses", stream: stream, fields: map[string]any{"tools": []any{map[string]any{"type": "custom", "name": "patch"}}}}
			r := a.send(t.Context(), t, e)
			got := r.content(t, a)
			if got.Tool != "patch" || got.Args != want || !strings.Contains(r.body, `"type":"custom_tool_call"`) {
				t.Errorf("%s, %s: got %+v, want patch called with %s", script, a.name(), got, want)
			}
		}
	}
}

func TestMaxTokens(t *testing.T) {
	e := one(t, "ok reasoning=1")
	each(t, func(t *testing.T, a ask) {
		a.fields = map[string]any{stopWord(a.dialect, "max_tokens", "max_completion_tokens", "max_output_tokens"): 3}
		want := content{Reasoning: "r0@p", Text: "w0@p w1@p", Stop: stopWord(a.dialect, "max_tokens", "length", "incomplete"), Output: 3, Last: a.stream}
		if diff := cmp.Diff(want, a.send(t.Context(), t, e).content(t, a)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestDefaultText(t *testing.T) {
	e := open(t, sim.Vendor{Name: "kimi-coding"}).Vendor("kimi-coding")
	got := ask{dialect: "openai"}.send(t.Context(), t, e).content(t, ask{dialect: "openai"})
	if n := len(strings.Fields(got.Text)); n != 20 || !strings.Contains(got.Text, "kimi-coding") {
		t.Errorf("got %d words in %q, want 20 with the vendor's name", n, got.Text)
	}
	if err := e.SetScript("ok tokens=60"); err != nil {
		t.Fatal(err)
	}
	got = ask{dialect: "openai"}.send(t.Context(), t, e).content(t, ask{dialect: "openai"})
	if n := len(strings.Fields(got.Text)); n != 60 || got.Output != 60 {
		t.Errorf("got %d words and usage %v, want 60", n, got.Output)
	}
}

func TestModels(t *testing.T) {
	e := one(t, "quota", func(v *sim.Vendor) { v.Models = []string{"a", "b"} })
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   string
	}{
		{"anthropic", map[string]string{"X-Api-Key": "k"}, `{"data":[` +
			`{"type":"model","id":"a","display_name":"a","created_at":"2025-01-01T00:00:00Z"},` +
			`{"type":"model","id":"b","display_name":"b","created_at":"2025-01-01T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"b"}`},
		{"openai", map[string]string{"Authorization": "Bearer k"}, `{"object":"list","data":[` +
			`{"id":"a","object":"model","created":1735689600,"owned_by":"p"},{"id":"b","object":"model","created":1735689600,"owned_by":"p"}]}`},
	} {
		r := ask{key: "-", header: tt.header}.request(t.Context(), t, e.URL())
		r.Method, r.URL.Path, r.URL.RawQuery, r.Body, r.ContentLength = "GET", "/v1/models", "limit=1000", nil, 0
		if got := roundTrip(r); got.status != 200 || got.body != tt.want {
			t.Errorf("%s: got %d %s, want %s", tt.name, got.status, got.body, tt.want)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	e := one(t, "ok")
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"HEAD", "/", 200}, {"HEAD", "/api/hello", 200}, {"GET", "/v1/nothing", 404}, {"POST", "/v1/responses", 200}, {"GET", "/v1/responses", 405},
		{"GET", "/v1/messages", 405}, {"POST", "/coding/v1/messages", 200}, {"POST", "/chat/completions", 200},
		{"POST", "/v1/messages/count_tokens", 200}, {"GET", "/v1/models", 200},
	} {
		r := ask{dialect: "anthropic"}.request(t.Context(), t, e.URL())
		r.Method, r.URL.Path = tt.method, tt.path
		if got := roundTrip(r); got.status != tt.status {
			t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, got.status, tt.status)
		}
	}
	for _, c := range e.Calls() {
		if asked := c.Method == "POST" && c.Path != "/v1/messages/count_tokens"; (c.Step != "") != asked {
			t.Errorf("%s %s: played %q", c.Method, c.Path, c.Step)
		}
	}
}

func Example() {
	server, err := sim.New(sim.Options{Vendors: []sim.Vendor{
		{Name: "anthropic", Script: "quota"},
		{Name: "deepseek", Script: "429 retry-after=2; ok"},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range server.Vendors() {
		fmt.Println(v.Name(), "plays", v.Script())
	}
	// Output:
	// anthropic plays quota
	// deepseek plays 429 retry-after=2; ok
}
