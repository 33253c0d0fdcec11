package chaos

import (
	"compress/gzip"
	"net/http"
	"strings"
	"time"
)

// fault is a way in which a vendor fails, or nearly does.
type fault struct {
	slow   bool // somebody waits for a limit
	bears  bool // a good gateway serves it as a sound answer, so nobody is charged
	breaks bool // a stream may break after content has come
	play   func(x *exchange)
}

// refused is the fault of an error with a status.
func refused(status int, kind, code, message string, header ...string) fault {
	return fault{play: func(x *exchange) {
		for i := 0; i+1 < len(header); i += 2 {
			x.w.Header().Set(header[i], header[i+1])
		}
		x.refuse(status, kind, code, message)
	}}
}

const page = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"

// faults are all of them, by name. "refuse" is not among them: nobody is there to
// play it.
var faults = map[string]fault{
	"500":      refused(500, "server_error", "", "The server had an error while processing your request"),
	"503":      refused(503, "server_error", "", "Service Unavailable"),
	"529":      refused(529, "overloaded_error", "", "Overloaded"),
	"429":      refused(429, "rate_limit_error", "rate_limit_exceeded", "Too many requests"),
	"429 hint": refused(429, "rate_limit_error", "rate_limit_exceeded", "Too many requests", "Retry-After", "0.2"),
	"402":      refused(402, "billing_error", "insufficient_balance", "Insufficient balance"),
	"401":      refused(401, "authentication_error", "invalid_api_key", "Incorrect API key provided"),
	"ban":      refused(403, "permission_error", "", "Your account has been suspended"),
	"404":      refused(404, "not_found_error", "model_not_found", "The model `m` does not exist"),
	"502 page": {play: func(x *exchange) {
		x.w.Header().Set("Content-Type", "text/html")
		x.w.WriteHeader(http.StatusBadGateway)
		x.send(page)
	}},
	"200 page": {play: func(x *exchange) {
		x.w.Header().Set("Content-Type", "text/html")
		x.send(page)
	}},
	"empty": {play: func(x *exchange) { x.head() }},
	"reset": {play: (*exchange).reset},
	"close": {play: (*exchange).cut},
	"hang":  {slow: true, play: func(x *exchange) { x.wait(untilGone) }},
	"late": {slow: true, play: func(x *exchange) {
		x.wait(2 * x.pace.firstContent)
		if x.ctx.Err() == nil {
			x.sound()
		}
	}},
	"cut": {breaks: true, play: func(x *exchange) {
		x.begin()
		x.cut()
	}},
	"eof": {breaks: true, play: (*exchange).begin},
	"stall": {breaks: true, slow: true, play: func(x *exchange) {
		x.begin()
		x.wait(untilGone)
	}},
	"error": {breaks: true, play: func(x *exchange) {
		if !x.stream {
			x.head()
			x.send(x.wire.refusal("server_error", "server_error", "The server had an error"))
			return
		}
		x.begin()
		x.send(x.wire.trouble())
	}},
	"gzip cut": {breaks: true, play: func(x *exchange) {
		x.head()
		x.w.Header().Set("Content-Encoding", "gzip")
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(x.answer.whole(x.wire))) // to memory
		z.Close()
		x.send(b.String()[:b.Len()/2])
	}},
	"long line": {slow: true, breaks: true, play: func(x *exchange) {
		x.begin()
		x.send("data: " + strings.Repeat("x", 4<<20))
		x.flush()
		x.cut()
	}},
	"keep-alive": {slow: true, play: func(x *exchange) {
		x.head()
		for began := time.Now(); x.ctx.Err() == nil && time.Since(began) < untilGone; x.wait(x.pace.firstContent / 10) {
			if x.stream {
				x.send(": alive\n\n")
			}
			x.flush()
		}
	}},
	"bad json": {breaks: true, play: func(x *exchange) {
		x.head()
		if !x.stream {
			all := x.answer.whole(x.wire)
			x.send(all[:len(all)/2] + "\x00" + all[len(all)/2:])
			return
		}
		f := x.answer.frames(x.wire)
		x.send(f.start)
		for i, w := range f.words {
			if i == x.at {
				x.send("data: {\"id\":\"c\",\"choices\":[{\"ind\n\n")
			}
			x.send(w)
		}
		x.send(f.finish + f.last)
		x.hit.said, x.hit.whole = len(f.words), true
	}},
	"no sentinel": {bears: true, play: func(x *exchange) {
		if !x.stream {
			x.sound()
			return
		}
		x.head()
		f := x.answer.frames(x.wire)
		x.send(f.start + strings.Join(f.words, "") + f.finish)
		x.hit.said, x.hit.whole = len(f.words), true
	}},
	"slow": {bears: true, play: func(x *exchange) {
		x.head()
		x.flush()
		x.wait(x.pace.firstContent / 5)
		x.sound()
	}},
	"drip": {bears: true, play: func(x *exchange) {
		x.head()
		all := x.answer.whole(x.wire)
		if x.stream {
			f := x.answer.frames(x.wire)
			all = f.start + strings.Join(f.words, "") + f.finish + f.last
		}
		const parts = 20
		for i := range parts {
			x.send(all[len(all)*i/parts : len(all)*(i+1)/parts])
			x.flush()
			x.wait(x.pace.firstContent / (2 * parts))
		}
		x.hit.said, x.hit.whole = x.answer.words, true
	}},
	"unstreamed": {bears: true, play: func(x *exchange) {
		x.stream = false
		x.sound()
	}},
	"wrong type": {breaks: true, play: func(x *exchange) {
		x.w.Header().Set("Content-Type", "text/plain")
		if x.stream {
			x.send(x.answer.frames(x.wire).start)
		}
		x.send(x.answer.whole(x.wire))
		x.hit.whole = !x.stream // some take it, since it is sound JSON
	}},
}

// refuse is the fault of a vendor at whose address nobody listens.
const refuse = "refuse"
