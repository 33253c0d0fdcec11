package gateway

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/host"
	"spillway/host/llm"
	"spillway/sdk"
)

// fail answers a request of which nothing was given away.
func (x *exchange) fail(f *sdk.Failure) {
	h := x.w.Header()
	own := x.reply(f) // before the trace lets go of it
	if x.call != nil {
		x.header(llm.Head{})
	}
	defer x.done(f, false)
	h.Set("Content-Type", "application/json")
	switch {
	case f.Code == sdk.CodeAborted && x.ctx.Err() != nil: // nobody reads it
		x.send(statusClientClosed, nil)
	case f.Class() == sdk.ClassCaller && f.Code != sdk.CodeAborted: // given up by a plugin: not the caller's fault
		// Agents read these texts and act on them, so they get the vendor's own.
		h.Set("X-Should-Retry", "false")
		if own == nil {
			x.send(Status(f), x.dialect.ErrorBody(f, x.id))
			return
		}
		h.Set("Content-Type", own.Type)
		x.send(callerStatus(f, own.Status), own.Body)
	default:
		wait, should := host.Retry(f, time.Now())
		h.Set("Retry-After", strconv.Itoa(max(int((wait+time.Second-1)/time.Second), 1)))
		if !should {
			h.Set("X-Should-Retry", "false")
		}
		x.send(Status(f), x.dialect.ErrorBody(x.told(f), x.id))
	}
}

// Status is the status with which a failed request is answered, if nothing of it
// was given away and no vendor's own answer is passed on.
func Status(f *sdk.Failure) int {
	if f.Class() == sdk.ClassCaller && f.Code != sdk.CodeAborted { // given up by a plugin: not the caller's fault
		return callerStatus(f, f.Status)
	}
	return http.StatusServiceUnavailable
}

// statusClientClosed is what access logs call a request whose client left.
const statusClientClosed = 499

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

// callerStatus is the status that a caller gets for a fault of its own: the
// vendor's, as far as it says so. A 401 would be about the vendor's key, which
// is none of the caller's unless it had sent it itself, and anything above 499 would
// be repeated.
func callerStatus(f *sdk.Failure, vendors int) int {
	switch {
	case vendors >= 400 && vendors < 500 && (vendors != http.StatusUnauthorized || f.Rule == sdk.RuleOwnCredential):
		return vendors
	case f.Code == sdk.CodeUnknownModel, f.Code == sdk.CodeNoAdapter:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// maxTold bounds how many attempts, and how many candidates that were passed
// over, an error lists.
const maxTold = 8

// told is the failure as the caller reads it: the first cause, what was tried,
// and who was not asked and why.
func (x *exchange) told(f *sdk.Failure) *sdk.Failure {
	g := *f
	if x.call == nil {
		return &g
	}
	rec := x.call.Trace.Record()
	var tried []string
	skipped := slices.Clip(rec.Skipped) // shared with the record
	for _, a := range rec.Attempts {
		if a.Code != "" {
			code := a.Code
			if a.JudgedCode != "" {
				code = a.JudgedCode
			}
			tried = append(tried, fmt.Sprintf("%s: %s", a.Route, code))
		}
		if a.Action == sdk.ActionStop {
			skipped = append(skipped, a.Passed...)
		}
	}
	var passed []string
	for _, s := range skipped {
		passed = append(passed, fmt.Sprintf("%s: %s", s.Route, s.Reason))
	}
	var notes []string
	if len(tried) > 0 {
		notes = append(notes, "tried "+list(tried))
	}
	if len(passed) > 0 {
		notes = append(notes, "not asked "+list(passed))
	}
	notes = append(notes, "spillway explain "+x.id)
	g.Message = cmp.Or(strings.TrimSpace(g.Message), f.Error()) + " (" + strings.Join(notes, "; ") + ")"
	return &g
}

// list joins names, not too many of them.
func list(names []string) string {
	if more := len(names) - maxTold; more > 0 {
		names = append(names[:maxTold:maxTold], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
