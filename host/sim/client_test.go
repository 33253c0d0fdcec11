package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"spillway/host/sim"
)

// open starts a server that ends with the test.
func open(t *testing.T, vendors ...sim.Vendor) *sim.Server {
	t.Helper()
	s, err := sim.New(sim.Options{Vendors: vendors, KeepRequests: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// one starts a vendor named p that answers w0@p w1@p ... in 6 tokens.
func one(t *testing.T, script string, change ...func(*sim.Vendor)) *sim.Endpoint {
	t.Helper()
	v := sim.Vendor{Name: "p", Script: script, Answer: sim.Answer{Tokens: 6, Numbered: true}}
	for _, f := range change {
		f(&v)
	}
	return open(t, v).Vendor("p")
}

var dialects = []string{"anthropic", "openai", "responses"}

// ask is one request in a dialect.
type ask struct {
	dialect string
	stream  bool
	fields  map[string]any // over the usual ones; nil takes one away
	key     string         // "" for a good one, "-" for none
	header  map[string]string
}

func (a ask) request(ctx context.Context, t *testing.T, url string) *http.Request {
	t.Helper()
	body := map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "Say something."}}}
	path := "/v1/chat/completions"
	switch a.dialect {
	case "anthropic":
		path, body["max_tokens"] = "/v1/messages?beta=true", 1000
	case "responses":
		path = "/v1/responses"
		body["input"], body["include"] = body["messages"], []string{"reasoning.encrypted_content"}
		delete(body, "messages")
	}
	if a.stream {
		body["stream"] = true
		if a.dialect == "openai" {
			body["stream_options"] = map[string]any{"include_usage": true}
		}
	}
	for name, value := range a.fields {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, "POST", url+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	switch key := a.key; {
	case key == "-":
	case a.dialect == "anthropic":
		r.Header.Set("X-Api-Key", "good"+key)
		r.Header.Set("Anthropic-Version", "2023-06-01")
	default:
		r.Header.Set("Authorization", "Bearer good"+key)
	}
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	return r
}

// reply is what came back, as far as it came.
type reply struct {
	err    error // of the request, or of reading the body
	status int
	header http.Header
	body   string
}

func (a ask) send(ctx context.Context, t *testing.T, e *sim.Endpoint) reply {
	t.Helper()
	return roundTrip(a.request(ctx, t, e.URL()))
}

func roundTrip(r *http.Request) reply {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{err, resp.StatusCode, resp.Header, string(body)}
}

func (a ask) name() string {
	if a.stream {
		return a.dialect + " stream"
	}
	return a.dialect
}

// each runs a test in all dialects, streamed and not.
func each(t *testing.T, f func(t *testing.T, a ask)) {
	for _, dialect := range dialects {
		for _, stream := range []bool{false, true} {
			a := ask{dialect: dialect, stream: stream}
			t.Run(a.name(), func(t *testing.T) { f(t, a) })
		}
	}
}

// events returns the JSON values of a stream's events, "[DONE]" as it is.
func (r reply) events(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for frame := range strings.SplitSeq(r.body, "\n\n") {
		for line := range strings.Lines(frame) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			value := map[string]any{}
			if strings.TrimSpace(data) == "[DONE]" {
				value["done"] = true
			} else if err := json.Unmarshal([]byte(data), &value); err != nil {
				value["broken"] = data
			}
			all = append(all, value)
		}
	}
	return all
}

// at walks into a JSON value: a string is a field, an int an index.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// content is what an answer says, read without help from the package.
type content struct {
	Text, Reasoning, Tool, Args, Stop string
	Output                            float64 // tokens
	Last                              bool    // the last event came
}

func (r reply) content(t *testing.T, a ask) content {
	t.Helper()
	var c content
	add := func(to *string, v any) {
		s, _ := v.(string)
		*to += s
	}
	if !a.stream {
		var v any
		if err := json.Unmarshal([]byte(r.body), &v); err != nil {
			t.Fatalf("body %q: %v", r.body, err)
		}
		if a.dialect == "openai" {
			message := at(v, "choices", 0, "message")
			add(&c.Text, at(message, "content"))
			add(&c.Reasoning, at(message, "reasoning_content"))
			add(&c.Tool, at(message, "tool_calls", 0, "function", "name"))
			add(&c.Args, at(message, "tool_calls", 0, "function", "arguments"))
			add(&c.Stop, at(v, "choices", 0, "finish_reason"))
			c.Output, _ = at(v, "usage", "completion_tokens").(float64)
			return c
		}
		if a.dialect == "responses" {
			c.addResponse(v)
			return c
		}
		blocks, _ := at(v, "content").([]any)
		for _, b := range blocks {
			add(&c.Text, at(b, "text"))
			add(&c.Reasoning, at(b, "thinking"))
			add(&c.Tool, at(b, "name"))
			if input := at(b, "input"); input != nil {
				args, _ := json.Marshal(input)
				c.Args = string(args)
			}
		}
		add(&c.Stop, at(v, "stop_reason"))
		c.Output, _ = at(v, "usage", "output_tokens").(float64)
		return c
	}
	for _, e := range r.events(t) {
		switch e["type"] {
		case "response.output_text.delta":
			add(&c.Text, e["delta"])
		case "response.reasoning_summary_text.delta":
			add(&c.Reasoning, e["delta"])
		case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
			add(&c.Args, e["delta"])
		case "response.output_item.added":
			add(&c.Tool, at(e, "item", "name"))
		case "response.completed", "response.incomplete":
			// It repeats the answer; only the end is news.
			var whole content
			whole.addResponse(e["response"])
			c.Stop, c.Output, c.Last = whole.Stop, whole.Output, true
		}
		delta := at(e, "choices", 0, "delta")
		add(&c.Text, at(delta, "content"))
		add(&c.Reasoning, at(delta, "reasoning_content"))
		add(&c.Tool, at(delta, "tool_calls", 0, "function", "name"))
		add(&c.Args, at(delta, "tool_calls", 0, "function", "arguments"))
		add(&c.Stop, at(e, "choices", 0, "finish_reason"))
		add(&c.Text, at(e, "delta", "text"))
		add(&c.Reasoning, at(e, "delta", "thinking"))
		add(&c.Tool, at(e, "content_block", "name"))
		add(&c.Args, at(e, "delta", "partial_json"))
		add(&c.Stop, at(e, "delta", "stop_reason"))
		for _, path := range [][]any{{"usage", "completion_tokens"}, {"usage", "output_tokens"}} {
			if n, ok := at(e, path...).(float64); ok {
				c.Output = n
			}
		}
		c.Last = c.Last || e["done"] == true || e["type"] == "message_stop"
	}
	return c
}

// addResponse reads a whole answer in the Responses dialect.
func (c *content) addResponse(v any) {
	items, _ := at(v, "output").([]any)
	for _, item := range items {
		for _, f := range []struct {
			to   *string
			from any
		}{
			{&c.Text, at(item, "content", 0, "text")}, {&c.Reasoning, at(item, "summary", 0, "text")}, {&c.Tool, at(item, "name")},
			{&c.Args, at(item, "arguments")}, {&c.Args, at(item, "input")},
		} {
			s, _ := f.from.(string)
			*f.to += s
		}
	}
	c.Stop, _ = at(v, "status").(string)
	c.Output, _ = at(v, "usage", "output_tokens").(float64)
}

// soon is a context that ends long after anything here should have.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
