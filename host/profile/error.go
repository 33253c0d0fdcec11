package profile

import (
	"cmp"
	"fmt"
	"strings"
)

// Pos is a place in a layer. The zero Pos is no place.
type Pos struct {
	Layer  string // the layer's name
	File   string
	Line   int // from 1; 0 means the file as a whole
	Column int // from 1, in characters
}

// String gives "file:line:column", without the numbers that are 0.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// compare orders places by file, line and column.
func (p Pos) compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Error refuses a file, or an entry, for what stands at Pos.
type Error struct {
	Pos     Pos
	Message string
	Allowed string // what would be right, "" if Message says it all
}

// Error gives "file:line:column: message (allowed: …)".
func (e *Error) Error() string {
	var b strings.Builder
	if at := e.Pos.String(); at != "" {
		b.WriteString(at + ": ")
	}
	b.WriteString(e.Message)
	if e.Allowed != "" {
		b.WriteString(" (allowed: " + e.Allowed + ")")
	}
	return b.String()
}
