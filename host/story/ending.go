package story

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// ending tells the outcome in one sentence.
func (t *teller) ending() {
	says, st := t.outcome()
	t.put(nil, nil, text(st, says+t.words.stop))
}

func (t *teller) outcome() (string, style) {
	w := &t.words.ending
	took := t.clock.span(time.Duration(t.rec.Took))
	switch t.rec.Outcome {
	case record.OK, record.OKAfterRetry, record.OKAfterFailover, record.OKAfterFallback:
		return t.success(took), green
	case record.FailedClean:
		return t.failed(took), red
	case record.FailedMidstream:
		return fmt.Sprintf(w.midstream, took, t.cause()), red
	case record.Cancelled:
		for i := range t.rec.Attempts {
			if t.rec.Attempts[i].Committed {
				return fmt.Sprintf(w.cancelledMiddle, took), yellow
			}
		}
		return fmt.Sprintf(w.cancelled, took), yellow
	case "":
		return fmt.Sprintf(w.running, t.clock.span(t.length())), yellow
	}
	return string(t.rec.Outcome), plain
}

func (t *teller) success(took string) string {
	w := &t.words.ending
	var by *record.Attempt
	failures := 0
	for i := range t.rec.Attempts {
		switch a := &t.rec.Attempts[i]; a.Outcome {
		case record.AttemptOK:
			by = a
		case record.AttemptFailed:
			failures++
		case record.AttemptCancelled, "":
		}
	}
	if by == nil {
		return fmt.Sprintf(w.byPlugin, took)
	}
	parts := []string{fmt.Sprintf(w.answered, by.Route, took)}
	if by.Route != t.rec.Head {
		parts[0] = fmt.Sprintf(w.instead, by.Route, t.rec.Head, took)
	}
	switch failures {
	case 0:
		return parts[0]
	case 1:
		parts = append(parts, w.afterOne)
	default:
		parts = append(parts, fmt.Sprintf(w.afterMany, failures))
	}
	return strings.Join(parts, t.words.comma) + t.words.semicolon + w.clean
}

func (t *teller) failed(took string) string {
	w := &t.words.ending
	f := t.rec.Failure
	if f != nil && f.Code.Class() == sdk.ClassCaller {
		says := fmt.Sprintf(w.callersFault, t.cause())
		switch {
		case f.Message != "" && vendorSpoke(f.Status, f.Rule):
			says += t.words.semicolon + w.verbatim
		case t.rec.Dialect != "" && f.Rule == "brain.capability":
			says += t.words.semicolon + fmt.Sprintf(w.told, statusLine(http.StatusBadRequest)) + t.words.comma + w.never
		}
		return says
	}
	says := fmt.Sprintf(w.failed, took, t.cause())
	// Only the gateway speaks a dialect to its caller, and 503 is what it says.
	if t.rec.Dialect != "" {
		says += t.words.semicolon + fmt.Sprintf(w.told, statusLine(http.StatusServiceUnavailable))
	}
	switch at := t.retryAt(); {
	case !at.IsZero():
		says += t.words.comma + fmt.Sprintf(w.again, t.clock.moment(at), t.clock.apart(at))
	case f != nil && f.Code.Class() == sdk.ClassDeterministic && t.rec.Dialect != "":
		says += t.words.comma + w.never
	}
	return says
}

// statusLine is a status as HTTP says it.
func statusLine(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// retryAt is when the caller was told to come back.
func (t *teller) retryAt() time.Time {
	f := t.rec.Failure
	switch {
	case f == nil:
		return time.Time{}
	case !f.ResetAt.IsZero():
		return f.ResetAt
	case f.RetryAfter > 0:
		return t.rec.Started.Add(time.Duration(t.rec.Took) + time.Duration(f.RetryAfter))
	}
	return time.Time{}
}

// cause is what the caller was told, in words.
func (t *teller) cause() string {
	f := t.rec.Failure
	if f == nil {
		return t.words.ending.unknown
	}
	says := t.words.find(causes, f.Rule)
	if says == "" {
		says = t.words.wording(f.Code, f.Scope, f.Cause).is
	}
	return t.words.named(says, f.Code)
}
