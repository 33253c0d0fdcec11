package agent

import (
	"encoding/json"
	"time"

	"spillway/host/agent/ledger"
	"spillway/host/agent/tool"
	"spillway/host/state/record"
	"spillway/sdk"
)

// EventKind is what an [Event] tells.
type EventKind string

const (
	EventAnswer     EventKind = "answer"      // Answer: an event of the answer that comes in
	EventAsked      EventKind = "asked"       // Attempt: its route is asked now
	EventRequest    EventKind = "request"     // Request: the answer was accepted; its id is for explain
	EventToolStart  EventKind = "tool_start"  // Call, What
	EventToolResult EventKind = "tool_result" // Call, Result, Took
	EventSwitch     EventKind = "switch"      // Attempt, Before: the route changes, or is asked again
	EventReturn     EventKind = "return"      // Attempt: its route, which was left, answers again
	EventWithdrawn  EventKind = "withdrawn"   // Failure, Request: what came of the answer does not count
	EventWait       EventKind = "wait"        // Wait, Failure, Request: nobody can serve
	EventSummary    EventKind = "summary"     // Count messages are summed up
)

// Event is one thing that happened. Which fields are set follows from Kind.
type Event struct {
	Kind    EventKind
	Session string // of the agent that it happened to
	Depth   int    // of nested agents; 0 for the first

	Answer  *sdk.Event
	Request string
	Call    Call
	What    string // the call in words, "" if the tool has none
	Result  tool.Result
	Took    time.Duration
	Attempt record.Attempt
	Before  *record.Attempt
	Failure *sdk.Failure
	Wait    time.Duration
	Count   int
}

// Call is a tool call as the model made it.
type Call struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// Question is whether a call may be made.
type Question struct {
	Call  Call
	What  string // in one line
	Depth int
}

// Consent is a person's answer to a [Question].
type Consent uint8

const (
	Refused Consent = iota
	Once
	Always // this tool, for as long as the program runs
)

// Unknown is a call that may have happened.
type Unknown struct {
	Session string
	Entry   ledger.Entry
	Depth   int
}

// Decision is a person's word on an [Unknown]. An empty Verdict stops the work.
type Decision struct {
	Verdict ledger.Verdict
	Note    string
}

// tell passes an event on.
func (a *Agent) tell(e Event) {
	if a.o.Tell == nil {
		return
	}
	e.Session, e.Depth = a.o.Session.ID(), a.depth
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.Tell(e)
}

// noticed tells of an attempt on another route than the one that was told last,
// of one that is repeated, and of whom it asks.
func (a *Agent) noticed(head sdk.Route) func(record.Attempt, *record.Attempt) {
	return func(at record.Attempt, before *record.Attempt) {
		a.mu.Lock()
		last := a.told
		if last == (sdk.Route{}) {
			last = head
		}
		if a.serving == (sdk.Route{}) {
			a.serving = head
		}
		a.told = at.Route
		switch at.Kind {
		case sdk.KindFailover, sdk.KindFallback, sdk.KindResume:
			a.serving = at.Route // as the event says
		case sdk.KindPrimary, sdk.KindRetry, sdk.KindProbe: // whether it serves is to be seen
		}
		a.mu.Unlock()
		if at.Route != last || before != nil && before.Route == at.Route {
			a.tell(Event{Kind: EventSwitch, Attempt: at, Before: before})
		}
		a.tell(Event{Kind: EventAsked, Attempt: at})
	}
}

// answers tells, once, that a call is answered by a route which the user does not
// know to serve: it was left, and nothing else says that it is back.
func (a *Agent) answers(attempts []record.Attempt) {
	if len(attempts) == 0 { // a plugin answers
		return
	}
	route := attempts[len(attempts)-1].Route
	a.mu.Lock()
	back := route != a.serving
	a.serving = route
	a.mu.Unlock()
	if back {
		a.tell(Event{Kind: EventReturn, Attempt: record.Attempt{Route: route}})
	}
}
