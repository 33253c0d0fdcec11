package story

import (
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

// chart draws when each attempt ran, relative to the whole request. It reports
// whether there was anything to draw.
func (t *teller) chart() bool {
	whole := t.length()
	if len(t.rec.Attempts) == 0 || whole == 0 {
		return false
	}
	const gap = 2
	type row struct {
		mark         span
		name, took   string
		outcome      string
		outcomeStyle style
	}
	rows := make([]row, len(t.rec.Attempts))
	name, took, outcome := 0, columns(t.clock.span(whole)), 0
	for i := range rows {
		a := &t.rec.Attempts[i]
		r := &rows[i]
		r.mark, r.outcome = t.mark(a)
		r.outcome = clip(safe(r.outcome), t.width/4)
		r.name = clip(safe(strconv.Itoa(a.N)+" "+a.Route.String()), t.width/3)
		if a.Outcome != "" {
			r.took = t.clock.span(time.Duration(a.Took))
		}
		name, took, outcome = max(name, columns(r.name)), max(took, columns(r.took)), max(outcome, columns(r.outcome))
	}
	// A page too narrow for all of it goes without the outcomes.
	room := t.width - gap - 2 - name - gap - gap - took
	if bar := room - gap - outcome; bar >= minBar {
		room = bar
	} else {
		outcome = 0
	}
	room = max(room, minBar)

	used := ""
	for i, r := range rows {
		bar := t.bar(&t.rec.Attempts[i], whole, room)
		used += bar
		l := line{
			text(plain, "  "), r.mark, text(plain, " "+pad(r.name, name)+"  "),
			text(r.mark.style, pad(bar, room)), text(plain, "  "+pad(r.took, took)),
		}
		if outcome > 0 {
			l = append(l, text(plain, "  "+r.outcome))
		}
		t.draw(l)
	}
	t.draw(line{text(faint, strings.Repeat(" ", 2+2+name+gap)+pad("0", room)+"  "+t.clock.span(whole))})
	t.draw(line{text(faint, "  "+t.legend(used))})
	return true
}

const minBar = 10

// draw writes a line as it is, without wrapping it.
func (t *teller) draw(l line) {
	trim(l).paint(&t.b, t.colour)
	t.gap()
}

// mark is an attempt's outcome as a sign and in words.
func (t *teller) mark(a *record.Attempt) (span, string) {
	switch a.Outcome {
	case record.AttemptOK:
		return text(green, "✓"), t.words.answered
	case record.AttemptCancelled, record.AttemptFailed:
		v, _ := t.words.verdict(a)
		if a.Outcome == record.AttemptCancelled {
			return text(yellow, "–"), v.is
		}
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
		return int(min(max(d, 0), whole) * time.Duration(n) / whole)
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
