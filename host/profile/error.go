package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	Err     error  // of the file system, if that is why
}

// unreadable refuses a file that the file system does not give.
func unreadable(at Pos, err error) *Error {
	reason := err
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		reason = e.Err
	}
	return &Error{Pos: at, Message: "cannot be read: " + reason.Error(), Err: err}
}

// Unwrap gives the file system's error, if there is one.
func (e *Error) Unwrap() error { return e.Err }

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
