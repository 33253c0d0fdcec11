package sim

import (
	"fmt"
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

// sign stands for the argument where a step is explained.
func (a argument) sign() string {
	switch a {
	case noArgument:
	case position:
		return "POS"
	case ordinal:
		return "N"
	case duration:
		return "TIME"
	case size:
		return "SIZE"
	case anything:
		return "WORD"
	case recorded:
		return "ID"
	}
	return ""
}

// definition is one kind of step.
type definition struct {
	name    string
	arg     argument
	unset   string // the argument where none is given; "" if one must be
	options string // the options it takes besides those of every step
	refusal bool   // answered by a recorded refusal of that name
	about   string // for people
}

const answerOptions = "tokens reasoning gap tool args "

// definitions are the kinds of step but for bare statuses (400 to 599): sound
// answers and small deviations that a good client bears, then answers that
// break, then no answer at all, then refusals in the vendor's own words.
var definitions = []definition{
	{name: "ok", options: answerOptions, about: "a sound answer"},
	{name: "tool", arg: anything, unset: "*", options: answerOptions, about: "calls a tool that the request offers"},
	{name: "call", arg: anything, unset: "*", options: answerOptions, about: "as tool, and also after a tool's result"},
	{name: "slow", arg: duration, options: answerOptions, about: "headers at once, content after that time"},
	{name: "pause", arg: position, options: answerOptions + "for", about: "silent there, then goes on"},
	{name: "drip", arg: duration, options: answerOptions, about: "one byte in that time"},
	{name: "badjson", arg: ordinal, options: answerOptions, about: "the event of that number is broken, the rest sound"},
	{name: "nodone", options: answerOptions + "for", about: "without [DONE] or message_stop, where there is one; may stay open"},
	{name: "nofinish", options: answerOptions, about: "without the event that says how the answer ends"},
	{name: "wrong-content-type", arg: anything, unset: "text/plain", options: answerOptions, about: "under that type"},
	{name: "unstreamed", options: answerOptions, about: "a whole answer though a stream was asked for"},

	{name: "cut", arg: position, options: answerOptions, about: "the connection is lost there; HTTP/2: RST_STREAM"},
	{name: "goaway", arg: position, options: answerOptions, about: "HTTP/2: GOAWAY there and the end; else a cut"},
	{name: "tls-cut", arg: position, options: answerOptions, about: "TLS: lost there without close_notify; else a cut"},
	{name: "eof", arg: position, options: answerOptions, about: "the body ends there, cleanly"},
	{name: "stall", arg: position, options: answerOptions + "for", about: "silent there, then lost"},
	{name: "error-event", arg: position, options: answerOptions + "body", about: "an error there inside status 200"},
	{name: "gzip-cut", options: answerOptions, about: "half of a compressed body"},
	{name: "longline", arg: size, unset: "100MB", options: answerOptions, about: "one line of that size"},
	{name: "keepalive", arg: duration, unset: "1s", options: answerOptions, about: "signs of life and nothing else"},
	{name: "empty200", about: "status 200 and no byte"},

	{name: "hang", about: "takes the request and says nothing"},
	{name: "reset", about: "the connection is reset before headers"},
	{name: "refuse", about: "nobody listens"},

	{name: "quota", refusal: true, about: "the plan or the money is used up"},
	{name: "ban", refusal: true, about: "the account is closed"},
	{name: "auth", refusal: true, about: "the key may not do this"},
	{name: "invalid-key", refusal: true, about: "nobody knows the key"},
	{name: "model-gone", refusal: true, about: "no such model"},
	{name: "overloaded", refusal: true, about: "too many at once, for everybody"},
	{name: "policy", refusal: true, about: "the content is not wanted"},
	{name: "overflow", refusal: true, about: "the prompt is too long"},
	{name: "invalid-request", refusal: true, about: "the request is wrong"},
	{name: "html502", refusal: true, about: "a page of a proxy"},
	{name: "body", arg: recorded, about: "any recorded answer"},
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

// stepNames returns the names of all steps but the bare statuses.
func stepNames() []string {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		names[i] = d.name
	}
	return names
}

// Steps returns a line about each step but the bare statuses: how it is written,
// and what it does.
func Steps() []string {
	lines := make([]string, len(definitions))
	for i, d := range definitions {
		usage := d.name
		switch {
		case d.unset != "":
			usage += "[=" + d.arg.sign() + "]"
		case d.arg != noArgument:
			usage += "=" + d.arg.sign()
		}
		lines[i] = fmt.Sprintf("%-26s %s", usage, d.about)
	}
	return lines
}

// status reads a step's name that is a status, 0 if it is none.
func status(name string) int {
	if len(name) != 3 || strings.Trim(name, "0123456789") != "" || name < "400" || name > "599" {
		return 0
	}
	return int(name[0]-'0')*100 + int(name[1]-'0')*10 + int(name[2]-'0')
}
