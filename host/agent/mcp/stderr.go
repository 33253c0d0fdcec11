package mcp

import (
	"bytes"
	"log/slog"
	"sync"
)

const (
	maxLine = 1 << 10 // of a line that is logged
	// maxHeld is how much of a line is looked at: a secret that the end of what is
	// logged cuts must be whole to be known.
	maxHeld   = 16 << 10
	maxStderr = 1 << 20 // of one process; the rest is dropped
)

// stderr logs what a process writes to its standard error, line by line.
type stderr struct {
	log   *slog.Logger
	clean func(text string, limit int) string

	mu   sync.Mutex
	part []byte // a line without its end
	last string // the last line that says something
	left int    // bytes that may still be logged
}

// Write implements io.Writer. It never fails: the process would notice.
func (w *stderr) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		w.part = append(w.part, line[:min(len(line), maxHeld-len(w.part))]...)
		if rest = after; ended {
			w.line(w.clean(string(w.part), maxLine))
			w.part = w.part[:0]
		}
	}
	return len(p), nil
}

func (w *stderr) line(s string) {
	if s == "" || w.left < 0 {
		return
	}
	w.last = s
	if w.left -= len(s); w.left < 0 {
		s = "it writes too much; the rest is dropped"
	}
	w.log.Debug("mcp server writes", "line", s)
}

// lastLine is the last thing that the process said.
func (w *stderr) lastLine() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) > 0 {
		return w.clean(string(w.part), maxLine)
	}
	return w.last
}
