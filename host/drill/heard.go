package drill

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// errHangs ends a call that has no end of its own.
var errHangs = errors.New("no end")

// heard is what a caller got.
type heard struct {
	text     string
	starts   int
	finishes int
	failure  *sdk.Failure
	err      error // of this machine
	hung     bool
	took     time.Duration
	record   record.Request
}

// hear takes in an answer to a call that began then.
func hear(s sdk.Stream, began time.Time) (h heard) {
	var text strings.Builder
	for e, err := range s.Events() {
		if err != nil {
			h.err = err
			break
		}
		switch e.Kind {
		case sdk.KindStart:
			h.starts++
		case sdk.KindTextDelta:
			text.WriteString(e.Text)
		case sdk.KindFinish:
			h.finishes++
			h.failure = e.Failure
		case sdk.KindBlockStart, sdk.KindReasoningDelta, sdk.KindToolCallDelta, sdk.KindBlockEnd, sdk.KindUsage:
		}
	}
	h.text, h.took = text.String(), time.Since(began)
	return h
}

// whole reports whether the text is one simulated answer from its first word to
// its last, and nothing besides.
func whole(text string) bool {
	fields := strings.Fields(text)
	if len(fields) != words {
		return false
	}
	_, mark, ok := strings.Cut(fields[0], "@")
	for i, f := range fields {
		ok = ok && f == fmt.Sprintf("w%d@%s", i, mark)
	}
	return ok
}

// resumed reports whether an answer that broke was gone on with openly: another
// whole one stands at the end.
func (h heard) resumed() bool {
	attempts := h.record.Attempts
	if n := len(attempts); n == 0 || attempts[n-1].Kind != sdk.KindResume {
		return false
	}
	fields := strings.Fields(h.text)
	return len(fields) > words && whole(strings.Join(fields[len(fields)-words:], " "))
}

// by is the route that answered, the zero Route if a plugin did.
func (h heard) by() sdk.Route {
	if n := len(h.record.Attempts); n > 0 {
		return h.record.Attempts[n-1].Route
	}
	return sdk.Route{}
}
