package tools

import (
	"fmt"
	"strings"
)

// ends keeps the beginning and the end of what is written to it. Its writer must be
// done before it is read.
type ends struct {
	head    []byte
	tail    []byte // a ring once it is full
	next    int    // where the ring goes on
	size    int    // of head, and of tail
	written int64
}

// newEnds keeps max bytes, half of them of the end.
func newEnds(max int) *ends { return &ends{size: max / 2} }

// Write implements io.Writer. It never fails.
func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	e.written += int64(n)
	room := min(e.size-len(e.head), len(p))
	e.head, p = append(e.head, p[:room]...), p[room:]
	p = p[max(0, len(p)-e.size):]
	room = min(e.size-len(e.tail), len(p))
	e.tail, p = append(e.tail, p[:room]...), p[room:]
	for len(p) > 0 {
		copied := copy(e.tail[e.next:], p)
		p, e.next = p[copied:], (e.next+copied)%e.size
	}
	return n, nil
}

// String is what was kept, with a word on what was not.
func (e *ends) String() string {
	tail := string(e.tail[e.next:]) + string(e.tail[:e.next])
	text := string(e.head) + tail
	if left := e.written - int64(len(text)); left > 0 {
		text = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", e.head, left, tail)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
