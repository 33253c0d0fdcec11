package gateway

import (
	"net/http"
	"time"

	"spillway/host/llm"
	"spillway/sdk"
)

// flow answers with a stream.
func (x *exchange) flow() {
	x.server.metrics.streams.Inc()
	defer x.server.metrics.streams.Dec()
	l := newLine(x, x.server.runtime.Graph().Gateway())
	defer l.close()
	f := x.await()
	begun := l.decided()
	if f != nil {
		x.stream.Close()
		if !begun {
			x.fail(f)
			return
		}
		l.broken(f)
		l.check(f)
		x.done(f, false)
		panic(http.ErrAbortHandler)
	}
	x.first = time.Since(x.asked)
	raw, ok := sdk.Find[llm.Raw](x.stream)
	if ok && raw.Dialect() == x.dialect {
		f = x.relay(l, raw)
	} else {
		f = x.encode(l)
	}
	l.check(f)
	x.done(f, true)
	if f != nil {
		// The error event was sent. A clean end would make it a success to
		// clients that look at nothing else.
		panic(http.ErrAbortHandler)
	}
}

// await makes the call and returns once visible content has come, or the failure
// that came instead. Plugins may take their time before there is a stream.
func (x *exchange) await() *sdk.Failure {
	x.call, x.stream = x.run(x.ctx, x.in)
	return sdk.AwaitVisible(x.ctx, x.stream)
}

// relay passes the vendor's frames on. Where the client has been given a start
// already, only the vendor's own and its ids are replaced.
func (x *exchange) relay(l *line, raw llm.Raw) *sdk.Failure {
	l.relays(raw.Head())
	for f := range raw.Frames() {
		if f.Failure != nil {
			l.broken(f.Failure)
			return f.Failure
		}
		if !l.relayed(f) {
			return gone()
		}
	}
	return nil
}

// encode writes events in the client's dialect. Where the client has been given a
// start already, the vendor's own is left out by the encoder.
func (x *exchange) encode(l *line) *sdk.Failure {
	l.encodes()
	for e, err := range x.stream.Events() {
		f := e.Failure
		if err != nil {
			f = sdk.NewFailure(sdk.CodePlugin, "stream", err.Error())
		}
		if f != nil {
			l.broken(f)
			return f
		}
		if !l.encoded(e) {
			return gone()
		}
		if e.Kind == sdk.KindFinish {
			return nil
		}
	}
	f := sdk.NewFailure(sdk.CodeTransport, "stream", "the answer ended without a finish")
	l.broken(f)
	return f
}

func gone() *sdk.Failure { return sdk.NewFailure(sdk.CodeAborted, "caller", "the caller is gone") }
