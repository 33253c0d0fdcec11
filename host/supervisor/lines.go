package supervisor

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// maxLine bounds a line of a plugin's output; the rest of a longer one is
// dropped.
const maxLine = 16 << 10

// readLines calls f for each line of r, cut at maxLine, until r ends.
func readLines(r io.Reader, f func(string)) {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, more, err := b.ReadLine()
		if err != nil {
			return
		}
		if len(line) > 0 {
			f(strings.ToValidUTF8(string(line), "\uFFFD"))
		}
		for more && err == nil {
			_, more, err = b.ReadLine()
		}
	}
}

// lineWriter calls f for each line that is written to it, cut at maxLine. What a
// Go plugin prints once it serves comes that way, by an rpc of go-plugin's.
type lineWriter struct {
	f    func(string)
	part []byte // a line without its end
}

// Write implements io.Writer. It is called from one goroutine.
func (w *lineWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		w.part = append(w.part, line[:min(len(line), maxLine-len(w.part))]...)
		if rest = after; !ended {
			break
		}
		if len(w.part) > 0 {
			w.f(strings.ToValidUTF8(string(w.part), "\uFFFD"))
		}
		w.part = w.part[:0]
	}
	return len(p), nil
}
