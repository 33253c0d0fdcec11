package sdk

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code says what failed. The set is closed: a vendor's own codes are mapped to
// one of these in the host, before any listener sees them.
type Code string

const (
	CodeQuota             Code = "QUOTA"              // the plan, budget or balance is used up
	CodeAuth              Code = "AUTH"               // the account may not do this: banned, suspended, no permission
	CodeInvalidCredential Code = "INVALID_CREDENTIAL" // the key itself is not accepted
	CodeModelUnavailable  Code = "MODEL_UNAVAILABLE"  // the vendor does not serve this model to this account
	CodeRateLimit         Code = "RATE_LIMIT"
	CodeOverloaded        Code = "OVERLOADED"
	CodeServer            Code = "SERVER"
	CodeTimeout           Code = "TIMEOUT"
	CodeTransport         Code = "TRANSPORT" // see Cause
	CodeEmptyResponse     Code = "EMPTY_RESPONSE"
	CodeContextWindow     Code = "CONTEXT_WINDOW_EXCEEDED"
	CodePolicy            Code = "POLICY" // refused for its content
	CodeInvalidRequest    Code = "INVALID_REQUEST"
	CodeAborted           Code = "ABORTED"       // the caller went away or its own deadline ended
	CodeUnknownModel      Code = "UNKNOWN_MODEL" // made by the host, before any call
	CodeNoAdapter         Code = "NO_ADAPTER"    // made by the host: no provider of that name
	CodeLocalNetwork      Code = "LOCAL_NETWORK" // this machine's own network is down
	CodePlugin            Code = "PLUGIN"        // made by the host: a listener broke or was lost
)

// Class says whose fault a failure is and whether time heals it. It follows
// from the Code.
type Class string

const (
	ClassDeterministic Class = "deterministic" // will fail again until somebody acts or a period ends
	ClassTransient     Class = "transient"     // may pass by itself
	ClassCaller        Class = "caller"        // the request's own fault; nobody's health changes
	ClassLocal         Class = "local"         // this machine's fault; nobody's health changes
)

// Scope is how much a failure speaks for.
type Scope string

const (
	ScopeNone   Scope = "none"
	ScopeRoute  Scope = "route" // one model of one provider
	ScopeVendor Scope = "vendor"
	ScopeKey    Scope = "key"
)

type codeFact struct {
	code  Code
	class Class
	scope Scope
}

// codeFacts is the one table of codes: class and default scope, in the order
// of the constants.
var codeFacts = []codeFact{
	{CodeQuota, ClassDeterministic, ScopeRoute},
	{CodeAuth, ClassDeterministic, ScopeKey},
	{CodeInvalidCredential, ClassDeterministic, ScopeKey},
	{CodeModelUnavailable, ClassDeterministic, ScopeRoute},
	{CodeRateLimit, ClassTransient, ScopeRoute},
	{CodeOverloaded, ClassTransient, ScopeRoute},
	{CodeServer, ClassTransient, ScopeRoute},
	{CodeTimeout, ClassTransient, ScopeRoute},
	{CodeTransport, ClassTransient, ScopeRoute},
	{CodeEmptyResponse, ClassTransient, ScopeRoute},
	{CodeContextWindow, ClassCaller, ScopeNone},
	{CodePolicy, ClassCaller, ScopeNone},
	{CodeInvalidRequest, ClassCaller, ScopeNone},
	{CodeAborted, ClassCaller, ScopeNone},
	{CodeUnknownModel, ClassCaller, ScopeNone},
	{CodeNoAdapter, ClassCaller, ScopeNone},
	{CodeLocalNetwork, ClassLocal, ScopeNone},
	{CodePlugin, ClassLocal, ScopeNone},
}

// Codes returns every code, in a fixed order.
func Codes() []Code {
	codes := make([]Code, len(codeFacts))
	for i, f := range codeFacts {
		codes[i] = f.code
	}
	return codes
}

// Known reports whether c is one of the constants.
func (c Code) Known() bool {
	return slices.ContainsFunc(codeFacts, func(f codeFact) bool { return f.code == c })
}

// Class returns the class of c. A code from a newer peer counts as transient:
// the mildest class that still lets another vendor be asked.
func (c Code) Class() Class {
	for _, f := range codeFacts {
		if f.code == c {
			return f.class
		}
	}
	return ClassTransient
}

