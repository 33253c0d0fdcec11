package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"spillway/host/dialect"
	"spillway/host/dialect/failure"
	"spillway/host/llm"
	"spillway/host/sse"
	"spillway/sdk"
)

// Bounds of what is read from a vendor.
const (
	maxWhole = 64 << 20 // an answer that is not streamed
	maxError = 1 << 20  // an error's body
	maxHeld  = 1 << 20  // frames before visible content; real ones have under 4 KiB
)

// Defaults of the limits, for a call that no listener has given any. That on the
// first content is contentLimit's.
const (
	defaultIdle  = 20 * time.Second
	defaultTotal = 30 * time.Minute
	// afterFinish is how long usage and the terminal may take to follow the
	// finish event.
	afterFinish = 2 * time.Second
)

// limitError is the cause with which a limit cancels an attempt.
type limitError struct{ rule, text string }

func (e *limitError) Error() string { return e.text }

var (
	errFirstContent = &limitError{sdk.RuleFirstContent, "no content in time"}
	errIdle         = &limitError{"limit.idle", "no further content in time"}
	errTotal        = &limitError{"limit.total", "the answer took too long"}
	errAfterFinish  = &limitError{"limit.after_finish", "the answer had finished"}
)

var errClosed = errors.New("given up")

// attempt is one dispatch to the vendor, sent on first use.
type attempt struct {
	provider *Provider
	call     *llm.Call
	request  sdk.Request
	payload  *llm.Payload
	dialect  dialect.Dialect
	home     bool // the vendor is the one that the caller chose

	ctx    context.Context
	cancel context.CancelCauseFunc
	given  <-chan struct{} // the end of the context that ctx was made of

	// What follows belongs to the one goroutine that reads.
	begun      bool
	number     int    // in the trace
	print      string // of the credential
	credential llm.Credential
	started    time.Time
	resp       *http.Response
	frames     *sse.Reader
	lull       func() bool // called before a wait, if set; false: nobody wants more
	limit      limiter
	held       []heldFrame
	heldBytes  int
	whole      []byte
	seen       bool // a data frame came
	pieces     int  // frames that showed something
	hosted     bool // the vendor has used a tool of its own
	finished   bool // a finish came; usage and the terminal may follow
	over       bool // nothing more will be read
	failure    *sdk.Failure
	reply      *llm.Reply
	facts      sdk.Outcome

	mu      sync.Mutex
	used    bool
	ended   *sdk.Outcome
	waiting []func(sdk.Outcome)
}

var (
	_ llm.Raw       = (*attempt)(nil)
	_ llm.Resumable = (*attempt)(nil)
	_ sdk.Awaiter   = (*attempt)(nil)
	_ sdk.Reporter  = (*attempt)(nil)
)

// heldFrame is a frame that came before visible content.
type heldFrame struct {
	event string
	data  []byte
	raw   []byte
	mark  dialect.Mark
}

func (p *Provider) attempt(ctx context.Context, c *llm.Call, r sdk.Request, payload *llm.Payload) *attempt {
	a := &attempt{provider: p, call: c, request: r, payload: payload, dialect: p.dialectFor(payload), home: true, given: ctx.Done()}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	return a
}

// Dialect implements llm.Raw.
func (a *attempt) Dialect() dialect.Dialect { return a.dialect }

// Head implements llm.Raw.
func (a *attempt) Head() llm.Head {
	if a.resp == nil {
		return llm.Head{}
	}
	return llm.Head{Status: a.resp.StatusCode, Header: a.resp.Header}
}

// Close implements sdk.Stream. Whoever reads settles the outcome.
func (a *attempt) Close() error {
	a.cancel(errClosed)
	return nil
}

// begin sends the request and reads the response's head, or the whole of an
// answer that is not streamed. It runs once.
func (a *attempt) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if a.ctx.Err() != nil { // given up before anything was sent
		a.fail(a.caused(nil))
		return
	}
	a.credential, a.print = a.provider.credential(a.request.Dispatch.Key, a.payload.Credentials)
	if a.provider.passes() && a.print == "" {
		a.fail(a.provider.none())
		return
	}
	r := a.request
	r.Dispatch.Key = a.print
	a.number = a.call.Trace.Begin(r)
	if !a.delay(r.Dispatch.Delay) {
		a.fail(a.caused(nil))
		return
	}
	body, err := a.body()
	if err != nil {
		a.fail(asFailure(err))
		return
	}
	// A client's headers mean something in its own dialect only.
	client := a.payload.Header
	if a.payload.Dialect != a.dialect {
		client = nil
	}
	req := a.provider.post(context.WithValue(a.ctx, connectLimit{}, r.Dispatch.Limits.Connect), a.dialect, body)
	a.provider.header(req.Header, client, a.dialect, a.credential, r.Stream)
	if a.call.Traceparent != nil {
		req.Header.Set("Traceparent", a.call.Traceparent(a.number))
	}

	a.started = time.Now()
	a.limit.start(a.cancel, a.started, a.firstLimit(), errFirstContent)
	a.resp, err = a.provider.client.Transport.RoundTrip(req) // redirects are not followed
	a.limit.quiet = time.Since(a.started)                    // a vendor silent before its headers is silent
	if err != nil {
		a.fail(a.caused(err))
		return
	}
	a.read()
}

// delay holds an attempt back; false if it was given up meanwhile.
func (a *attempt) delay(d time.Duration) bool {
	if d <= 0 {
		return a.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-a.ctx.Done():
		return false
	}
}

func (a *attempt) firstLimit() time.Duration {
	if l := a.request.Dispatch.Limits.FirstContent; l > 0 {
		return l
	}
	return contentLimit(&a.request)
}

