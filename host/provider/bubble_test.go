package provider

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/sdk"
)

const secret = "sk-echoed-5d0c2b7e91"

// inMemory is a provider whose vendor is h, over connections in memory: in a
// synctest bubble time passes only while everybody waits.
func inMemory(t *testing.T, h http.HandlerFunc) *Provider {
	t.Helper()
	const base = "http://127.0.0.1/v1"
	p, err := New(Options{Name: "p", VendorName: "deepseek", Keys: []profile.Secret{"sk-first-0a1b2c3d4e", secret},
		Vendor: Vendor{Endpoints: map[string]string{"anthropic": base, "openai": base, "responses": base}, Auth: authBearer}})
	if err != nil {
		t.Fatal(err)
	}
	l := bufconn.Listen(1 << 20)
	p.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return l.DialContext(ctx)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client leaves
		h(w, r)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { p.Close(); srv.Close() })
	return p
}

// asked is one call of a provider and what became of it.
type asked struct {
	*attempt
	trace    *llm.Trace
	outcomes []sdk.Outcome
}

func ask(t *testing.T, p *Provider, d dialect.Dialect, stream bool, choices int, l sdk.Limits) *asked {
	t.Helper()
	body := fmt.Appendf(nil, `{"model":"m1","max_tokens":9,"n":%d,"stream":%t,"messages":[{"role":"user","content":"hello"}]}`, choices, stream)
	payload := llm.NewPayload(d, body, nil)
	payload.Choices = choices
	a := &asked{trace: llm.NewTrace(record.Request{ID: "req"}, nil, nil)}
	r := sdk.Request{Provider: "p", Model: "m1", Stream: stream, Dispatch: sdk.Dispatch{Key: profile.Secret(secret).Fingerprint(), Limits: l}}
	a.attempt = p.attempt(t.Context(), &llm.Call{ID: "req", Trace: a.trace, Request: r, Payload: payload}, r, payload)
	a.OnOutcome(func(o sdk.Outcome) { a.outcomes = append(a.outcomes, o) })
	return a
}

// reader reads an answer to its end, pausing after each piece.
type reader struct {
	name string
	read func(a *asked, pause time.Duration) (text string, f *sdk.Failure)
}

// readers are the two ways in which a stream is read.
var readers = []reader{
	{"events", func(a *asked, pause time.Duration) (string, *sdk.Failure) {
		var text strings.Builder
		for e, err := range a.Events() {
			if err != nil {
				return text.String(), sdk.NewFailure(sdk.CodePlugin, "test", err.Error())
			}
			if text.WriteString(e.Text); e.Kind == sdk.KindFinish {
				return text.String(), e.Failure
			}
			time.Sleep(pause)
		}
		return text.String(), sdk.NewFailure(sdk.CodePlugin, "test", "no finish event")
	}},
	{"frames", func(a *asked, pause time.Duration) (string, *sdk.Failure) {
		var raw strings.Builder
		for f := range a.Frames() {
			if f.Failure != nil {
				return raw.String(), f.Failure
			}
			raw.Write(f.Raw)
			time.Sleep(pause)
		}
		return raw.String(), nil
	}},
}

// streamed is a vendor whose frames follow each other after the given gaps.
func streamed(frames ...gap) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, f := range frames {
			select {
			case <-time.After(f.after):
			case <-r.Context().Done():
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", f.data)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// gap is a frame and the silence before it.
type gap struct {
	after time.Duration
	data  string
}

// Chat frames.
const (
	hello  = `{"choices":[{"index":0,"delta":{"content":"hello"}}]}`
	finish = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	second = `{"choices":[{"index":1,"delta":{"content":"second"}}]}`
	last   = `{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`
	done   = `[DONE]`
)
