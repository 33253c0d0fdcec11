package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxBody is the largest request that the Messages API takes.
const maxBody = 32 << 20

// errBreak ends a call by breaking its connection.
var errBreak = errors.New("break the connection")

// exchange is one request and the answer to it.
type exchange struct {
	vendor  Vendor
	format  format
	call    *Call
	request *request
	step    *step
	http2   bool

	ctx context.Context // of the request: ends when the client leaves or the server closes
	w   *recorder
	ctl *http.ResponseController
}

// recorder notes what was sent.
type recorder struct {
	http.ResponseWriter
	status  int
	written int64
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.written += int64(n)
	return n, err
}

// handle answers one request.
func (e *Endpoint) handle(w http.ResponseWriter, r *http.Request) {
	if !e.enter() {
		panic(http.ErrAbortHandler)
	}
	defer e.wg.Done()

	secret := key(r.Header)
	call := &Call{Vendor: e.vendor.Name, Time: time.Now(), Method: r.Method, Path: r.URL.Path}
	if secret != "" {
		call.Key = Fingerprint(secret)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	call.RequestBytes = int64(len(body))
	if e.log.keep {
		call.Header = withoutCredentials(r.Header)
		call.Body = body[:min(len(body), keptBody)]
	}
	x := &exchange{vendor: e.vendor, format: formatOf(r.URL.Path), call: call, ctx: r.Context(), http2: r.ProtoMajor == 2, w: &recorder{ResponseWriter: w}}
	x.ctl = http.NewResponseController(x.w)
	if err == nil && x.format != nil {
		// A body that is no request is logged without a model and refused below.
		x.request, err = decodeRequest(body)
	}
	if x.request != nil {
		call.Model, call.Stream = x.request.Model, x.request.Stream
	}
	e.log.add(call)

	switch {
	case x.format == nil:
		err = x.lookup(r, e.vendor.accepts(secret))
	case !e.vendor.accepts(secret):
		err = x.refuse("invalid-key")
	default:
		err = e.generate(x, r, body, err)
	}
	e.log.update(call, func(c *Call) {
		c.End, c.Status, c.Written = time.Now(), x.w.status, x.w.written
		c.Gone = err != nil && !errors.Is(err, errBreak) && e.ctx.Err() == nil
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// formatOf returns the dialect of a path that asks for an answer, nil for any
// other path.
func formatOf(path string) format {
	switch {
	case strings.HasSuffix(path, "/messages"), strings.HasSuffix(path, "/messages/count_tokens"):
		return anthropicFormat{}
	case strings.HasSuffix(path, "/chat/completions"):
		return openaiFormat{}
	case strings.HasSuffix(path, "/responses"):
		return responsesFormat{}
	}
	return nil
}

// generate answers a request in its dialect; malformed says why the body could
// not be read.
func (e *Endpoint) generate(x *exchange, r *http.Request, body []byte, malformed error) error {
	switch {
	case r.Method != http.MethodPost:
		return x.send(http.StatusMethodNotAllowed, "application/json", x.format.errorBody(http.StatusMethodNotAllowed, "Method Not Allowed"))
	case isTooLarge(malformed):
		return x.refuse("413")
	case malformed != nil:
		return x.invalid("The request body is not valid JSON: " + malformed.Error())
	case len(e.vendor.Models) > 0 && !slices.Contains(e.vendor.Models, x.request.Model):
		return x.refuse("model-gone")
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		return x.send(http.StatusOK, "application/json", fmt.Appendf(nil, `{"input_tokens":%d}`, x.request.inputTokens()))
	}
	if fault := x.find(r.Header, body); fault != "" {
		return x.invalid(fault)
	}
	s := e.take(x.request, x.call.Key)
	x.step = s
	e.log.update(x.call, func(c *Call) { c.Step = s.text })
	return x.play()
}

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*http.MaxBytesError](err)
	return ok
}

// find returns what the vendor finds wrong with the request, "" for nothing.
func (x *exchange) find(h http.Header, body []byte) string {
	if x.vendor.NoPrefill && x.request.prefilled() {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	if !x.vendor.Strict {
		return ""
	}
	if x.format.name() == "anthropic" && h.Get("Anthropic-Version") == "" {
		return "anthropic-version: header is required"
	}
	return x.format.check(x.vendor, x.request, body)
}

// lookup answers what is no request for an answer.
func (x *exchange) lookup(r *http.Request, known bool) error {
	switch {
	case r.Method == http.MethodHead:
		return x.send(http.StatusOK, "text/plain", nil)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		x.format = openaiFormat{}
		list := openaiModels
		if cmp.Or(r.Header.Get("Anthropic-Version"), r.Header.Get("X-Api-Key")) != "" {
			x.format, list = anthropicFormat{}, anthropicModels
		}
		if !known {
			return x.refuse("invalid-key")
		}
		return x.send(http.StatusOK, "application/json", list(x.vendor.Models, x.vendor.Name))
	}
	return x.send(http.StatusNotFound, "application/json", openaiFormat{}.errorBody(http.StatusNotFound, fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)))
}

// invalid refuses a request for what is wrong with it.
func (x *exchange) invalid(fault string) error {
	return x.send(http.StatusBadRequest, "application/json", x.format.errorBody(http.StatusBadRequest, fault))
}

// refuse plays the recorded refusal of that name.
func (x *exchange) refuse(name string) error {
	if rec := pick(name, x.vendor.like(), x.format.name()); rec != nil {
		return x.replay(rec)
	}
	code := status(name)
	return x.send(code, "application/json", x.format.errorBody(code, http.StatusText(code)))
}

// replay sends a recorded answer as it was.
func (x *exchange) replay(rec *record) error {
	for name, value := range rec.Headers {
		x.w.Header().Set(name, value)
	}
	return x.send(rec.Status, rec.contentType(), []byte(rec.Body))
}

// send sends a whole body. The step's own headers win over all others.
func (x *exchange) send(code int, contentType string, body []byte) error {
	x.head(contentType)
	x.w.WriteHeader(code)
	_, err := x.w.Write(body)
	return err
}

// head sets the headers of any response.
func (x *exchange) head(contentType string) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	if x.format != nil {
		h.Set(x.format.requestID(), fmt.Sprintf("req_%s-%06d", x.call.Vendor, x.call.N))
	}
	if x.step == nil {
		return
	}
	for _, header := range x.step.headers {
		h.Set(header[0], moment(header[1], time.Now()))
	}
}

// moment turns date+5s into the HTTP date in five seconds and epoch+5s into its
// seconds since 1970; any other value stays as it is.
func moment(value string, now time.Time) string {
	if rest, ok := strings.CutPrefix(value, "date"); ok {
		if d, err := time.ParseDuration(rest); err == nil {
			return now.Add(d).UTC().Format(http.TimeFormat)
		}
	}
	if rest, ok := strings.CutPrefix(value, "epoch"); ok {
		if d, err := time.ParseDuration(rest); err == nil {
			return fmt.Sprint(now.Add(d).Unix())
		}
	}
	return value
}
