// Package grammar checks the shape of a streamed answer while it is sent to a
// client: one start, blocks numbered upwards and closed, one terminal and
// nothing behind it, whatever happened behind the gateway.
//
// It knows what must hold of every answer, a vendor's relayed one too: events,
// fields and blocks that no list knows are passed over. What the strictest
// clients ask of answers that we encode ourselves is package dialecttest's.
//
// A checker keeps a few numbers and nothing that was said; its faults are fixed
// texts. It costs about a parse of each frame, so servers check samples.
package grammar

import (
	"bytes"
	"errors"
	"io"

	"github.com/tidwall/gjson"

	"spillway/host/sse"
)

// Checker follows one answer. It is for one goroutine.
type Checker struct {
	rules rules
	end   ending
	fault error
}

// rules take the frames of one answer in their dialect. Data is valid JSON, or
// the sentinel.
type rules interface {
	frame(event string, data []byte) (ending, error)
}

// ending is how a frame ends an answer.
type ending uint8

const (
	open   ending = iota // it does not
	closed               // by the terminal
	failed               // by an error event
)

// New returns a checker of a dialect's answer, nil if the dialect is unknown.
func New(dialect string) *Checker {
	switch dialect {
	case "anthropic":
		return &Checker{rules: &messages{blocks: numbered{last: -1}}}
	case "openai":
		return &Checker{rules: &chat{}}
	case "responses":
		return &Checker{rules: &responses{number: -1, items: numbered{last: -1}}}
	}
	return nil
}

var (
	errFrame = errors.New("a frame is cut")
	errJSON  = errors.New("a frame is no JSON")
	errAfter = errors.New("a frame after the end")
	errOpen  = errors.New("the answer has no end")
	errClean = errors.New("a broken answer ends well")
	errBreak = errors.New("a good answer ends with an error")
)

// Feed takes whole frames in the order in which they are sent.
func (c *Checker) Feed(frames []byte) {
	r := sse.NewReader(bytes.NewReader(frames), len(frames)+1)
	for c.fault == nil {
		f, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil || f.Partial:
			c.fault = errFrame
		case len(f.Data) == 0: // comments
		case c.end != open:
			c.fault = errAfter
		case string(f.Data) != sentinel && !gjson.ValidBytes(f.Data):
			c.fault = errJSON
		default:
			c.end, c.fault = c.rules.frame(f.Event, f.Data)
		}
	}
}

// Fault is the first fault so far, nil for none.
func (c *Checker) Fault() error { return c.fault }

// End is the first fault of an answer that is over: broken, or well.
func (c *Checker) End(broken bool) error {
	switch {
	case c.fault != nil:
		return c.fault
	case c.end == open:
		return errOpen
	case c.end == closed && broken:
		return errClean
	case c.end == failed && !broken:
		return errBreak
	}
	return nil
}

// sentinel ends a stream of Chat Completions.
const sentinel = "[DONE]"

// maxOpen bounds the blocks of one answer that are open at the same time.
const maxOpen = 256

// numbered is a set of blocks that are numbered upwards.
type numbered struct {
	last int // number of the newest
	open []int
}

var (
	errNumber  = errors.New("a block's number is not above the last")
	errCrowd   = errors.New("too many blocks are open")
	errNotOpen = errors.New("a piece or an end of no open block")
	errOpenEnd = errors.New("the answer ends with a block open")
)

func (s *numbered) begin(n int) error {
	switch {
	case n <= s.last:
		return errNumber
	case len(s.open) == maxOpen:
		return errCrowd
	}
	s.last = n
	s.open = append(s.open, n)
	return nil
}

func (s *numbered) has(n int) error {
	for _, o := range s.open {
		if o == n {
			return nil
		}
	}
	return errNotOpen
}

func (s *numbered) stop(n int) error {
	for i, o := range s.open {
		if o == n {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return nil
		}
	}
	return errNotOpen
}

func (s *numbered) none() error {
	if len(s.open) > 0 {
		return errOpenEnd
	}
	return nil
}

// index reads a block's number, -1 if there is none.
func index(v gjson.Result) int {
	if v.Type != gjson.Number {
		return -1
	}
	return int(v.Num)
}
