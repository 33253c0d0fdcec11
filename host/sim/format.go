package sim

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// format writes one dialect.
type format interface {
	// name is the dialect's, as in the records.
	name() string
	// frames are the events of a streamed answer.
	frames(a *answer) iter.Seq[frame]
	// whole is the body of an answer that is not streamed.
	whole(a *answer) []byte
	// errorBody is a refusal in words of our own.
	errorBody(status int, message string) []byte
	// errorFrame puts an error's JSON into an event, the one of that number.
	errorFrame(a *answer, number int, body string) []byte
	// errorWhole makes it the body of an answer of status 200.
	errorWhole(a *answer, body string) []byte
	// brokenFrame is an event whose JSON is cut.
	brokenFrame() []byte
	// keepAlive is what is sent to keep a silent stream open.
	keepAlive(number int) []byte
	// requestID is the header that carries the request's id.
	requestID() string
	// check returns what the vendor would find wrong with a request, "" for
	// nothing. It is given what the vendor itself needs to know.
	check(v Vendor, r *request, body []byte) string
}

// frameKind is what a fault needs to know of an event.
type frameKind uint8

const (
	frameOther  frameKind = iota // start, role, block borders, ping
	frameDelta                   // one piece of content
	frameFinish                  // says how the answer ends
	frameUsage                   // usage, where it has an event of its own
	frameLast                    // nothing follows
)

// frame is one event as it goes out, with its empty line.
type frame struct {
	kind frameKind
	data []byte
}

const eventStream = "text/event-stream; charset=utf-8"

// quote writes s as JSON, with <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// orNull writes s as JSON, null if it is empty.
func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return quote(s)
}
