package story

import (
	"fmt"
	"io"
	"strings"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// Request writes the story of a request: what was wanted, a drawing of when
// each attempt ran, the attempts one by one, and the outcome in one sentence at
// the end. It also tells a request that still runs. The error is that of w.
func Request(w io.Writer, rec record.Request, o Options) error {
	t := &teller{page: newPage(o), rec: rec, words: o.words(), clock: o.clock()}
	t.head()
	t.gap()
	if t.chart() {
		t.gap()
	}
	t.steps()
	t.gap()
	t.ending()
	_, err := io.WriteString(w, t.b.String())
	return err
}

// teller is one story on its way to the page.
type teller struct {
	*page
	rec   record.Request
	words *lexicon
	clock clock
}

func (t *teller) head() {
	w := t.words.head
	title := []span{text(bold, fmt.Sprintf(w.request, t.rec.ID))}
	if at := t.rec.Started; !at.IsZero() {
		title = append(title, text(faint, t.words.comma+t.clock.moment(at)+t.words.open+t.clock.apart(at)+t.words.close))
	}
	t.put(nil, nil, title...)
	parts := []string{fmt.Sprintf(w.wanted, t.rec.Head), w.whole}
	if t.rec.Stream {
		parts[1] = w.streamed
	}
	if t.rec.Dialect != "" {
		parts = append(parts, fmt.Sprintf(w.dialect, t.rec.Dialect))
	}
	t.put(nil, nil, text(plain, strings.Join(parts, t.words.comma)))
}

// steps tells the attempts, and why there is none or no further one.
func (t *teller) steps() {
	closing := t.rec.Reason != "" || len(t.rec.Skipped) > 0 || len(t.rec.Attempts) == 0
	for i := range t.rec.Attempts {
		t.attempt(i, i+1 == len(t.rec.Attempts) && !closing)
	}
	if closing {
		t.closing()
	}
}

// closing tells why nobody was asked, or nobody any more.
func (t *teller) closing() {
	w := t.words
	s := step{teller: t, last: true}
	says := w.facts.noVendor
	switch {
	case len(t.rec.Attempts) > 0:
		says = w.facts.noFurther
	case t.rec.Outcome == record.OK:
		says = w.facts.pluginAnswer
	}
	if r := w.reason(t.rec.Reason); r != "" {
		says += w.colon + r
	}
	s.title("", says)
	s.skips(t.rec.Skipped)
}

// severalKeys reports whether the record names more than one key of a provider.
func (t *teller) severalKeys(provider string) bool {
	key := ""
	for i := range t.rec.Attempts {
		a := &t.rec.Attempts[i]
		if a.Route.Provider != provider || a.Key == "" {
			continue
		}
		if key != "" && a.Key != key {
			return true
		}
		key = a.Key
	}
	return false
}

// length is how long the request ran, at least to the end of its last attempt.
func (t *teller) length() time.Duration {
	whole := time.Duration(t.rec.Took)
	if t.rec.Outcome == "" && whole == 0 {
		whole = t.clock.now.Sub(t.rec.Started)
	}
	for i := range t.rec.Attempts {
		a := &t.rec.Attempts[i]
		if !a.Sent.IsZero() {
			whole = max(whole, a.Sent.Sub(t.rec.Started)+time.Duration(a.Took))
		}
	}
	return max(whole, 0)
}

// movedOn reports whether attempt i was given up by the plugin and not by the
// caller: the request went on.
func (t *teller) movedOn(i int) bool {
	return t.rec.Attempts[i].Outcome == record.AttemptCancelled && i+1 < len(t.rec.Attempts)
}

// judged is what an attempt's failure was taken for in the end.
func judged(a *record.Attempt) (sdk.Code, sdk.Scope) {
	code, scope := a.Code, a.Scope
	if a.JudgedCode != "" {
		code = a.JudgedCode
	}
	if a.JudgedScope != "" {
		scope = a.JudgedScope
	}
	return code, scope
}

// verdict is what an attempt's failure was taken for, in words.
func (w *lexicon) verdict(a *record.Attempt) (wording, sdk.Code) {
	code, scope := judged(a)
	cause := a.Cause
	if code != a.Code {
		cause = ""
	}
	return w.wording(code, scope, cause), code
}
