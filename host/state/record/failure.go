package record

import (
	"time"

	"spillway/sdk"
)

// Failure is an sdk.Failure as records show it.
type Failure struct {
	Code       sdk.Code  `json:"code,omitempty"`
	Class      sdk.Class `json:"class,omitempty"`
	Cause      sdk.Cause `json:"cause,omitempty"`
	Scope      sdk.Scope `json:"scope,omitempty"`
	Phase      sdk.Phase `json:"phase,omitempty"`
	Status     int       `json:"status,omitempty"`
	VendorCode string    `json:"vendor_code,omitempty"`
	VendorType string    `json:"vendor_type,omitempty"`
	Message    string    `json:"message,omitempty"` // at most sdk.MaxMessage bytes
	RetryAfter Duration  `json:"retry_after_ms,omitzero"`
	ResetAt    time.Time `json:"reset_at,omitzero"`
	HintSource string    `json:"hint_source,omitempty"`
	Rule       string    `json:"rule,omitempty"`  // what decided the code
	Acted      bool      `json:"acted,omitempty"` // a tool that the vendor runs may have done something
}

// FailureOf returns f as records show it, the zero Failure for nil.
func FailureOf(f *sdk.Failure) Failure {
	if f == nil {
		return Failure{}
	}
	return Failure{
		Code:       f.Code,
		Class:      f.Class(),
		Cause:      f.Cause,
		Scope:      f.Scope,
		Phase:      f.Phase,
		Status:     f.Status,
		VendorCode: f.VendorCode,
		VendorType: f.VendorType,
		Message:    sdk.ClipMessage(f.Message),
		RetryAfter: Duration(f.RetryAfter),
		ResetAt:    f.ResetAt,
		HintSource: f.HintSource,
		Rule:       f.Rule,
		Acted:      f.Acted,
	}
}

// End fills in how the attempt ended.
func (a *Attempt) End(o sdk.Outcome) {
	a.Sent = o.Started
	a.Committed = o.Committed
	a.FirstContent = Duration(o.FirstContent)
	a.Took = Duration(o.Took)
	a.Usage = o.Usage
	a.Finish = o.Finish
	a.Failure = FailureOf(o.Failure)
	switch {
	case o.Failure == nil:
		a.Outcome = AttemptOK
	case o.Failure.Code == sdk.CodeAborted:
		a.Outcome = AttemptCancelled
	default:
		a.Outcome = AttemptFailed
	}
}

// Decide fills in what a plugin decided, at the attempt it speaks of or, if
// nothing was sent, at the request. It may come before or after End. A decision
// on an attempt that the record does not have is dropped.
func (r *Request) Decide(d sdk.Decision) {
	if d.Attempt == 0 {
		r.Reason, r.Skipped = d.Reason, d.Skipped
		return
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.N != d.Attempt {
			continue
		}
		a.Action, a.Why, a.DecidedBy, a.Next = d.Action, d.Reason, d.Rule, d.Target
		a.JudgedCode, a.JudgedScope = d.Code, d.Scope
		if d.Code != "" {
			a.JudgedClass = d.Code.Class()
		}
		a.NextDelay, a.Left = Duration(d.Delay), Duration(d.Left)
		a.Circuits, a.Passed = d.Changes, d.Skipped
		return
	}
}
