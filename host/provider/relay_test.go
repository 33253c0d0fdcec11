package provider

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/sdk"
)

// relayed runs an answer of n events through an attempt, from the vendor's bytes to
// the frames that the gateway gets.
func relayed(tb testing.TB, p *Provider, answer []byte, n int) {
	payload := llm.NewPayload(dialect.OpenAI(), []byte(`{"model":"m1","stream":true}`), nil)
	r := sdk.Request{Provider: "p", Model: "m1", Stream: true, Dispatch: sdk.Dispatch{Key: profile.Secret(secret).Fingerprint()}}
	c := &llm.Call{ID: "req", Trace: llm.NewTrace(record.Request{ID: "req"}, nil, nil), Request: r, Payload: payload}
	a := p.attempt(tb.Context(), c, r, payload)
	a.begun, a.number, a.started = true, c.Trace.Begin(r), time.Now()
	a.resp = &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(answer)),
	}
	a.limit.start(a.cancel, a.started, time.Hour, errFirstContent)
	a.read()
	got := 0
	for f := range a.Frames() {
		if f.Failure != nil {
			tb.Fatal(f.Failure)
		}
		if f.Mark.Kind == dialect.MarkContent {
			got++
		}
	}
	if got != n {
		tb.Fatalf("got %d events, want %d", got, n)
	}
}

// answerOf is an answer of n events.
func answerOf(n int) []byte {
	frame := func(data string) []byte { return []byte("data: " + data + "\n\n") }
	return append(bytes.Repeat(frame(hello), n), append(frame(finish), frame(done)...)...)
}

func newProvider(tb testing.TB) *Provider {
	p, err := New(Options{Name: "p", Keys: []profile.Secret{secret}, Vendor: Vendor{Endpoints: map[string]string{"openai": "http://127.0.0.1/v1"}, Auth: authBearer}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.Close)
	return p
}

// TestRelayAllocates: what an answer costs does not grow with its events.
func TestRelayAllocates(t *testing.T) {
	p := newProvider(t)
	allocations := func(n int) float64 {
		answer := answerOf(n)
		return testing.AllocsPerRun(20, func() { relayed(t, p, answer, n) })
	}
	few, many := allocations(10), allocations(2010)
	if more := many - few; more > 2 {
		t.Errorf("2 000 more events: got %v more allocations, want none (%v in all)", more, many)
	}
}

// BenchmarkFrames is the way of an event from the vendor's bytes to the gateway; one
// operation is an event.
func BenchmarkFrames(b *testing.B) {
	const n = 1000
	p, answer := newProvider(b), answerOf(n)
	b.ReportAllocs()
	for left := 0; b.Loop(); left-- {
		if left == 0 {
			relayed(b, p, answer, n)
			left = n
		}
	}
}
