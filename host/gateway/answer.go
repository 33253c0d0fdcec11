package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/sdk"
)

// answers returns the handler of one dialect's calls.
func (s *Server) answers(d dialect.Dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{server: s, dialect: d, w: w, ctx: r.Context()}
		in, f := x.inbound(r)
		if f != nil {
			x.fail(f)
			return
		}
		x.call, x.stream = s.runtime.Call(r.Context(), in)
		if in.Stream {
			x.flow()
		} else {
			x.whole()
		}
	}
}

// exchange is one client's request and what it gets.
type exchange struct {
	server  *Server
	dialect dialect.Dialect
	w       http.ResponseWriter
	ctx     context.Context
	usage   bool // an OpenAI client asked for the usage chunk

	call   *llm.Call // nil until the request was accepted
	stream sdk.Stream
}

// inbound reads the request.
func (x *exchange) inbound(r *http.Request) (host.Inbound, *sdk.Failure) {
	body, err := io.ReadAll(http.MaxBytesReader(x.w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			f := sdk.NewFailure(sdk.CodeContextWindow, "gateway.body", "the request is larger than "+strconv.Itoa(maxBody>>20)+" MB")
			f.Status = http.StatusRequestEntityTooLarge
			return host.Inbound{}, f
		}
		return host.Inbound{}, sdk.NewFailure(sdk.CodeAborted, "caller", "the request was not sent to its end")
	}
	seen, err := x.dialect.Inspect(body)
	if err != nil {
		if f, ok := errors.AsType[*sdk.Failure](err); ok {
			return host.Inbound{}, f
		}
		return host.Inbound{}, sdk.NewFailure(sdk.CodeInvalidRequest, "gateway.body", err.Error())
	}
	x.usage = seen.IncludeUsage
	meant, err := x.server.runtime.Resolve(seen.Model, x.dialect)
	if err != nil {
		return host.Inbound{}, sdk.NewFailure(sdk.CodeUnknownModel, "gateway.route", err.Error())
	}
	demands, f := wants(r.Header, meant.Wants)
	if f != nil {
		return host.Inbound{}, f
	}
	payload := llm.NewPayload(x.dialect, body, r.Header)
	payload.Choices = seen.Choices
	return host.Inbound{
		Route: meant.Route, Wants: demands, Payload: payload, Stream: seen.Stream,
		MaxTokens: seen.MaxTokens, Effort: seen.Effort, Conversation: seen.Conversation, Shape: seen.Shape,
	}, nil
}

// flow answers with a stream.
func (x *exchange) flow() {
	if f := sdk.AwaitVisible(x.ctx, x.stream); f != nil {
		x.stream.Close()
		x.fail(f)
		return
	}
	raw, ok := sdk.Find[llm.Raw](x.stream)
	if ok && raw.Dialect() != x.dialect {
		ok = false
	}
	var head llm.Head
	if ok {
		head = raw.Head()
	}
	x.header(head)
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	var f *sdk.Failure
	if ok {
		f = x.relay(raw)
	} else {
		f = x.encode()
	}
	x.call.Trace.Finish(f, true)
	if f != nil {
		// The error event was sent. A clean end would make it a success to
		// clients that look at nothing else.
		panic(http.ErrAbortHandler)
	}
}

// relay passes the vendor's frames on as they are.
func (x *exchange) relay(raw llm.Raw) *sdk.Failure {
	for f := range raw.Frames() {
		if f.Failure != nil {
			return x.broken(f.Failure)
		}
		if !x.send(f.Raw) {
			return gone()
		}
	}
	return nil
}

