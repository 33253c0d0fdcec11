package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// thoughtful is a vendor of Messages that seals its thoughts, streamed and not,
// and tells what it was sent.
func thoughtful(t *testing.T, name string, q dialect.Quirks, seals *Seals, sent *string) *Provider {
	t.Helper()
	v := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		*sent = string(b)
		if !strings.Contains(*sent, `"stream":true`) {
			_, _ = io.WriteString(w, `{"content":[{"type":"thinking","thinking":"t","signature":"whole by `+name+`"},{"type":"text","text":"x"}],"stop_reason":"end_turn"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			`{"type":"message_start","message":{}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"hidden by ` + name + `"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"t","signature":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"streamed by ` + name + `"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
			`{"type":"message_stop"}`,
		} {
			_, _ = io.WriteString(w, "data: "+data+"\n\n")
		}
	}))
	t.Cleanup(v.Close)
	p, err := New(Options{Name: name, Seals: seals, Vendor: Vendor{Endpoints: map[string]string{"anthropic": v.URL}, Quirks: q}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// What a vendor gets of a history depends on who was seen to seal what, and what
// nobody is known to have sealed is the chosen vendor's own.
func TestHistoryGoesWhereItBelongs(t *testing.T) {
	var sent string
	var kept []string
	seals := NewSeals(func(_ dialect.Seal, vendor string) { kept = append(kept, vendor) })
	set := NewSet(thoughtful(t, "claude", dialect.Quirks{SealedReasoning: true, AllFields: true}, seals, &sent),
		thoughtful(t, "kimi", dialect.Quirks{}, seals, &sent))
	// ask asks a vendor on behalf of a client that chose Claude, and returns what
	// it was sent as the client would have written it.
	ask := func(to string, stream bool, blocks ...string) (got string, dropped []string) {
		t.Helper()
		body := `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}]}`
		if stream {
			body = `{"stream":true,` + body[1:]
		}
		in, err := dialect.Anthropic().Inspect([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		payload := llm.NewPayload(dialect.Anthropic(), []byte(body), nil)
		payload.History = in.History
		c := &llm.Call{ID: "req", Trace: llm.NewTrace(record.Request{ID: "req"}, nil, nil), Payload: payload, Request: sdk.Request{Provider: "claude", Model: "m", Stream: stream}}
		r := c.Request
		r.Provider = to
		for e, err := range set.Dispatch(t.Context(), c, r, payload).Events() {
			if err != nil || e.Failure != nil {
				t.Fatal(err, e.Failure)
			}
		}
		_, got, _ = strings.Cut(sent, `"assistant","content":[`)
		return strings.TrimSuffix(got, `]}]}`), c.Trace.Record().Attempts[0].Dropped
	}
	thought := func(signature string) string {
		return `{"type":"thinking","thinking":"t","signature":"` + signature + `"}`
	}
	const hidden, text = `{"type":"redacted_thinking","data":"hidden by kimi"}`, `{"type":"text","text":"x"}`
	tests := []struct {
		name   string
		to     string
		blocks []string
		want   []string
	}{
		{"home, nobody else has served", "claude", []string{thought("older"), text}, []string{thought("older"), text}},
		{"elsewhere, nobody else has served", "kimi", []string{thought("older"), text}, []string{text}},
		{"home, with others' seals", "claude", []string{thought("whole by kimi"), thought("streamed by kimi"), hidden, thought("older"), thought("whole by claude"), text},
			[]string{thought("older"), thought("whole by claude"), text}},
		{"elsewhere, with its own seals", "kimi", []string{thought("whole by kimi"), thought("older"), thought("whole by claude"), hidden, text}, []string{thought("whole by kimi"), hidden, text}},
		{"home, unsigned", "claude", []string{thought(""), text}, []string{text}},
	}
	for _, tt := range tests {
		got, dropped := ask(tt.to, false, tt.blocks...)
		if want := strings.Join(tt.want, ","); got != want {
			t.Errorf("%s: got %s, want %s", tt.name, got, want)
		}
		if lost := len(tt.want) < len(tt.blocks); slices.Contains(dropped, "thinking") != lost {
			t.Errorf("%s: the record names %q", tt.name, dropped)
		}
		if tt.name == "elsewhere, nobody else has served" {
			ask("kimi", true, text)
			ask("claude", true, text)
		}
	}
	if want := []string{"kimi", "kimi", "kimi"}; !slices.Equal(kept, want) {
		t.Errorf("to be kept: %q, want the seals of failovers, once each: %q", kept, want)
	}
}
