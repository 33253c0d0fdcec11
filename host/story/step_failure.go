package story

import (
	"fmt"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// failure tells what the vendor said, what that was taken for, whom it
// concerns and what was closed for it.
func (s *step) failure(a *record.Attempt) {
	w, l := s.words, &s.words.labels
	if a.Message != "" && a.Code != sdk.CodeAborted {
		if vendorSpoke(a.Status, a.Rule) {
			s.quote(l.said, w.quote, a.Message)
		} else {
			s.quote(l.detail, "%s", a.Message)
		}
	}
	if says := s.hint(a); says != "" {
		s.fact(l.hint, plain, says)
	}
	if a.Outcome != record.AttemptCancelled {
		s.fact(l.meaning, plain, s.meaning(a))
	}
	if says := s.concerns(a); says != "" {
		s.fact(l.concerns, plain, says)
	}
}

// circuits tells what an attempt's end has closed or freed. back is when the
// vendor said that it would be back, zero if it said nothing.
func (s *step) circuits(list []sdk.Change, back time.Time) {
	w, l := s.words, &s.words.labels
	for _, c := range list {
		says := w.target(c.Target)
		switch c.To {
		case sdk.CircuitOpen:
			if !c.Until.IsZero() {
				says += w.comma + s.clock.until(c.Until)
			}
			if c.From == sdk.CircuitHalfOpen {
				says = fmt.Sprintf(w.facts.again, says)
			}
			// A vendor's word that is believed is that of the first.
			if !c.Until.IsZero() && back.Sub(c.Until) > time.Minute {
				says += w.semicolon + w.facts.early
				back = time.Time{}
			}
			s.fact(l.paused, yellow, says)
		case sdk.CircuitHalfOpen:
			s.fact(l.testing, yellow, says)
		case sdk.CircuitClosed:
			s.fact(l.healthy, green, says)
		}
	}
}

// mayBeChance reports whether a request has left a for a failure that pauses its
// model only when others meet it too.
func mayBeChance(a *record.Attempt) bool {
	code, scope := judged(a)
	return a.Outcome == record.AttemptFailed && a.Kind != sdk.KindProbe && len(a.Circuits) == 0 &&
		(a.Action == sdk.ActionFailover || a.Action == sdk.ActionFallback || a.Action == sdk.ActionStop) &&
		scope == sdk.ScopeRoute && a.JudgedClass == sdk.ClassTransient && code != sdk.CodeRateLimit && !a.Cause.Unreachable()
}

// meaning is the failure in words with what decided. A plugin that judged
// otherwise than the host is told with what the host had thought.
func (s *step) meaning(a *record.Attempt) string {
	w := s.words
	v, code := w.verdict(a)
	says, by := w.named(v.is, code), a.Rule
	if a.DecidedBy != "" {
		by = a.DecidedBy
	}
	if rule := w.rule(by); rule != "" {
		says += w.comma + fmt.Sprintf(w.facts.toldBy, rule)
	}
	if code != a.Code {
		first := w.wording(a.Code, a.Scope, a.Cause)
		says += w.semicolon + fmt.Sprintf(w.facts.atFirst, w.named(first.is, a.Code))
	}
	return says
}

// soon is the longest wait that is told by its length alone.
const soon = 2 * time.Minute

func (s *step) hint(a *record.Attempt) string {
	w, says := s.words, ""
	switch {
	case a.RetryAfter > 0 && time.Duration(a.RetryAfter) <= soon:
		says = fmt.Sprintf(w.facts.wait, s.clock.span(time.Duration(a.RetryAfter)))
	case !a.ResetAt.IsZero():
		says = fmt.Sprintf(w.facts.back, s.clock.moment(a.ResetAt), s.clock.apart(a.ResetAt))
	case a.RetryAfter > 0:
		says = fmt.Sprintf(w.facts.wait, s.clock.span(time.Duration(a.RetryAfter)))
	default:
		return ""
	}
	if from := w.source(a.HintSource); from != "" {
		says += w.comma + from
	}
	return says
}

// source is where a hint stood, in words.
func (w *lexicon) source(name string) string {
	switch name {
	case "":
		return ""
	case "message":
		return w.sources.message
	case "body":
		return w.sources.body
	case "failover":
		return w.sources.own
	}
	return fmt.Sprintf(w.sources.header, name)
}

func (s *step) concerns(a *record.Attempt) string {
	r := &s.words.rangeOf
	code, scope := judged(a)
	switch scope {
	case sdk.ScopeVendor:
		return fmt.Sprintf(r.vendor, a.Route.Provider)
	case sdk.ScopeRoute:
		return fmt.Sprintf(r.model, a.Route)
	case sdk.ScopeKey:
		if a.Key == "" {
			return fmt.Sprintf(r.theKey, a.Route.Provider)
		}
		return fmt.Sprintf(r.key, a.Key, a.Route.Provider)
	case sdk.ScopeNone:
		if code.Class() == sdk.ClassCaller && a.Outcome != record.AttemptCancelled {
			return r.request
		}
	}
	return ""
}

// onward tells what followed attempt i.
func (s *step) onward(i int) {
	a := &s.rec.Attempts[i]
	n := &s.words.next
	wait := a.NextDelay
	if wait == 0 && i+1 < len(s.rec.Attempts) {
		wait = s.rec.Attempts[i+1].Delay
	}
	delay, says := s.clock.span(time.Duration(wait)), ""
	switch a.Action {
	case sdk.ActionRetry:
		says = n.retry
		if wait > 0 {
			says = fmt.Sprintf(n.later, delay)
		}
	case sdk.ActionWait:
		says = fmt.Sprintf(n.wait, delay)
	case sdk.ActionFailover:
		if a.Next != nil && *a.Next == a.Route {
			says = fmt.Sprintf(n.key, a.Route.Provider)
		} else {
			says = fmt.Sprintf(n.failover, destination(a))
		}
	case sdk.ActionFallback:
		says = fmt.Sprintf(n.fallback, destination(a))
	case sdk.ActionStop:
		says = n.stop
	default:
		return
	}
	if r := s.words.reason(a.Why); r != "" {
		says += s.words.colon + r
	}
	if a.Left > 0 && a.Action != sdk.ActionStop {
		says += s.words.semicolon + fmt.Sprintf(n.left, s.clock.span(time.Duration(a.Left)))
	}
	s.fact(s.words.labels.next, plain, says)
	// Candidates passed over on the way to an attempt are told there.
	if i+1 == len(s.rec.Attempts) || len(s.rec.Attempts[i+1].Skipped) == 0 {
		s.skips(a.Passed)
	}
}

func destination(a *record.Attempt) string {
	if a.Next == nil {
		return "?"
	}
	return a.Next.String()
}