// encode writes events in the client's dialect.
func (x *exchange) encode() *sdk.Failure {
	enc := x.dialect.NewEncoder(x.options())
	var buf []byte
	for e, err := range x.stream.Events() {
		if err != nil {
			return x.broken(sdk.NewFailure(sdk.CodePlugin, "stream", err.Error()))
		}
		if e.Kind == sdk.KindFinish && e.Failure != nil {
			return x.broken(e.Failure)
		}
		if buf = enc.Encode(buf[:0], e); len(buf) > 0 && !x.send(buf) {
			return gone()
		}
		if e.Kind == sdk.KindFinish {
			return nil
		}
	}
	return x.broken(sdk.NewFailure(sdk.CodeTransport, "stream", "the answer ended without a finish"))
}

// clientPatience is how long a client may not read before it counts as gone.
const clientPatience = 2 * time.Minute

// send writes a piece of a stream and pushes it out.
func (x *exchange) send(p []byte) bool {
	out := http.NewResponseController(x.w)
	_ = out.SetWriteDeadline(time.Now().Add(clientPatience))
	if _, err := x.w.Write(p); err != nil {
		return false
	}
	return out.Flush() == nil
}

func gone() *sdk.Failure { return sdk.NewFailure(sdk.CodeAborted, "caller", "the caller is gone") }

// broken tells a client in the middle of an answer that it is broken.
func (x *exchange) broken(f *sdk.Failure) *sdk.Failure {
	x.send(x.dialect.ErrorFrame(x.told(f), x.call.ID))
	return f
}

func (x *exchange) options() dialect.AnswerOptions {
	return dialect.AnswerOptions{
		ID: x.call.ID, Model: x.call.Request.Model, Created: time.Now().Unix(), IncludeUsage: x.usage,
	}
}

// whole answers with a body.
func (x *exchange) whole() {
	if f := sdk.AwaitVisible(x.ctx, x.stream); f != nil {
		x.stream.Close()
		x.fail(f)
		return
	}
	var body []byte
	var f *sdk.Failure
	if raw, ok := sdk.Find[llm.Raw](x.stream); ok && raw.Dialect() == x.dialect {
		x.header(raw.Head())
		body, f = raw.Whole()
		x.w.Header().Set("Content-Type", raw.Head().Header.Get("Content-Type"))
	} else {
		x.header(llm.Head{})
		body, f = x.build()
		x.w.Header().Set("Content-Type", "application/json")
	}
	if f != nil {
		x.fail(f)
		return
	}
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(http.StatusOK)
	if _, err := x.w.Write(body); err != nil {
		f = gone()
	}
	x.call.Trace.Finish(f, true)
}

// build gathers a whole answer from its events.
func (x *exchange) build() ([]byte, *sdk.Failure) {
	var events []sdk.Event
	for e, err := range x.stream.Events() {
		if err != nil {
			return nil, sdk.NewFailure(sdk.CodePlugin, "stream", err.Error())
		}
		if e.Failure != nil {
			return nil, e.Failure
		}
		events = append(events, e)
	}
	if body := x.dialect.BuildAnswer(events, x.options()); body != nil {
		return body, nil
	}
	return nil, sdk.NewFailure(sdk.CodeTransport, "stream", "the answer has no clean finish")
}

// passedHeaders are the vendor's response headers that a client may want;
// prefixes end with "-".
var passedHeaders = []string{
	"Request-Id", "X-Request-Id", "Anthropic-Organization-Id", "Openai-Processing-Ms",
	"Anthropic-Ratelimit-", "X-Ratelimit-",
}

// header writes what the client should know of how it was served.
func (x *exchange) header(head llm.Head) {
	h := x.w.Header()
	for name, values := range head.Header {
		for _, p := range passedHeaders {
			if name == p || strings.HasSuffix(p, "-") && strings.HasPrefix(name, p) {
				h[name] = values
			}
		}
	}
	h.Set("X-Spillway-Request-Id", x.call.ID)
	if attempts := x.call.Trace.Record().Attempts; len(attempts) > 0 {
		h.Set("X-Spillway-Route", attempts[len(attempts)-1].Route.String())
		h.Set("X-Spillway-Attempts", strconv.Itoa(len(attempts)))
	}
}
