// Package dialecttest checks, for tests of any package, what a client of a
// dialect would receive: the grammar of a whole byte stream, as strictly as the
// strictest real client takes it.
package dialecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"spillway/host/sse"
)

// Check reports the first fault of a stream that is to end well: exactly one
// start, blocks balanced and numbered from 0, a reason for the end, exactly one
// terminal and nothing behind it.
func Check(dialect string, stream []byte) error { return check(dialect, stream, false) }

// CheckFailed is Check for a stream that is to end with the dialect's error
// event: it must not hold a terminal, and may stop anywhere before.
func CheckFailed(dialect string, stream []byte) error { return check(dialect, stream, true) }

// grammar takes the frames of one stream.
type grammar interface {
	frame(event string, data []byte) (end, error)
}

// end is how a frame ends the stream.
type end int

const (
	open   end = iota // it does not
	closed            // by the terminal
	failed            // by an error event
)

func check(dialect string, stream []byte, wantFailed bool) error {
	var g grammar
	switch dialect {
	case "anthropic":
		g = &messages{}
	case "openai":
		g = &chat{}
	case "responses":
		g = &responses{}
	default:
		return fmt.Errorf("dialect %q: unknown", dialect)
	}
	state := open
	r := sse.NewReader(bytes.NewReader(stream), len(stream)+1)
	for n := 1; ; n++ {
		f, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return ending(state, wantFailed)
		case err != nil:
			return fmt.Errorf("frame %d: %w", n, err)
		case f.Partial:
			return fmt.Errorf("frame %d: cut off: %q", n, f.Raw)
		case len(f.Data) == 0 && f.Event == "": // comments
			continue
		case state != open:
			return fmt.Errorf("frame %d: after the end: %q", n, f.Raw)
		}
		if state, err = g.frame(f.Event, f.Data); err != nil {
			return fmt.Errorf("frame %d: %w: %q", n, err, f.Raw)
		}
	}
}

func ending(state end, wantFailed bool) error {
	switch {
	case state == open:
		return errors.New("the stream has no terminal")
	case state == failed && !wantFailed:
		return errors.New("the stream ends with an error")
	case state == closed && wantFailed:
		return errors.New("the stream ends well, want an error")
	}
	return nil
}

// isObject reports whether s is a JSON object.
func isObject(s string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &m) == nil && m != nil
}
