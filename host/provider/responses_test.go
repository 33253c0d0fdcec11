package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// Frames of Responses.
const (
	words     = `{"type":"response.output_text.delta","output_index":0,"delta":"hello"}`
	completed = `{"type":"response.completed","response":{"id":"resp_1","model":"m1","usage":{"input_tokens":9,"output_tokens":5}}}`
	failed    = `{"type":"response.failed","response":{"error":{"code":"server_is_overloaded","message":"busy"}}}`
)

// An answer of Responses ends with its finish event: nothing is waited for.
func TestResponses(t *testing.T) {
	tests := []struct {
		name   string
		frames []gap
		want   sdk.Code // "" for a good end
		took   time.Duration
	}{
		{"good", []gap{{time.Second, words}, {time.Second, completed}, {time.Hour, words}}, "", 2 * time.Second},
		{"cut", []gap{{time.Second, words}}, sdk.CodeTransport, time.Second},
		{"failed", []gap{{time.Second, words}, {time.Second, failed}}, sdk.CodeOverloaded, 2 * time.Second},
	}
	for _, tt := range tests {
		for _, r := range readers {
			t.Run(tt.name+"/"+r.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := inMemory(t, streamed(tt.frames...))
					began := time.Now()
					a := ask(t, p, dialect.Responses(), true, 0, sdk.Limits{Idle: 10 * time.Second})
					text, f := r.read(a, 0)
					if !strings.Contains(text, "hello") || (f == nil) != (tt.want == "") || f != nil && f.Code != tt.want {
						t.Errorf("got %q, %v, want %q", text, f, tt.want)
					}
					if took := time.Since(began); took < tt.took || took > tt.took+50*time.Millisecond { // the drain's
						t.Errorf("took %s, want %s", took, tt.took)
					}
					if o := a.outcomes[0]; f == nil && (o.Finish != sdk.FinishStop || o.Usage.Output != 5) {
						t.Errorf("outcome %+v", o)
					}
				})
			})
		}
	}
}

// A limit above the model's own is lowered, with and without translation, and
// the record says so beside what the caller's dialect had to leave behind.
func TestLimitLowered(t *testing.T) {
	const lowered = "max_tokens lowered to 50"
	for _, tt := range []struct {
		dialect dialect.Dialect
		body    string
		path    string
		dropped []string
	}{
		{dialect.OpenAI(), `{"model":"alias","max_tokens":100,"seed":1,"messages":[{"role":"user","content":"hi"}]}`, "/v1/chat/completions", []string{lowered}},
		{dialect.OpenAI(), `{"model":"m1","max_tokens":100,"seed":1,"messages":[{"role":"user","content":"hi"}]}`, "/v1/chat/completions", nil},
		{dialect.Anthropic(), `{"model":"alias","max_tokens":100,"top_k":1,"messages":[{"role":"user","content":"hi"}]}`, "/v1/chat/completions", []string{"top_k", lowered}},
		{dialect.Responses(), `{"model":"alias","max_output_tokens":100,"input":"hi"}`, "/v1/chat/completions", []string{lowered}},
	} {
		var path, sent string
		v := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			path, sent = r.URL.Path, string(b)
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`)
		}))
		p, err := New(Options{Name: "p", Vendor: Vendor{
			Endpoints: map[string]string{"openai": v.URL + "/v1"}, Models: []Model{{ID: "m1", MaxOutput: 50}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		trace := llm.NewTrace(record.Request{ID: "req"}, nil, nil)
		payload := llm.NewPayload(tt.dialect, []byte(tt.body), nil)
		r := sdk.Request{Provider: "p", Model: "m1"}
		a := p.attempt(t.Context(), &llm.Call{ID: "req", Trace: trace, Request: r, Payload: payload}, r, payload)
		if _, f := a.Whole(); f != nil {
			t.Errorf("%s: %v", tt.body, f)
		}
		limit := `"max_tokens":50`
		if tt.dropped == nil {
			limit = `"max_tokens":100`
		}
		if got := trace.Record().Attempts[0].Dropped; path != tt.path || !strings.Contains(sent, limit) || !slices.Equal(got, tt.dropped) {
			t.Errorf("%s: sent %s to %s, dropped %q, want %q", tt.body, sent, path, got, tt.dropped)
		}
		p.Close()
		v.Close()
	}
}
