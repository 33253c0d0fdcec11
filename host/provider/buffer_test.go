package provider_test

import (
	"strings"
	"testing"
	"time"

	"spillway/host/dialect"
	"spillway/sdk"
)

// TestBuffer: an answer that is held back is handed out whole or not at all.
func TestBuffer(t *testing.T) {
	quick := sdk.Dispatch{Buffer: true, Limits: sdk.Limits{FirstContent: 2 * time.Second, Idle: 150 * time.Millisecond}}
	for _, tt := range []struct {
		script string
		code   sdk.Code
	}{
		{"ok", ""},
		{"cut=4", sdk.CodeTransport},
		{"stall=4", sdk.CodeTimeout},
		{"error-event=4", sdk.CodeOverloaded},
	} {
		for _, d := range dialects() {
			t.Run(tt.script+"/"+d.Name(), func(t *testing.T) {
				r := newRig(t, tt.script)
				s := r.dispatch(d, body(d, true), sdk.Request{Stream: true, Dispatch: quick})
				f := sdk.AwaitVisible(t.Context(), s)
				if tt.code != "" {
					if f == nil || f.Code != tt.code {
						t.Fatalf("got %v, want %s", f, tt.code)
					}
					if len(r.outcomes) != 1 || r.outcomes[0].Committed {
						t.Errorf("outcomes: %+v", r.outcomes)
					}
					return
				}
				if f != nil {
					t.Fatal(f)
				}
				text, end := collect(s)
				if !strings.HasSuffix(text, "w11@p") || end.Failure != nil {
					t.Errorf("got %q, %+v", text, end)
				}
				if o := r.outcomes[0]; !o.Committed || o.FirstContent <= 0 || o.FirstContent > o.Took {
					t.Errorf("outcome: %+v", o)
				}
			})
		}
	}
}

// TestBufferSchema: an answer that was to follow a JSON schema is checked before
// it is handed out, streamed or not.
func TestBufferSchema(t *testing.T) {
	const request = `{"model":"m1","stream":%t,"messages":[{"role":"user","content":"hello"}],
		"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object","required":["a"]}}}}`
	for _, stream := range []string{"true", "false"} {
		t.Run("stream="+stream, func(t *testing.T) {
			r := newRig(t, "ok")
			s := r.dispatch(dialect.OpenAI(), []byte(strings.Replace(request, "%t", stream, 1)), sdk.Request{
				Stream: stream == "true", Shape: sdk.Shape{Structured: true}, Dispatch: sdk.Dispatch{Buffer: true},
			})
			f := sdk.AwaitVisible(t.Context(), s)
			if f == nil || f.Rule != "buffer.schema" || !strings.Contains(f.Message, "no JSON") {
				t.Errorf("got %v, want a failure by buffer.schema", f)
			}
		})
	}
}
