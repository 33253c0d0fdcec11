package story

import (
	"fmt"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// Notice is one line, without its end, about an attempt that is about to be
// made: where the request goes and why. prev is the attempt before it, nil for
// the first. It is empty where there is nothing to tell: a first attempt on the
// route that was wished for.
func Notice(a record.Attempt, prev *record.Attempt, o Options) string {
	w := o.words()
	clock := o.clock()
	route := name(a.Route)
	says := ""
	switch a.Kind {
	case sdk.KindFailover, sdk.KindFallback:
		says = fmt.Sprintf(w.notice.switched, route)
		if prev != nil && prev.Route == a.Route {
			says = fmt.Sprintf(w.notice.key, name(sdk.Route{Provider: a.Route.Provider}))
		}
	case sdk.KindRetry:
		says = fmt.Sprintf(w.notice.again, route)
		if a.Delay > 0 {
			says = fmt.Sprintf(w.notice.waiting, clock.span(time.Duration(a.Delay)), route)
		}
	case sdk.KindProbe:
		says = fmt.Sprintf(w.notice.probe, route)
	case sdk.KindResume:
		says = fmt.Sprintf(w.notice.resume, route)
	case sdk.KindPrimary:
		return ""
	default:
		return ""
	}
	l := line{text(yellow, says)}
	if cause := w.why(a, prev); cause != "" {
		l = append(l, text(plain, w.colon+cause))
	}
	var b strings.Builder
	l.paint(&b, o.Colour)
	return b.String()
}

// Back is one line, without its end, about a route that was left and answers again.
func Back(r sdk.Route, o Options) string {
	var b strings.Builder
	line{text(yellow, fmt.Sprintf(o.words().notice.back, name(r)))}.paint(&b, o.Colour)
	return b.String()
}

// why is what led to a: the failure before it, else who was passed over.
func (w *lexicon) why(a record.Attempt, prev *record.Attempt) string {
	switch {
	case prev != nil && prev.Code != "" && prev.Outcome != record.AttemptCancelled:
		v, code := w.verdict(prev)
		return name(prev.Route) + " " + w.named(v.does, code)
	case len(a.Skipped) > 0:
		s := a.Skipped[0]
		return fmt.Sprintf(w.notice.skipped, name(s.Route), w.skipped(s.Reason))
	}
	return w.reason(a.Reason)
}

// maxName bounds a route within a notice; model names come from clients.
const maxName = 60

func name(r sdk.Route) string { return clip(safe(r.String()), maxName) }
