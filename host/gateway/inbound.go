package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"spillway/host"
	"spillway/host/llm"
	"spillway/sdk"
)

// limits bound what one client can cost the others.
type limits struct {
	body     int64         // of a request: more than the largest vendor takes
	pause    time.Duration // between two pieces of a body
	grace    time.Duration // a body may take this long, and
	rate     int64         // … a second more for every so many bytes
	patience time.Duration // how long a client may not read before it counts as gone
}

func defaultLimits() limits {
	return limits{body: 64 << 20, pause: 30 * time.Second, grace: time.Minute, rate: 1 << 10, patience: 2 * time.Minute}
}

// inbound reads the request into x.in.
func (x *exchange) inbound(r *http.Request) *sdk.Failure {
	body, f := x.body(r)
	if f != nil {
		return f
	}
	seen, err := x.dialect.Inspect(body)
	x.seen = seen
	if err != nil {
		if f, ok := errors.AsType[*sdk.Failure](err); ok {
			return f
		}
		return sdk.NewFailure(sdk.CodeInvalidRequest, "gateway.body", err.Error())
	}
	meant, err := x.server.runtime.Resolve(seen.Model, x.dialect)
	if err != nil {
		return sdk.NewFailure(sdk.CodeUnknownModel, "gateway.route", err.Error())
	}
	demands, f := wants(r.Header, meant.Wants)
	if f != nil {
		return f
	}
	demands.SameProvider = seen.Held != ""
	payload := llm.NewPayload(x.dialect, body, r.Header)
	payload.Choices, payload.History, payload.Hosted = seen.Choices, seen.History, seen.Hosted
	payload.Credentials = x.server.credentials(r.Header)
	x.in = host.Inbound{
		ID: x.id, Route: meant.Route, Wants: demands, Payload: payload, Stream: seen.Stream,
		MaxTokens: seen.MaxTokens, Effort: seen.Effort, Conversation: conversation(seen, r.Header), Shape: seen.Shape,
	}
	return nil
}

// body reads the request's body. Where it fails the connection is of no further
// use.
func (x *exchange) body(r *http.Request) ([]byte, *sdk.Failure) {
	limits := x.server.limits
	if r.ContentLength > limits.body {
		return nil, x.tooLarge()
	}
	u := &upload{src: http.MaxBytesReader(x.w, r.Body, limits.body), out: x.out, limits: limits, began: x.began}
	var b bytes.Buffer
	b.Grow(int(min(max(r.ContentLength, 0), firstRead)) + bytes.MinRead)
	_, err := b.ReadFrom(u)
	switch {
	case err == nil:
		_ = x.out.SetReadDeadline(time.Time{})
		return b.Bytes(), nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.w.Header().Set("Connection", "close")
		f := sdk.NewFailure(sdk.CodeInvalidRequest, "gateway.body", fmt.Sprintf("the request's body stopped coming after %d bytes", b.Len()))
		f.Status = http.StatusRequestTimeout
		return nil, f
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, x.tooLarge()
	}
	x.cancel() // nobody is there to be told
	return nil, sdk.NewFailure(sdk.CodeAborted, "caller", "the request was not sent to its end")
}

// firstRead is how much a client's word is taken for: a length announced is not
// yet a length sent, and a thousand clients may announce one.
const firstRead = 64 << 10

func (x *exchange) tooLarge() *sdk.Failure {
	x.w.Header().Set("Connection", "close")
	f := sdk.NewFailure(sdk.CodeContextWindow, "gateway.body", fmt.Sprintf("the request is larger than %d MB", x.server.limits.body>>20))
	f.Status = http.StatusRequestEntityTooLarge
	return f
}

// upload is a request's body that must keep coming. A slow line is no fault, so
// what counts is that it moves, and not a byte at a time for ever.
type upload struct {
	src    io.Reader
	out    *http.ResponseController
	limits limits
	began  time.Time
	read   int64
	until  time.Time // deadline of a read
}

func (u *upload) Read(p []byte) (int, error) {
	now := time.Now()
	until := now.Add(u.limits.pause)
	if all := u.began.Add(u.limits.grace + time.Duration(u.read/u.limits.rate)*time.Second); all.Before(until) {
		until = all
	}
	// The deadline is a timer of the runtime's: one that is nearly right will do.
	if until.Before(u.until) || until.Sub(u.until) > u.limits.pause/8 {
		u.until = until
		_ = u.out.SetReadDeadline(until)
	}
	n, err := u.src.Read(p)
	u.read += int64(n)
	return n, err
}
