package gateway

import (
	"context"
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
		x := s.exchange(w, r, d)
		defer x.cancel()
		if f := x.inbound(r); f != nil {
			x.fail(f)
			return
		}
		x.asked = time.Now()
		if x.in.Stream {
			x.flow()
		} else {
			x.whole()
		}
	}
}

// exchange begins an exchange. Its cancel must be called when it is over.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, d dialect.Dialect) *exchange {
	x := &exchange{server: s, dialect: d, run: s.runtime.Call, w: w, out: http.NewResponseController(w), began: time.Now(), id: host.NewID()}
	x.ctx, x.cancel = context.WithCancel(r.Context())
	w.Header().Set(headerID, x.id)
	w.Header().Set(ownID(d), x.id) // until a vendor has one
	return x
}

// exchange is one client's request and what it gets.
type exchange struct {
	server  *Server
	dialect dialect.Dialect
	run     func(context.Context, host.Inbound) (*llm.Call, sdk.Stream) // the runtime's Call
	w       http.ResponseWriter
	out     *http.ResponseController
	ctx     context.Context // ends with the client, and when it does not take its answer
	cancel  context.CancelFunc
	began   time.Time
	seen    dialect.Inspection

	id     string
	in     host.Inbound
	asked  time.Time // when the request was there and accepted
	call   *llm.Call // nil before that, and until plugins let go of it
	stream sdk.Stream

	status int           // as sent, 0 before
	first  time.Duration // from asked to visible content, 0 if there was none
}

func (x *exchange) options() dialect.AnswerOptions {
	return dialect.AnswerOptions{
		ID: x.id, Model: x.in.Route.Model, Created: time.Now().Unix(),
		IncludeUsage: x.seen.IncludeUsage, Freeform: x.seen.Freeform,
	}
}

// Headers that tell a client how it was served.
const (
	headerID       = "X-Spillway-Request-Id"
	headerRoute    = "X-Spillway-Route"
	headerAttempts = "X-Spillway-Attempts"
)

// ownID is the header in which clients of a dialect look for a request's id. One
// of them asks again for the rest of a broken answer only if it has that.
func ownID(d dialect.Dialect) string {
	if d.Name() == "anthropic" {
		return "Request-Id"
	}
	return "X-Request-Id"
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
	if route, attempts := x.call.Trace.Served(); attempts > 0 {
		h.Set(headerRoute, route.String())
		h.Set(headerAttempts, strconv.Itoa(attempts))
	}
}
