package sim

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// play answers as the step says. The error is errBreak, the context's or that
// of a write; each of them ends the connection.
func (x *exchange) play() error {
	s := x.step
	if err := wait(x.ctx, s.after); err != nil {
		return err
	}
	switch s.name {
	case "hang":
		<-x.ctx.Done()
		return x.ctx.Err()
	case "reset", "refuse": // a refused request came over a connection that was open before
		return x.reset()
	case "empty200":
		contentType := "application/json"
		if x.request.Stream {
			contentType = eventStream
		}
		return x.send(http.StatusOK, contentType, nil)
	case "keepalive":
		return x.keepAlive()
	case "body":
		return x.replay(s.record)
	}
	if s.refusal {
		return x.refuse(s.name)
	}
	a := compose(x.format, x.vendor, s, x.request, x.call.N)
	if s.name == "nofinish" {
		a.stop = stopNone
	}
	switch {
	case s.name == "gzip-cut":
		return x.halfCompressed(a)
	case x.request.Stream && s.name != "unstreamed":
		return x.stream(a)
	}
	return x.whole(a)
}

// start sends the headers of status 200 at once.
func (x *exchange) start(contentType string) error {
	if x.step.name == "wrong-content-type" {
		contentType = x.step.word
	}
	x.head(contentType)
	if x.request.Stream {
		x.w.Header().Set("Cache-Control", "no-cache")
	}
	x.w.WriteHeader(http.StatusOK)
	return x.ctl.Flush()
}

// write sends p at once, or byte by byte.
func (x *exchange) write(p []byte) error {
	if x.step.name != "drip" {
		if _, err := x.w.Write(p); err != nil {
			return err
		}
		return x.ctl.Flush()
	}
	for i := range p {
		if err := wait(x.ctx, x.step.wait); err != nil {
			return err
		}
		if _, err := x.w.Write(p[i : i+1]); err != nil {
			return err
		}
		if err := x.ctl.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// keepAlive keeps the response open and never says anything.
func (x *exchange) keepAlive() error {
	contentType := "application/json"
	if x.request.Stream {
		contentType = eventStream
	}
	if err := x.start(contentType); err != nil {
		return err
	}
	for number := 0; ; number++ {
		beat := []byte("\n")
		if x.request.Stream {
			beat = x.format.keepAlive(number)
		}
		if err := x.write(beat); err != nil {
			return err
		}
		if err := wait(x.ctx, max(x.step.wait, time.Millisecond)); err != nil {
			return err
		}
	}
}

// halfCompressed sends the first half of a compressed answer and ends cleanly.
func (x *exchange) halfCompressed(a *answer) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	contentType := "application/json"
	if x.request.Stream {
		contentType = eventStream
		for f := range x.format.frames(a) {
			z.Write(f.data)
		}
	} else {
		z.Write(x.format.whole(a))
	}
	z.Close()
	x.w.Header().Set("Content-Encoding", "gzip")
	if err := x.start(contentType); err != nil {
		return err
	}
	return x.write(b.Bytes()[:b.Len()/2])
}

// longLine sends one line of n bytes, with head before and tail after it.
func (x *exchange) longLine(head, tail string, n int64) error {
	if err := x.write([]byte(head)); err != nil {
		return err
	}
	filler := bytes.Repeat([]byte("x"), 64<<10)
	for n > 0 {
		part := filler[:min(n, int64(len(filler)))]
		if _, err := x.w.Write(part); err != nil {
			return err
		}
		n -= int64(len(part))
	}
	return x.write([]byte(tail))
}

// whole sends an answer that is not streamed. A fault that has a place in a
// stream comes in the middle of the body.
func (x *exchange) whole(a *answer) error {
	s := x.step
	if s.name == "error-event" {
		return x.send(http.StatusOK, "application/json", x.format.errorWhole(a, x.eventBody()))
	}
	if err := wait(x.ctx, time.Duration(len(a.pieces))*x.gap()); err != nil {
		return err
	}
	body := x.format.whole(a)
	if s.name == "badjson" {
		body = append(body[:len(body)/2:len(body)/2], "\x00}"...)
	}
	switch s.name {
	case "eof", "badjson", "longline": // the length is not what a sound answer has
	default:
		x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if err := x.start("application/json"); err != nil {
		return err
	}
	half := len(body) / 2
	switch s.name {
	case "slow":
		if err := wait(x.ctx, s.wait); err != nil {
			return err
		}
	case "longline":
		return x.longLine(`{"padding":"`, `"}`, s.size)
	case "cut", "eof", "stall", "pause", "goaway", "tls-cut":
		if err := x.write(body[:half]); err != nil {
			return err
		}
		if ended, err := x.fault(a, 0); ended {
			return err
		}
		body = body[half:]
	}
	return x.write(body)
}
