package story

import "strings"

const (
	// maxCell bounds every cell but a row's last. It is wide, since what it
	// would cut off is the name that somebody has to type.
	maxCell = 64
	// minLast is the least room for a row's last cell, which holds sentences;
	// with less it goes below the row.
	minLast = 32
)

// table writes rows in columns below their names. Every row has a cell for each
// name. A column without any text is left out.
func (p *page) table(names []string, rows [][]span) {
	const indent, gap = 2, 2
	last := len(names) - 1
	widths := make([]int, len(names))
	for _, row := range rows {
		for i := range row {
			if i < last {
				row[i].text = clip(row[i].text, maxCell)
			}
			widths[i] = max(widths[i], columns(row[i].text))
		}
	}
	head := make([]span, len(names))
	used := indent
	for i, n := range names {
		head[i] = text(faint, n)
		if widths[i] == 0 {
			continue
		}
		widths[i] = max(widths[i], columns(n))
		if i < last {
			used += widths[i] + gap
		}
	}
	below := p.width-used < min(minLast, widths[last])
	for i, row := range append([][]span{head}, rows...) {
		lead := line{text(plain, strings.Repeat(" ", indent))}
		for j, c := range row[:last] {
			if widths[j] > 0 {
				lead = append(lead, span{c.style, pad(c.text, widths[j]+gap)})
			}
		}
		if !below {
			p.put(lead, line{text(plain, strings.Repeat(" ", used))}, row[last])
			continue
		}
		p.put(lead, nil)
		if i > 0 && row[last].text != "" {
			margin := line{text(plain, strings.Repeat(" ", 2*indent))}
			p.put(margin, margin, row[last])
		}
	}
}
