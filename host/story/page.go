package story

import "strings"

// style is how a piece of text looks: the parameter of an ANSI SGR sequence.
type style string

const (
	plain  style = ""
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// span is a piece of text of one style. Make it with text.
type span struct {
	style style
	text  string
}

// text is the only maker of spans, so that nothing reaches a terminal unchecked.
func text(st style, s string) span { return span{st, safe(s)} }

// line is what stands side by side.
type line []span

func (l line) columns() int {
	n := 0
	for _, s := range l {
		n += columns(s.text)
	}
	return n
}

// paint writes l out, with its colours if they are wanted.
func (l line) paint(b *strings.Builder, colour bool) {
	for _, s := range l {
		if !colour || s.style == plain {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	}
}

// page collects lines.
type page struct {
	colour bool
	width  int
	b      strings.Builder
}

func newPage(o Options) *page { return &page{colour: o.Colour, width: o.width()} }

// gap leaves a line free.
func (p *page) gap() { p.b.WriteByte('\n') }

// put writes content behind first, and behind rest on the lines that follow
// where content is wider than the page.
func (p *page) put(first, rest line, content ...span) {
	lead := first
	for _, l := range wrap(content, max(p.width-max(first.columns(), rest.columns()), minWidth/4)) {
		full := append(append(line{}, lead...), l...)
		if len(l) == 0 {
			full = trim(full)
		}
		full.paint(&p.b, p.colour)
		p.b.WriteByte('\n')
		lead = rest
	}
}

// trim drops the spaces at the end of l.
func trim(l line) line {
	for len(l) > 0 {
		last := &l[len(l)-1]
		last.text = strings.TrimRight(last.text, " ")
		if last.text != "" {
			break
		}
		l = l[:len(l)-1]
	}
	return l
}

// cell is one character with its style.
type cell struct {
	r     rune
	style style
}

// wrap cuts content into lines of at most n columns, where the language allows
// it, else anywhere.
func wrap(content line, n int) []line {
	var cells []cell
	for _, s := range content {
		for _, r := range s.text {
			cells = append(cells, cell{r, s.style})
		}
	}
	var lines []line
	for len(cells) > 0 {
		cut := fit(cells, n)
		lines = append(lines, join(cells[:cut]))
		cells = cells[cut:]
		for len(cells) > 0 && cells[0].r == ' ' {
			cells = cells[1:]
		}
	}
	if len(lines) == 0 {
		return []line{nil}
	}
	return lines
}

// fit is how many cells, at least one, make a line of at most n columns.
func fit(cells []cell, n int) int {
	used, cut := 0, 0
	for i, c := range cells {
		if i > 0 && mayBreak(cells[i-1].r, c.r) {
			cut = i
		}
		if used += runeColumns(c.r); used > n && c.r != ' ' {
			if cut > 0 {
				return cut
			}
			return max(i, 1)
		}
	}
	return len(cells)
}

// Punctuation that must not begin or end a line.
const (
	closers = `，。；：、？！）》”’」』…%)],.;:!?`
	openers = `（《“‘「『([`
)

// mayBreak reports whether a line may end between a and b: behind a space, and
// beside an ideograph.
func mayBreak(a, b rune) bool {
	switch {
	case a == ' ':
		return b != ' '
	case b == ' ', strings.ContainsRune(closers, b), strings.ContainsRune(openers, a):
		return false
	}
	return wide(a) || wide(b)
}

// join makes spans of cells, without the spaces at their end.
func join(cells []cell) line {
	var l line
	var b strings.Builder
	for i, c := range cells {
		b.WriteRune(c.r)
		if i+1 == len(cells) || cells[i+1].style != c.style {
			l = append(l, span{c.style, b.String()})
			b.Reset()
		}
	}
	return trim(l)
}
