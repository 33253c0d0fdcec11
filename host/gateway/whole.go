package gateway

import (
	"net/http"
	"strconv"
	"time"

	"spillway/host/llm"
	"spillway/sdk"
)

// whole answers with a body. Nothing of it can be sent early.
func (x *exchange) whole() {
	if f := x.await(); f != nil {
		x.stream.Close()
		x.fail(f)
		return
	}
	x.first = time.Since(x.asked)
	var body []byte
	var f *sdk.Failure
	h := x.w.Header()
	if raw, ok := sdk.Find[llm.Raw](x.stream); ok && raw.Dialect() == x.dialect {
		x.header(raw.Head())
		body, f = raw.Whole()
		h.Set("Content-Type", raw.Head().Header.Get("Content-Type"))
	} else {
		x.header(llm.Head{})
		body, f = x.build()
		h.Set("Content-Type", "application/json")
	}
	if f != nil {
		x.fail(f)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if !x.send(http.StatusOK, body) {
		f = gone()
	}
	x.done(f, true)
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

// sendPiece is what a client must take in the time of its patience: large
// answers may well take longer.
const sendPiece = 256 << 10

// send writes a whole response and reports whether the client took it.
func (x *exchange) send(status int, body []byte) bool {
	x.status = status
	x.w.WriteHeader(status)
	for len(body) > 0 {
		n := min(len(body), sendPiece)
		_ = x.out.SetWriteDeadline(time.Now().Add(x.server.limits.patience))
		if _, err := x.w.Write(body[:n]); err != nil {
			return false
		}
		body = body[n:]
	}
	return true
}
