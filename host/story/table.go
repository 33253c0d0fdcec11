package story

import "strings"

// maxColumn bounds every column but the last, whose text wraps.
const maxColumn = 40

// table writes rows below a heading, in columns as wide as their widest cell.
// Every row has as many cells as head. Columns with no text at all are left out.
func (p *page) table(head []string, rows [][]span) {
	const indent, gap = 2, 2
	widths := make([]int, len(head))
	for _, row := range rows {
		for i := range row {
			if i+1 < len(row) {
				row[i].text = clip(row[i].text, maxColumn)
			}
			widths[i] = max(widths[i], columns(row[i].text))
		}
	}
	top := make([]span, len(head))
	for i, h := range head {
		top[i] = text(faint, h)
		if widths[i] > 0 {
			widths[i] = max(widths[i], columns(h))
		}
	}
	for _, row := range append([][]span{top}, rows...) {
		lead := line{text(plain, strings.Repeat(" ", indent))}
		var end span
		for i, c := range row {
			if widths[i] == 0 {
				continue
			}
			if end = c; i+1 < len(row) {
				end = span{c.style, pad(c.text, widths[i]+gap)}
				lead = append(lead, end)
				end = span{}
			}
		}
		p.put(lead, line{text(plain, strings.Repeat(" ", lead.columns()))}, end)
	}
}
