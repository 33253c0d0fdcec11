package llm

import (
	"iter"
	"net/http"
	"sync"

	"spillway/host/dialect"
	"spillway/host/profile"
	"spillway/sdk"
)

// Call is one model call of the runtime, shared by all its attempts.
type Call struct {
	ID      string
	Request sdk.Request
	Payload *Payload
	Trace   *Trace
	Past    []sdk.Attempted // the broken answers that it goes on with
	// Traceparent, if set, is the header by which a vendor joins the client's
	// trace, for attempt n.
	Traceparent func(n int) string
}

// Payload is what a call says: the client's own bytes, decoded only if somebody
// needs that.
type Payload struct {
	Dialect dialect.Dialect
	Body    []byte
	Header  http.Header     // the client's; a provider passes on what its vendor understands
	Choices int             // how many answers in one were asked for, 0 and 1 mean one
	History dialect.History // of Body
	Hosted  []string        // types of the tools in Body that a vendor runs
	// Credentials are what the client has shown of its own.
	Credentials []Credential

	once   sync.Once
	prompt *sdk.Prompt
	err    error
}

// Credential is a client's own, for vendors that are to be sent it.
type Credential struct {
	Bearer bool // as it came: a bearer token, or x-api-key
	Secret profile.Secret
}

// NewPayload is the payload of a client's request.
func NewPayload(d dialect.Dialect, body []byte, h http.Header) *Payload {
	return &Payload{Dialect: d, Body: body, Header: h}
}

// PromptPayload is the payload of a call made inside the runtime.
func PromptPayload(p *sdk.Prompt) *Payload {
	w := &Payload{prompt: p}
	w.once.Do(func() {})
	return w
}

// reworded is p with another prompt in its place.
func (p *Payload) reworded(prompt *sdk.Prompt) *Payload {
	w := PromptPayload(prompt)
	w.Credentials = p.Credentials
	return w
}

// Prompt decodes the payload, once. The result is shared: do not modify it.
func (p *Payload) Prompt() (*sdk.Prompt, error) {
	p.once.Do(func() { p.prompt, p.err = p.Dialect.ParseRequest(p.Body) })
	return p.prompt, p.err
}

// Raw is implemented by a vendor's stream. Its bytes can be relayed in the place
// of its events; either Frames or Events is ranged over, once.
type Raw interface {
	sdk.Stream
	// Dialect is that of the bytes.
	Dialect() dialect.Dialect
	// Head is the vendor's response. It is there once the stream was awaited or
	// is being ranged over.
	Head() Head
	// Frames yields the answer's frames. The last one has a Mark of kind
	// MarkTerminal, supplied if the vendor forgot it; or Failure is set. A frame
	// is valid until the next. The zero Frame says that nothing further has come
	// yet: what was gathered of the frames before is to be sent on.
	Frames() iter.Seq[Frame]
	// Whole is the body of an answer that is not a stream, or the failure.
	Whole() ([]byte, *sdk.Failure)
}

// Head is the beginning of a vendor's response.
type Head struct {
	Status int
	Header http.Header
}

// Frame is one frame of a relayed answer.
type Frame struct {
	Raw     []byte
	Event   string
	Data    []byte // empty if it has none
	Mark    dialect.Mark
	Failure *sdk.Failure // the answer ends here, broken
}

// Reply is a vendor's own answer to a failed attempt, kept for the caller whose
// fault it was.
type Reply struct {
	Dialect string
	Status  int
	Type    string // Content-Type
	Body    []byte
}
