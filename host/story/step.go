package story

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// step is one branch of the drawn story: a title, and facts below it.
type step struct {
	*teller
	last  bool
	label string // of the latest fact
}

func (s *step) title(number, says string) {
	first, rest := "├─ ", "│  "
	if s.last {
		first, rest = "└─ ", "   "
	}
	if number != "" {
		number = pad(number, 2) + " "
	}
	hang := strings.Repeat(" ", columns(number))
	s.put(line{text(faint, first), text(bold, number)}, line{text(faint, rest+hang)}, text(bold, says))
}

// fact writes one line below the title. A label that repeats is not shown
// again.
func (s *step) fact(label string, st style, says string) {
	stem := "│     "
	if s.last {
		stem = "      "
	}
	shown := label
	if label == s.label {
		shown = ""
	}
	s.label = label
	n := s.words.labels.columns
	s.put(
		line{text(faint, stem), text(faint, pad(shown, n))},
		line{text(faint, stem), text(faint, pad("", n))},
		text(st, says),
	)
}

// maxQuote is how many lines of a message are shown.
const maxQuote = 3

func (s *step) quote(label, format, says string) {
	room := maxQuote*(s.width-6-s.words.labels.columns) - columns(fmt.Sprintf(format, ""))
	s.fact(label, plain, fmt.Sprintf(format, clip(message(says), room)))
}

func (s *step) skips(list []sdk.Skip) {
	for _, skip := range list {
		says := skip.Route.String()
		if r := s.words.skipped(skip.Reason); r != "" {
			says += s.words.colon + r
		}
		s.fact(s.words.labels.passed, plain, says)
	}
}

// attempt tells attempt i.
func (t *teller) attempt(i int, last bool) {
	a := &t.rec.Attempts[i]
	w := t.words
	s := step{teller: t, last: last}
	s.title(strconv.Itoa(a.N), t.heading(i))
	// What the step before has told of this one is not repeated.
	told := a.Reason == "head" || i > 0 && (t.rec.Attempts[i-1].Why == a.Reason || t.movedOn(i-1))
	if r := w.reason(a.Reason); r != "" && !told {
		s.fact(w.labels.because, plain, r)
	}
	s.skips(a.Skipped)
	if len(a.Dropped) > 0 {
		s.fact(w.labels.dropped, plain, strings.Join(a.Dropped, w.comma))
	}
	if a.Delay > 0 {
		s.fact(w.labels.waited, yellow, fmt.Sprintf(w.facts.waited, t.clock.span(time.Duration(a.Delay))))
	}
	s.answer(i)
	if a.Malformed > 0 {
		s.fact(w.labels.damaged, yellow, fmt.Sprintf(w.facts.damaged, a.Malformed))
	}
	if says := t.tokens(a.Usage); says != "" {
		s.fact(w.labels.tokens, plain, says)
	}
	if a.Code != "" {
		s.failure(a)
	}
	s.circuits(a.Circuits, a.ResetAt)
	if mayBeChance(a) {
		s.fact(w.labels.paused, plain, w.facts.notYet)
	}
	if a.Kind == sdk.KindProbe && a.Outcome == record.AttemptOK && len(a.Circuits) == 0 {
		s.fact(w.labels.healthy, green, fmt.Sprintf(w.facts.passed, a.Route))
	}
	s.onward(i)
}

// heading says who is asked and why.
func (t *teller) heading(i int) string {
	a := &t.rec.Attempts[i]
	k := &t.words.kinds
	format := k.primary
	switch a.Kind {
	case sdk.KindPrimary:
		if a.Route == t.rec.Head {
			format = k.wished
		}
	case sdk.KindRetry:
		format = k.retry
	case sdk.KindFailover:
		format = k.failover
		if i > 0 && t.rec.Attempts[i-1].Route == a.Route {
			format = k.key
		}
	case sdk.KindFallback:
		format = k.fallback
	case sdk.KindProbe:
		format = k.probe
	case sdk.KindResume:
		format = k.resume
	}
	says := fmt.Sprintf(format, a.Route)
	if a.Key != "" && t.severalKeys(a.Route.Provider) {
		says += t.words.open + fmt.Sprintf(k.withKey, a.Key) + t.words.close
	}
	return says
}

// answer tells what came back, and when.
func (s *step) answer(i int) {
	a := &s.rec.Attempts[i]
	f, label := &s.words.facts, s.words.labels.answer
	took, content := s.clock.span(time.Duration(a.Took)), s.clock.span(time.Duration(a.FirstContent))
	switch {
	case a.Outcome == "":
		s.fact(label, yellow, f.stillRunning)
	case s.movedOn(i):
		s.fact(label, yellow, fmt.Sprintf(f.movedOn, took))
	case a.Outcome == record.AttemptCancelled:
		s.fact(label, yellow, fmt.Sprintf(f.gaveUp, took))
	case a.Code == "" && a.FirstContent > 0 && a.FirstContent < a.Took:
		s.fact(label, green, fmt.Sprintf(f.content, content, took))
	case a.Code == "":
		s.fact(label, green, fmt.Sprintf(f.complete, took))
	case a.Committed:
		s.fact(label, red, fmt.Sprintf(f.broke, content, took))
	case a.Status != 0:
		s.fact(label, red, fmt.Sprintf(f.after, statusLine(a.Status), took))
	case a.Sent.IsZero():
		s.fact(label, red, f.notSent)
	case a.Code == sdk.CodeTimeout:
		s.fact(label, red, fmt.Sprintf(f.noAnswer, took))
	default:
		s.fact(label, red, fmt.Sprintf(f.unheard, took))
	}
}

func (t *teller) tokens(u sdk.Usage) string {
	f := &t.words.facts
	var parts []string
	add := func(format string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	add(f.tokensIn, u.Input)
	add(f.cached, u.CacheRead)
	add(f.tokensOut, u.Output)
	add(f.reasoning, u.Reasoning)
	return strings.Join(parts, t.words.comma)
}
