// Package dialect speaks the vendors' wire formats, each both ways to the one
// vocabulary of package sdk: a request comes in as one dialect, becomes an
// sdk.Prompt only if it has to leave in another, and the answer's frames become
// sdk.Events only as far as somebody needs them.
//
// A dialect is stateless and safe for concurrent use; its decoders and encoders
// belong to one stream each. What it returns holds no reference to the bytes it
// was given, except the body that Redirect left as it was.
//
// Everything here reads bytes from strangers: no input makes it panic, hang or
// grow without bound. Nothing is checked against a closed list: roles, parts,
// tools, events and fields that are not known are passed over, and a prompt
// names them in Dropped. Where a key stands twice, the last one counts for
// routing, and Redirect replaces each.
//
// Numbers that are guesses (tokens of an image, of a document) and limits are
// constants with their reason beside them.
package dialect

import "spillway/sdk"

// Dialect is one wire format.
type Dialect interface {
	// Name is "anthropic" (Messages), "openai" (Chat Completions) or "responses"
	// (OpenAI's Responses).
	Name() string

	// Inspect reads what routing needs from a request body, without decoding
	// the whole. The error is a *sdk.Failure of code INVALID_REQUEST that names
	// the field.
	Inspect(body []byte) (Inspection, error)
	// ParseRequest decodes a request body; same errors, and one more for a
	// request that is Held.
	ParseRequest(body []byte) (*sdk.Prompt, error)
	// BuildRequest encodes a prompt for a vendor. What the dialect cannot carry
	// is left out and named in the second result.
	BuildRequest(p *sdk.Prompt, o Outbound) (body []byte, dropped []string, err error)
	// Redirect returns body with its top-level model replaced by o.Model, every
	// other byte untouched but a limit on the answer that is above o.MaxOutput:
	// it is lowered, and named in the second result. It returns body itself if
	// the model is already that one.
	Redirect(body []byte, o Outbound) (redirected []byte, dropped []string, err error)

	// Project is Redirect for a request whose past turns are not all the vendor's
	// own, or that was made for another vendor: what the vendor does not take is
	// left out or brought into its form, as o says, and named in the second
	// result. Every other byte stays, body itself is not touched, and projecting
	// again changes nothing.
	Project(body []byte, o Outbound) (projected []byte, dropped []string, err error)

	// Scan says what one stream frame means, without building values. It also
	// checks that the data is valid JSON. A frame without data is noise, one
	// whose event is "error" is an error whatever it carries.
	Scan(event string, data []byte) Mark
	// NewDecoder returns a decoder of one answer's frames.
	NewDecoder() Decoder
	// NewEncoder returns an encoder that makes one answer's frames.
	NewEncoder(o AnswerOptions) Encoder
	// ParseAnswer decodes an answer that was not streamed into the events of
	// the same answer streamed, a KindFinish last. A body that is an error, or
	// no answer at all, is reported as ok false: package failure reads those.
	ParseAnswer(body []byte) (events []sdk.Event, ok bool)
	// BuildAnswer encodes a whole answer from its events. It returns nil if they
	// do not end with a clean finish.
	BuildAnswer(events []sdk.Event, o AnswerOptions) []byte

	// ErrorBody is a response body that reports f, in the dialect's shape.
	ErrorBody(f *sdk.Failure, requestID string) []byte
	// ErrorFrame is the stream frame, complete with its line ends, that reports
	// f in the middle of an answer. sent is what the client has had of it.
	ErrorFrame(f *sdk.Failure, requestID string, sent Sent) []byte
	// Terminal is the frame that closes an answer after its finish event, for a
	// vendor that forgot it. It is empty where the finish event is the last.
	Terminal() []byte
}

