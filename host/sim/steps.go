package sim

import (
	"slices"
	"strings"
)

// argument is what may follow the = of a step's name.
type argument uint8

const (
	noArgument argument = iota
	position            // a number of tokens, or "end": when the content is complete
	ordinal             // a number from 1
	duration
	size
	anything
	recorded // the id of a recorded body
)

func (a argument) String() string {
	switch a {
	case noArgument:
		return "nothing"
	case position:
		return `a number of tokens or "end"`
	case ordinal:
		return "a number from 1"
	case duration:
		return "a duration like 500ms"
	case size:
		return "a size like 64KB or 100MB"
	case anything:
		return "a word"
	case recorded:
		return "the id of a recorded body"
	}
	return "?"
}

// definition is one kind of step.
type definition struct {
	name    string
	arg     argument
	unset   string // the argument where none is given; "" if one must be
	options string // the options it takes besides those of every step
	refusal bool   // answered by a recorded refusal of that name
}

const answerOptions = "tokens reasoning gap tool args "

// definitions are the kinds of step but for bare statuses (400 to 599).
var definitions = []definition{
	// sound answers, and small deviations that a good client bears
	{name: "ok", options: answerOptions},
	{name: "tool", arg: anything, unset: "*", options: answerOptions}, // calls a tool that the request offers
	{name: "slow", arg: duration, options: answerOptions},             // headers at once, content after that time
	{name: "pause", arg: position, options: answerOptions + "for"},    // silent there, then goes on
	{name: "drip", arg: duration, options: answerOptions},             // one byte in that time
	{name: "badjson", arg: ordinal, options: answerOptions},           // that event is broken, the rest sound
	{name: "nodone", options: answerOptions + "for"},                  // no last event where it says nothing; stays open for that time
	{name: "nofinish", options: answerOptions},                        // no event that says how the answer ends
	{name: "wrong-content-type", arg: anything, unset: "text/plain", options: answerOptions},
	{name: "unstreamed", options: answerOptions}, // a whole answer though a stream was asked for

	// answers that break
	{name: "cut", arg: position, options: answerOptions},                    // the connection is lost there
	{name: "goaway", arg: position, options: answerOptions},                 // over HTTP/2 the vendor says that it shuts down, then cut
	{name: "tls-cut", arg: position, options: answerOptions},                // the connection is lost there without TLS saying so
	{name: "eof", arg: position, options: answerOptions},                    // the body ends there, cleanly
	{name: "stall", arg: position, options: answerOptions + "for"},          // silent there, then lost
	{name: "error-event", arg: position, options: answerOptions + "body"},   // an error inside status 200
	{name: "gzip-cut", options: answerOptions},                              // half of a compressed body
	{name: "longline", arg: size, unset: "100MB", options: answerOptions},   // one line of that size
	{name: "keepalive", arg: duration, unset: "1s", options: answerOptions}, // keep-alives and nothing else
	{name: "empty200"}, // status 200 and no byte

	// no answer
	{name: "hang"},   // takes the request and says nothing
	{name: "reset"},  // the connection is reset
	{name: "refuse"}, // nobody listens

	// refusals, in the vendor's own words
	{name: "quota", refusal: true},
	{name: "ban", refusal: true},
	{name: "auth", refusal: true},
	{name: "invalid-key", refusal: true},
	{name: "model-gone", refusal: true},
	{name: "overloaded", refusal: true},
	{name: "policy", refusal: true},
	{name: "overflow", refusal: true},
	{name: "invalid-request", refusal: true},
	{name: "html502", refusal: true},
	{name: "body", arg: recorded}, // any recorded answer, by its id
}

func define(name string) (definition, bool) {
	if i := slices.IndexFunc(definitions, func(d definition) bool { return d.name == name }); i >= 0 {
		return definitions[i], true
	}
	if status(name) != 0 {
		return definition{name: name, refusal: true}, true
	}
	return definition{}, false
}

// StepNames returns the names of all steps but the bare statuses.
func StepNames() []string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.name
	}
	return names
}

// status reads a step's name that is a status, 0 if it is none.
func status(name string) int {
	if len(name) != 3 || strings.Trim(name, "0123456789") != "" || name < "400" || name > "599" {
		return 0
	}
	return int(name[0]-'0')*100 + int(name[1]-'0')*10 + int(name[2]-'0')
}
