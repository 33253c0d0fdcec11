package story

import (
	"io"
	"strings"
	"time"

	"spillway/host/agent/session"
)

// Sessions writes a list of conversations, a line each, below the names of its
// columns. The error is that of w.
func Sessions(w io.Writer, all []session.Info, o Options) error {
	says := &o.words().talk.sessions
	if len(all) == 0 {
		_, err := io.WriteString(w, says.none+"\n")
		return err
	}
	zone := o.clock().now.Location()
	rows := [][]string{{says.session, says.used, says.folder, says.about}}
	for _, s := range all {
		rows = append(rows, []string{
			Line(s.ID, maxQuoted), s.Changed.In(zone).Format(time.DateTime), Line(s.Folder, maxQuoted), Line(s.Title, maxQuoted),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	const gap = 2
	var b strings.Builder
	for _, row := range rows {
		last := len(row) - 1
		for i, cell := range row[:last] {
			b.WriteString(pad(cell, widths[i]+gap))
		}
		b.WriteString(row[last] + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