// maxOutput is how many tokens the model writes at most, 0 if nobody said.
func (p *Provider) maxOutput(model string) int {
	for _, m := range p.data.Models {
		if m.ID == model {
			return m.MaxOutput
		}
	}
	return 0
}

// read takes in the response's head and decides how the rest is read.
func (a *attempt) read() {
	if a.resp.Header.Get("Content-Encoding") == "gzip" { // although identity was asked for
		a.resp.Body = &gunzip{body: a.resp.Body}
	}
	if a.resp.StatusCode/100 == 2 && a.request.Stream && isEventStream(a.resp.Header.Get("Content-Type")) {
		a.frames = sse.NewReader(a.resp.Body, 0)
		return
	}
	limit := int64(maxWhole)
	if a.resp.StatusCode/100 != 2 {
		limit = maxError
	}
	body, err := readAll(a.resp.Body, a.resp.ContentLength, limit)
	ev := failure.Evidence{Phase: sdk.PhaseResponse}
	if err != nil {
		ev.Err = a.cause(err)
	}
	if a.resp.StatusCode/100 != 2 {
		ev.Body = a.scrub(body)
		a.reply = &llm.Reply{Dialect: a.dialect.Name(), Status: a.resp.StatusCode, Type: a.resp.Header.Get("Content-Type"), Body: ev.Body}
		a.fail(a.judge(ev))
		return
	}
	if err != nil {
		a.fail(a.caused(err))
		return
	}
	m, ok := dialect.ScanAnswer(a.dialect, body)
	if !ok || a.request.Stream {
		ev.Body = a.scrub(body)
		a.fail(a.judge(ev))
		return
	}
	a.whole = body
	dialect.Seals(body, a.sealed)
	a.facts.Usage, a.facts.Finish = m.Usage, m.Finish
	if m.Visible&a.visible() != 0 {
		a.shows()
	}
	a.finished, a.over = true, true
	a.checkWhole(a.wholeEvents)
}

// wholeEvents are those of an answer that is not streamed.
func (a *attempt) wholeEvents() []sdk.Event {
	events, _ := a.dialect.ParseAnswer(a.whole)
	return events
}

// visible is which content counts as shown.
func (a *attempt) visible() sdk.Visible {
	return cmp.Or(a.request.Dispatch.Visible, sdk.DefaultVisible)
}

// checkWhole judges an answer that has come to its end. One that says nothing is
// a failure: if it cost no output either it is a vendor's fault, not a model's
// choice. One that is held back is committed now, if it is what was asked for.
func (a *attempt) checkWhole(events func() []sdk.Event) {
	switch {
	case a.facts.FirstContent == 0 && a.facts.Finish == sdk.FinishStop && a.facts.Usage.Output == 0:
		a.fail(sdk.NewFailure(sdk.CodeEmptyResponse, "shape:no content", "the vendor's answer is empty"))
	case !a.request.Dispatch.Buffer || a.facts.FirstContent == 0:
	default:
		if f := a.invalid(events()); f != nil {
			a.fail(f)
			return
		}
		a.commit()
	}
}

// shows notes visible content.
func (a *attempt) shows() {
	if a.facts.FirstContent == 0 {
		a.facts.FirstContent = max(time.Since(a.started), 1)
		a.limit.pause()
	}
	if !a.request.Dispatch.Buffer {
		a.commit()
	}
}

func (a *attempt) commit() {
	if !a.facts.Committed {
		a.facts.Committed = true
		a.call.Trace.Decided()
	}
}

// judge completes evidence and turns it into a failure.
func (a *attempt) judge(ev failure.Evidence) *sdk.Failure {
	ev.Vendor, ev.Dialect, ev.Content, ev.Now = a.provider.vendor, a.dialect.Name(), a.facts.Committed, time.Now()
	ev.Silence = a.limit.quiet
	if a.resp != nil {
		ev.Status, ev.Header = a.resp.StatusCode, a.resp.Header
	}
	return a.refused(failure.From(ev))
}

// cause is why reading failed: the reason for which the attempt was cancelled,
// if it was.
func (a *attempt) cause(err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return err
}

// caused is the failure of an exchange that broke with err.
func (a *attempt) caused(err error) *sdk.Failure {
	err = a.cause(err)
	if le, ok := errors.AsType[*limitError](err); ok {
		f := sdk.NewFailure(sdk.CodeTimeout, le.rule, fmt.Sprintf("%s (%s)", le.text, a.limit.period))
		f.Phase = a.phase()
		return f
	}
	if a.ctx.Err() != nil {
		f := sdk.NewFailure(sdk.CodeAborted, "caller", "the caller is gone")
		if errors.Is(err, errClosed) {
			f.Message = "the attempt was given up"
		}
		f.Phase = a.phase()
		return f
	}
	f := a.judge(failure.Evidence{Phase: a.phase(), Err: err})
	if (f.Cause == sdk.CauseDNS || f.Cause == sdk.CauseNoRoute) && !a.provider.local && !online() {
		f.Code, f.Cause, f.Scope, f.Rule = sdk.CodeLocalNetwork, "", sdk.ScopeNone, "socket:no way out"
	}
	return f
}

func (a *attempt) phase() sdk.Phase {
	switch {
	case a.resp == nil:
		return sdk.PhaseTransport
	case a.frames == nil:
		return sdk.PhaseResponse
	}
	return sdk.PhaseStream
}

func asFailure(err error) *sdk.Failure {
	if f, ok := errors.AsType[*sdk.Failure](err); ok {
		return f
	}
	return sdk.NewFailure(sdk.CodeInvalidRequest, "dialect.request", err.Error())
}
