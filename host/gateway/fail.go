package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"spillway/host/llm"
	"spillway/sdk"
)

// fail answers a request of which nothing was given away.
func (x *exchange) fail(f *sdk.Failure) {
	id := ""
	own := x.reply(f) // before the trace lets go of it
	if x.call != nil {
		id = x.call.ID
		x.call.Trace.Finish(f, false)
		x.header(llm.Head{})
	}
	if f.Code == sdk.CodeAborted && x.ctx.Err() != nil { // nobody reads it
		x.w.WriteHeader(statusClientClosed)
		return
	}
	h := x.w.Header()
	if f.Class() == sdk.ClassCaller && f.Code != sdk.CodeAborted { // given up by a plugin: not the caller's fault
		// Agents read these texts and act on them, so they get the vendor's own.
		h.Set("X-Should-Retry", "false")
		if own != nil {
			h.Set("Content-Type", own.Type)
			x.w.WriteHeader(own.Status)
			_, _ = x.w.Write(own.Body)
			return
		}
		h.Set("Content-Type", "application/json")
		x.w.WriteHeader(callerStatus(f))
		_, _ = x.w.Write(x.dialect.ErrorBody(f, id))
		return
	}
	wait, useful := retryAfter(f, time.Now())
	h.Set("Retry-After", strconv.Itoa(wait))
	if !useful || wait > longWait {
		h.Set("X-Should-Retry", "false")
	}
	h.Set("Content-Type", "application/json")
	x.w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = x.w.Write(x.dialect.ErrorBody(x.told(f), id))
}

// statusClientClosed is what access logs call a request whose client left.
const statusClientClosed = 499

// longWait is the longest Retry-After, in seconds, that real agents still obey;
// above it some ignore the header and retry at once.
const longWait = 60

// reply is the vendor's own answer, if it is in the client's dialect.
func (x *exchange) reply(f *sdk.Failure) *llm.Reply {
	if x.call == nil {
		return nil
	}
	if r := x.call.Trace.Reply(f.Attempt); r != nil && r.Dialect == x.dialect.Name() {
		return r
	}
	return nil
}

func callerStatus(f *sdk.Failure) int {
	switch {
	case f.Status >= 400 && f.Status < 500:
		return f.Status
	case f.Code == sdk.CodeUnknownModel, f.Code == sdk.CodeNoAdapter:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// retryAfter is the whole seconds until something may serve, at least 1, and
// whether a repetition can help at all.
func retryAfter(f *sdk.Failure, now time.Time) (seconds int, useful bool) {
	wait := f.RetryAfter
	if !f.ResetAt.IsZero() {
		wait = max(wait, f.ResetAt.Sub(now))
	}
	useful = wait > 0 || f.Class() == sdk.ClassTransient
	return max(int((wait+time.Second-1)/time.Second), 1), useful
}

// told is the failure as the caller reads it: the first cause, and what was
// tried.
func (x *exchange) told(f *sdk.Failure) *sdk.Failure {
	g := *f
	if x.call == nil {
		return &g
	}
	var tried []string
	for _, a := range x.call.Trace.Record().Attempts {
		if a.Code != "" {
			code := a.Code
			if a.JudgedCode != "" {
				code = a.JudgedCode
			}
			tried = append(tried, fmt.Sprintf("%s: %s", a.Route, code))
		}
	}
	if len(tried) > 0 {
		g.Message = strings.TrimSpace(g.Message) + " (tried " + strings.Join(tried, ", ") + "; spillway explain " + x.call.ID + ")"
	}
	return &g
}
