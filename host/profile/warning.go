package profile

import "strings"

// Warning is something that took no effect, or not the one that was meant.
type Warning struct {
	Text string   // for skipped patches the original loader's own words
	Pos  Pos      // of the patch or row
	Near []string // known ids, as JSON, that resemble the one that was not found; best first
}

// String gives the text first, then file and line and the resembling ids.
func (w Warning) String() string {
	var b strings.Builder
	b.WriteString(w.Text)
	b.WriteString(" (" + w.Pos.String())
	if len(w.Near) > 0 {
		b.WriteString("; nearest known: " + strings.Join(w.Near, ", "))
	}
	b.WriteString(")")
	return b.String()
}