// Scope returns what c speaks for when the evidence names nothing narrower or
// wider.
func (c Code) Scope() Scope {
	for _, f := range codeFacts {
		if f.code == c {
			return f.scope
		}
	}
	return ScopeRoute
}

// Cause tells the kinds of CodeTransport apart.
type Cause string

const (
	CauseReset   Cause = "reset"    // the connection was lost
	CauseCut     Cause = "cut"      // the stream ended without its terminal event
	CauseRefused Cause = "refused"  // nobody listens
	CauseDNS     Cause = "dns"      // the name does not resolve
	CauseNoRoute Cause = "no_route" // host or network unreachable
	CauseTLS     Cause = "tls"      // handshake or certificate
)

// Unreachable reports whether the vendor could not be reached at all, as
// opposed to a connection that was lost.
func (c Cause) Unreachable() bool {
	switch c {
	case CauseRefused, CauseDNS, CauseNoRoute, CauseTLS:
		return true
	case CauseReset, CauseCut:
		return false
	}
	return false
}

// Phase is how far an attempt had come.
type Phase string

const (
	PhaseTransport Phase = "transport" // no response at all
	PhaseResponse  Phase = "response"  // a status, and a body that is not a stream
	PhaseStream    Phase = "stream"    // inside the event stream
)

// RuleFirstContent is Failure.Rule when an attempt was ended by
// Limits.FirstContent.
const RuleFirstContent = "limit.first_content"

// RuleOwnCredential is Failure.Rule when the credential that the caller itself
// had sent was refused: it is the caller's own fault, and its to mend.
const RuleOwnCredential = "credential.own"

// MaxMessage bounds Failure.Message, in bytes.
const MaxMessage = 2 << 10

// Failure is one failed attempt, made once from the raw evidence by the host's
// dialect tables and possibly refined by a plugin's wording rules. It never
// holds a key, a prompt or a body.
//
// It is an error so that a listener may return it as one; the host turns it
// into the stream's finish event.
type Failure struct {
	Code  Code
	Cause Cause // only for CodeTransport and CodeTimeout
	Scope Scope
	Phase Phase

	Status     int    // HTTP status, 0 without a response
	VendorCode string // the vendor's own code, as sent
	VendorType string // the vendor's own error type, as sent
	Message    string // the vendor's own message, at most MaxMessage bytes

	RetryAfter time.Duration // the vendor's wait, 0 if none was given
	ResetAt    time.Time     // the vendor's moment of return, zero if none was given
	HintSource string        // where the hint stood: "retry-after", "message", …

	Rule    string // what decided the code, for people: "anthropic.type", "phrase.weekly-limit", …
	Matched string // the words of the vendor's message that Rule met, if it is one of wording; at most MaxMessage bytes
	Billing bool   // a QUOTA that ends when somebody pays: balance, arrears, spending limit
	Generic bool   // only a bare status or a catch-all code decided; wording may overrule it
	// Acted: a tool that the vendor itself runs may have done something. The
	// request must not be repeated, here or elsewhere.
	Acted   bool
	Attempt int // the host's number of the dispatch within the request, from 1; 0 if nothing was sent
}

// Class is f.Code.Class().
func (f *Failure) Class() Class { return f.Code.Class() }

// Error gives code, status and message on one line.
func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Code))
	if f.Cause != "" {
		fmt.Fprintf(&b, " (%s)", f.Cause)
	}
	if f.Status != 0 {
		fmt.Fprintf(&b, " %d", f.Status)
	}
	if f.Message != "" {
		b.WriteString(": ")
		b.WriteString(strings.Join(strings.Fields(f.Message), " "))
	}
	return b.String()
}

// NewFailure returns a failure of the given code with the code's own scope.
// Rule is what decided; message is cut at MaxMessage bytes.
func NewFailure(code Code, rule, message string) *Failure {
	return &Failure{Code: code, Scope: code.Scope(), Rule: rule, Message: ClipMessage(message)}
}

// ClipMessage cuts s at MaxMessage bytes, on a rune boundary.
func ClipMessage(s string) string {
	if len(s) <= MaxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:MaxMessage], "")
}