// ByName returns the dialect of that name.
func ByName(name string) (Dialect, bool) {
	for _, d := range []Dialect{Anthropic(), OpenAI(), Responses()} {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}

// Inspection is what routing needs to know of a request.
type Inspection struct {
	Model        string
	Stream       bool
	MaxTokens    int    // as the caller set it, 0 if not
	Effort       string // as the caller set it, "" if not
	Conversation string // from the body's own fields, "" if it has none
	User         string // who the caller says its user is, "" if it does not
	IncludeUsage bool   // the caller asks for the usage chunk of an OpenAI stream
	Shape        sdk.Shape
	Choices      int // answers in one that were asked for (OpenAI's n), 0 if not said
	History      History
	// Held is the field by which the request leans on what only its vendor
	// keeps (previous_response_id, …), "" if none: nobody else can serve it, and
	// it becomes the SameProvider of sdk.Wants.
	Held string
	// Freeform names the tools that take plain text; see AnswerOptions.
	Freeform []string
	// Hosted are the types of the tools that the vendor itself runs, at most
	// maxHosted of them; see hosted.go.
	Hosted []string
}

// Outbound is what is known of where a request goes.
type Outbound struct {
	Model     string
	Stream    bool
	MaxOutput int // the model's limit, 0 if not known: asked for where the dialect demands a number and the prompt sets none
	Quirks    Quirks
	// Home: the vendor is the one that the caller chose, for which the request
	// was made.
	Home bool
	// Owns reports whether the vendor has made a seal; nil: it has made all.
	Owns func(Seal) bool
}

// Quirks are a vendor's deviations from its dialect. They come from the
// vendor's data file.
type Quirks struct {
	// ReasoningContent: assistant turns with tool calls must carry
	// reasoning_content, or in Messages a thinking block (DeepSeek, Kimi); a few
	// words are supplied where none is known.
	ReasoningContent bool `yaml:"reasoning_content" json:"reasoning_content,omitempty"`
	// SealedReasoning: the vendor takes back no reasoning of Messages but what it
	// has signed itself (Anthropic).
	SealedReasoning bool `yaml:"sealed_reasoning" json:"sealed_reasoning,omitempty"`
	// AllFields: the vendor owns the dialect and takes each field of it, whoever
	// the request was made for.
	AllFields bool `yaml:"all_fields" json:"all_fields,omitempty"`
	// AnyToolID: the vendor's own ids of tool calls may be of any form (Kimi:
	// functions.read:0).
	AnyToolID bool `yaml:"any_tool_id" json:"any_tool_id,omitempty"`
	// ToolIDLength: ids of tool calls must be so many letters and digits
	// (Mistral: 9); 0: the dialect's own rule holds.
	ToolIDLength int `yaml:"tool_id_length" json:"tool_id_length,omitempty"`
	// NoStreamUsage: stream_options is not understood.
	NoStreamUsage bool `yaml:"no_stream_usage" json:"no_stream_usage,omitempty"`
	// MaxCompletionTokens: the limit's field is max_completion_tokens.
	MaxCompletionTokens bool `yaml:"max_completion_tokens" json:"max_completion_tokens,omitempty"`
}

// AnswerOptions is what encoding an answer needs besides its events.
type AnswerOptions struct {
	ID    string // used when the answer has none of its own in the right form
	Model string // used when KindStart names none
	// IncludeUsage asks for the usage chunk of an OpenAI stream.
	IncludeUsage bool
	Created      int64 // Unix seconds
	// Freeform names the caller's tools that take plain text in the place of
	// JSON (the Inspection's Freeform). The vocabulary carries that text as
	// {"input": text}; only calls of these tools become plain text again.
	Freeform []string
}

// MarkKind is what a frame means to somebody who relays it.
type MarkKind uint8

const (
	MarkInvalid  MarkKind = iota // not valid JSON: drop it
	MarkNoise                    // start, role, ping, empty delta, block ends: nothing visible
	MarkContent                  // a non-empty delta; Mark.Visible says of which kind
	MarkFinish                   // says how the answer ends; usage and the terminal may follow
	MarkTerminal                 // nothing follows
	MarkError                    // an error event
)

// Mark is the meaning of one frame. A frame that is several things at once
// (content and a finish reason in one chunk) is the later kind of the list
// above, with Visible, or Finish, set as well.
type Mark struct {
	Kind    MarkKind
	Visible sdk.Visible
	Finish  sdk.Finish // with MarkFinish, and a MarkTerminal that says it too
	Usage   sdk.Usage  // what the frame reports, zero if nothing
	Number  int        // the frame's own in a dialect that numbers them, else 0
	ID      string     // of the answer, in a frame that begins one in such a dialect
	Seal    Seal       // of the reasoning that the frame completes, 0 if none
	Hosted  bool       // it tells of a tool that the vendor itself runs
}

// Sent is what a client has had of an answer, in a dialect whose frames have
// numbers and tell the answer's id again and again. Clients refuse another id.
type Sent struct {
	ID   string // "" before the answer's start
	Next int    // the number of the frame to come
}

// Decoder turns frames into events. It is for one answer and one goroutine.
type Decoder interface {
	// Decode hands the events of one frame to emit. A frame it does not know is
	// skipped. After the terminal, or a finish that nothing follows, the last
	// event is KindFinish; the decoder closes open blocks by itself. An error
	// frame is not decoded: Scan finds it first.
	Decode(event string, data []byte, emit func(sdk.Event))
	// Close hands out what is still missing once the vendor's stream has ended:
	// open blocks' ends and the finish event if a finish was announced. It
	// reports whether the answer is complete; if not, the caller emits the
	// failure. An answer whose overlapping blocks were too much to hold is never
	// complete.
	Close(emit func(sdk.Event)) (complete bool)
}

// Encoder turns events into frames. It is for one answer and one goroutine.
type Encoder interface {
	// Encode appends the frames of one event to dst and returns it. Events may
	// come without the vendor's formalities (a start, block ends); the encoder
	// supplies what its dialect requires. KindFinish without a failure ends the
	// answer, terminal included; with a failure nothing is appended (the caller
	// uses ErrorFrame).
	Encode(dst []byte, e sdk.Event) []byte
	// Sent is what it has encoded so far.
	Sent() Sent
}
