package profile

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// source is a file's text with the places of its lines, to be edited in place.
type source struct {
	text  string
	lines []int // where each line begins, in bytes
	brk   string
	edits []edit

	// seen is the place that was looked for last: most follow one another, and a
	// line may be long.
	seen struct{ line, column, at int }
}

// edit puts text in the place of the bytes from from to to.
type edit struct {
	from, to int
	text     string
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}, brk: "\n"}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n', text[i] == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			s.lines = append(s.lines, i+1)
		}
	}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.brk = "\r\n"
	}
	return s
}

// offset is where a place is, in bytes; both numbers begin at 1.
func (s *source) offset(line, column int) int {
	if line > len(s.lines) {
		return len(s.text)
	}
	from := &s.seen
	if from.line != line || from.column > column {
		from.line, from.column, from.at = line, 1, s.lines[line-1]
	}
	for ; from.column < column && from.at < len(s.text); from.column++ {
		_, size := utf8.DecodeRuneInString(s.text[from.at:])
		from.at += size
	}
	return from.at
}

// lineStart is where the line of at begins.
func (s *source) lineStart(at int) int {
	i, found := slices.BinarySearch(s.lines, at)
	if !found {
		i--
	}
	return s.lines[i]
}

// lineEnd is where the line of at ends, before its break.
func (s *source) lineEnd(at int) int {
	if i := strings.IndexAny(s.text[at:], "\r\n"); i >= 0 {
		return at + i
	}
	return len(s.text)
}

// lineAfter is where the line behind that of at begins.
func (s *source) lineAfter(at int) int {
	end := s.lineEnd(at)
	switch {
	case strings.HasPrefix(s.text[end:], "\r\n"):
		return end + 2
	case end < len(s.text):
		return end + 1
	}
	return end
}

// begins reports whether nothing but blanks stands before at in its line.
func (s *source) begins(at int) bool {
	return strings.Trim(s.text[s.lineStart(at):at], " \t") == ""
}

func (s *source) replace(from, to int, text string) {
	s.edits = append(s.edits, edit{from, to, text})
}

// edited is the text with all edits made. It reports false if they overlap.
func (s *source) edited() (string, bool) {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, e := range s.edits {
		if e.from < at || e.to < e.from {
			return "", false
		}
		b.WriteString(s.text[at:e.from])
		b.WriteString(strings.ReplaceAll(e.text, "\n", s.brk))
		at = e.to
	}
	b.WriteString(s.text[at:])
	return b.String(), true
}
