package sdk

import "time"

// Decision is what a plugin made of a failed attempt, or of a request that no
// candidate could serve. The host stores it beside its own facts about the
// attempt.
type Decision struct {
	Call    string `json:"call"`
	Attempt int    `json:"attempt"` // Failure.Attempt; 0 when nothing was sent

	Code   Code   `json:"code,omitempty"` // after the plugin's own wording rules
	Scope  Scope  `json:"scope,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"`
	Target *Route `json:"target,omitempty"` // where the request goes next

	// Changes are the circuits that this failure moved.
	Changes []Change `json:"changes,omitempty"`
	Skipped []Skip   `json:"skipped,omitempty"`

	Delay time.Duration `json:"delay,omitempty"` // before the next attempt
	Left  time.Duration `json:"left,omitempty"`  // of the request's time, 0 if it has no bound
}

// Action is what happens to a request after a failure.
type Action string

const (
	ActionRetry    Action = "retry"    // same target again
	ActionFailover Action = "failover" // the same model another way
	ActionFallback Action = "fallback" // another model
	ActionWait     Action = "wait"     // then the same target again
	ActionStop     Action = "stop"     // the caller gets the error
)

// Change is one circuit's move.
type Change struct {
	Target string       `json:"target"` // vendor, vendor/model, vendor#key or vendor#key/model
	From   CircuitState `json:"from"`
	To     CircuitState `json:"to"`
	Until  time.Time    `json:"until,omitzero"`
}

// CircuitState is whether a target admits requests.
type CircuitState string

const (
	CircuitClosed   CircuitState = "closed"
	CircuitOpen     CircuitState = "open"
	CircuitHalfOpen CircuitState = "half_open" // one request may test it
)

// Status is a plugin's view of the world, for people.
type Status struct {
	Targets []TargetStatus `json:"targets"`
	Orders  []Order        `json:"orders,omitempty"` // of a person, in force
}

// TargetStatus is the health of one route, vendor or key. Only targets that
// have a story are listed.
type TargetStatus struct {
	Scope    Scope        `json:"scope"`
	Target   string       `json:"target"`
	State    CircuitState `json:"state"`
	Since    time.Time    `json:"since,omitzero"`
	Until    time.Time    `json:"until,omitzero"`
	Code     Code         `json:"code,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Failures int          `json:"failures,omitempty"` // consecutive, not yet tripped
	Trips    int          `json:"trips,omitempty"`    // consecutive
}

// Verb is what a person orders.
type Verb string

const (
	VerbClear   Verb = "clear"   // forget what stands against the target
	VerbDisable Verb = "disable" // nothing is sent there
	VerbEnable  Verb = "enable"  // end disable, drain and pin
	VerbPin     Verb = "pin"     // only there
	VerbDrain   Verb = "drain"   // what has begun there may go on, nothing else is sent there
)

// Verbs are all of them.
func Verbs() []Verb { return []Verb{VerbClear, VerbDisable, VerbEnable, VerbPin, VerbDrain} }

// Order is a person's decision about a target: a vendor, a route, a key, or a
// policy of the plugin ("policy:fallback").
type Order struct {
	Verb   Verb      `json:"verb"`
	Target string    `json:"target"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"` // zero: until it is taken back
	Note   string    `json:"note,omitempty"`
}
