package story

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"spillway/host/state/record"
)

// Cells of the drawing.
const (
	cellHeld    = "·" // before the attempt was sent
	cellWaiting = "░" // until the first content
	cellFlows   = "█" // from the first content on
)

// minBar is the least width of a bar, in columns.
const minBar = 10

// chartRow is one attempt beside its bar.
type chartRow struct {
	attempt             *record.Attempt
	mark                span
	name, took, outcome string
}

// chart draws when each attempt ran, relative to the whole request. It reports
// whether there was anything to draw.
func (t *teller) chart() bool {
	whole := t.length()
	sent := slices.ContainsFunc(t.rec.Attempts, func(a record.Attempt) bool { return !a.Sent.IsZero() })
	if !sent || whole == 0 {
		return false
	}
	rows := make([]chartRow, len(t.rec.Attempts))
	total := t.clock.span(whole)
	name, took, outcome := 0, columns(total), 0
	for i := range rows {
		r := t.chartRow(i)
		name, took, outcome = max(name, columns(r.name)), max(took, columns(r.took)), max(outcome, columns(r.outcome))
		rows[i] = r
	}
	const margin = "  "
	lead := len(margin) + 2 + name + len(margin) // mark and space before the name
	room := t.width - lead - len(margin) - took
	// A page too narrow for all of it goes without the outcomes.
	outcomes := room-len(margin)-outcome >= minBar
	if outcomes {
		room -= len(margin) + outcome
	}
	room = max(room, minBar)

	var used strings.Builder
	for _, r := range rows {
		bar := t.bar(r.attempt, whole, room)
		used.WriteString(bar)
		l := line{
			text(plain, margin), r.mark, text(plain, " "+pad(r.name, name)+margin),
			text(r.mark.style, pad(bar, room)), text(plain, margin+pad(r.took, took)),
		}
		if outcomes {
			l = append(l, text(plain, margin+r.outcome))
		}
		t.draw(l)
	}
	t.draw(line{text(faint, strings.Repeat(" ", lead)+pad("0", room)+margin+total)})
	t.draw(line{text(faint, margin+t.legend(used.String()))})
	return true
}

// draw writes a line as it is, without wrapping it.
func (t *teller) draw(l line) {
	trim(l).paint(&t.b, t.colour)
	t.gap()
}

func (t *teller) chartRow(i int) chartRow {
	a := &t.rec.Attempts[i]
	r := chartRow{attempt: a, name: clip(safe(strconv.Itoa(a.N)+" "+a.Route.String()), t.width*2/5)}
	if a.Outcome != "" {
		r.took = t.clock.span(time.Duration(a.Took))
	}
	r.mark, r.outcome = t.mark(i)
	r.outcome = clip(safe(r.outcome), t.width/4)
	return r
}

// mark is the outcome of attempt i as a sign and in words.
func (t *teller) mark(i int) (span, string) {
	a := &t.rec.Attempts[i]
	v, _ := t.words.verdict(a)
	switch {
	case a.Outcome == record.AttemptOK:
		return text(green, "✓"), t.words.answered
	case t.movedOn(i):
		return text(yellow, "–"), t.words.left
	case a.Outcome == record.AttemptCancelled:
		return text(yellow, "–"), v.is
	case a.Outcome == record.AttemptFailed:
		return text(red, "✗"), v.is
	}
	return text(yellow, "…"), t.words.running
}

// bar is the attempt within the whole, on n columns.
func (t *teller) bar(a *record.Attempt, whole time.Duration, n int) string {
	if a.Sent.IsZero() {
		return ""
	}
	at := func(d time.Duration) int {
		return int(float64(min(max(d, 0), whole)) / float64(whole) * float64(n))
	}
	sent := a.Sent.Sub(t.rec.Started)
	took := time.Duration(a.Took)
	if a.Outcome == "" {
		took = whole - sent
	}
	// However short, an attempt has one cell.
	start := min(at(sent), n-1)
	end := max(at(sent+took), start+1)
	held := min(at(sent-time.Duration(a.Delay)), start)
	content := end
	if a.FirstContent > 0 {
		content = min(max(at(sent+time.Duration(a.FirstContent)), start), end-1)
	}
	return strings.Repeat(" ", held) + strings.Repeat(cellHeld, start-held) +
		strings.Repeat(cellWaiting, content-start) + strings.Repeat(cellFlows, end-content)
}

// legend explains the cells that were used.
func (t *teller) legend(used string) string {
	var parts []string
	for _, c := range [...]struct{ cell, words string }{
		{cellHeld, t.words.held}, {cellWaiting, t.words.waiting}, {cellFlows, t.words.flows},
	} {
		if strings.Contains(used, c.cell) {
			parts = append(parts, c.cell+" "+c.words)
		}
	}
	return strings.Join(parts, "  ")
}
