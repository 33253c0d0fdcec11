package caller

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// frame is one event of a stream.
type frame struct{ event, data string }

// maxLine bounds a line of a stream.
const maxLine = 1 << 20

// errHalf is that of a stream whose last event is not closed.
var errHalf = errors.New("half a frame at the end")

// frames hands out the events of a stream, comments left out, and returns how the
// stream broke off, nil for a clean end.
func frames(body io.Reader, hand func(frame)) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	var f frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.event = value
		case "data":
			f.data += value
		case "":
			if lines.Text() == "" && f != (frame{}) {
				hand(f)
				f = frame{}
			}
		}
	}
	if lines.Err() == nil && f != (frame{}) {
		return errHalf
	}
	return lines.Err()
}
