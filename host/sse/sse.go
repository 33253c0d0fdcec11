// Package sse reads and writes server-sent events.
//
// A [Reader] cuts a byte stream into frames and loses nothing: the Raw bytes of
// the frames, joined, are the input, so a relay can pass on what it has read
// without touching it. Lines end with LF, CR or CRLF; comments, a byte order
// mark, fields other than event and data, and data without a space after its
// colon are all accepted.
//
// A reader keeps one buffer and copies a frame only when its data stands on
// several lines. A frame is valid until the next call. A reader is for one
// goroutine.
package sse

import (
	"bytes"
	"errors"
	"io"
)

// DefaultMaxFrame bounds a frame when the caller sets no limit. The largest
// frames met in practice carry a whole tool call in one piece.
const DefaultMaxFrame = 1 << 20

// firstBuffer is enough for the frames of a token stream, so that thousands of
// open streams stay small.
const firstBuffer = 4 << 10

// maxEmptyReads is how many reads in a row may bring neither bytes nor an
// error.
const maxEmptyReads = 100

// ErrFrameTooLong is returned for a frame above the limit. It is final.
var ErrFrameTooLong = errors.New("sse: frame too long")

// Frame is one event. Event is "" if the frame names none, Data is empty if it
// has none, as in a frame of comments.
type Frame struct {
	Event string
	Data  []byte // its lines joined with LF
	Raw   []byte // every byte of the frame, its blank line included

	// Partial marks bytes after which the input ended without a blank line.
	// By the standard such a frame is to be discarded; it is returned so that a
	// cut is seen and no byte is lost.
	Partial bool
}

// Reader cuts its input into frames.
type Reader struct {
	src io.Reader
	max int
	err error // of src, or ErrFrameTooLong

	buf     []byte
	start   int // of the present frame
	line    int // of the present line
	scanned int // no line end stands between line and here
	end     int // of what was read

	begun   bool // the first line, which may carry a byte order mark, is behind us
	swallow bool // a CR ended the last line at the edge of the buffer: an LF that follows belongs to it

	// The present frame so far.
	event  string
	lines  int    // of data
	from   int    // the first data line, relative to start
	to     int    //
	joined []byte // the data, once it stands on several lines
}

// NewReader returns a reader of src. A frame has at most limit bytes; zero or
// less means DefaultMaxFrame.
func NewReader(src io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMaxFrame
	}
	return &Reader{src: src, max: limit}
}

// Next returns the next frame. After the last it returns io.EOF, or the error
// of the input, and goes on doing so.
func (r *Reader) Next() (Frame, error) {
	r.start, r.lines, r.event = r.line, 0, ""
	for {
		from, to, ok := r.nextLine()
		used := r.line
		if !ok {
			used = r.end
		}
		switch {
		case used-r.start > r.max:
			r.err, r.line, r.scanned, r.end = ErrFrameTooLong, r.start, r.start, r.start
			return Frame{}, r.err
		case ok && from < to:
			r.field(from, to)
		case ok:
			return r.frame(), nil
		case r.err == nil:
			r.fill()
		case r.end > r.start:
			return r.rest(), nil
		default:
			return Frame{}, r.err
		}
	}
}

// Ready reports whether the next frame is known to be there, so that Next will not
// read. It looks for a blank line between line ends of one kind; where a vendor
// mixes them it may say false although the frame is there.
func (r *Reader) Ready() bool {
	unread := r.buf[r.line:r.end]
	return bytes.Contains(unread, []byte("\n\n")) || bytes.Contains(unread, []byte("\r\n\r\n"))
}

// nextLine moves past the next whole line and returns its bounds, without its
// end.
func (r *Reader) nextLine() (from, to int, ok bool) {
	if r.swallow && r.line < r.end {
		r.swallow = false
		if r.buf[r.line] == '\n' {
			r.line++
			r.scanned = r.line
		}
	}
	i := lineEnd(r.buf[r.scanned:r.end])
	if i < 0 {
		r.scanned = r.end
		return 0, 0, false
	}
	from, to = r.skipMark(r.line), r.scanned+i
	r.line = to + 1
	if r.buf[to] == '\r' {
		switch {
		case r.line == r.end:
			r.swallow = true // do not wait for it: the frame may be complete now
		case r.buf[r.line] == '\n':
			r.line++
		}
	}
	r.scanned = r.line
	return from, to, true
}

// skipMark moves i behind a byte order mark if the input begins with one.
func (r *Reader) skipMark(i int) int {
	const mark = "\xef\xbb\xbf"
	if !r.begun && bytes.HasPrefix(r.buf[i:r.end], []byte(mark)) {
		i += len(mark)
	}
	r.begun = true
	return i
}

// lineEnd returns the index of the first CR or LF, -1 if there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// field takes in the line buf[from:to].
func (r *Reader) field(from, to int) {
	name, value, _ := bytes.Cut(r.buf[from:to], []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.event = intern(value)
	case "data":
		switch r.lines {
		case 0:
			r.to = to - r.start
			r.from = r.to - len(value)
		case 1:
			r.joined = append(r.joined[:0], r.buf[r.start+r.from:r.start+r.to]...)
			fallthrough
		default:
			r.joined = append(append(r.joined, '\n'), value...)
		}
		r.lines++
	}
}

// frame is the present frame, which ends at line.
func (r *Reader) frame() Frame {
	f := Frame{Event: r.event, Raw: r.buf[r.start:r.line:r.line]}
	switch r.lines {
	case 0:
	case 1:
		f.Data = f.Raw[r.from:r.to:r.to]
	default:
		f.Data = r.joined
	}
	return f
}

// rest is the frame of the bytes that no blank line follows. The LF of a CRLF
// that was cut in two is no loss.
func (r *Reader) rest() Frame {
	whole := r.line == r.start+1 && r.line == r.end && r.buf[r.start] == '\n'
	if r.line < r.end {
		if from := r.skipMark(r.line); from < r.end {
			r.field(from, r.end)
		}
		r.line, r.scanned = r.end, r.end
	}
	f := r.frame()
	f.Partial = !whole
	return f
}

// intern returns the name of an event without allocating for those of the
// known dialects.
func intern(name []byte) string {
	switch string(name) {
	case "message":
		return "message"
	case "message_start":
		return "message_start"
	case "content_block_start":
		return "content_block_start"
	case "content_block_delta":
		return "content_block_delta"
	case "content_block_stop":
		return "content_block_stop"
	case "message_delta":
		return "message_delta"
	case "message_stop":
		return "message_stop"
	case "ping":
		return "ping"
	case "error":
		return "error"
	}
	return string(name)
}

// fill reads once, after making room.
func (r *Reader) fill() {
	if r.start == r.end || r.end == len(r.buf) {
		r.room()
	}
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// room moves the present frame to the front of the buffer, and to a larger one
// when it fills half of the old.
func (r *Reader) room() {
	held := r.end - r.start
	dst := r.buf
	if 2*held >= len(r.buf) {
		dst = make([]byte, max(firstBuffer, 2*len(r.buf)))
	}
	copy(dst, r.buf[r.start:r.end])
	r.buf = dst
	r.line -= r.start
	r.scanned -= r.start
	r.start, r.end = 0, held
}

// AppendFrame appends a frame to dst. An event of "" is left out; it must not
// contain line ends. Data may, and then takes several lines.
func AppendFrame(dst []byte, event string, data []byte) []byte {
	if event != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, event...)
		dst = append(dst, '\n')
	}
	for {
		i := lineEnd(data)
		dst = append(dst, "data: "...)
		if i < 0 {
			dst = append(dst, data...)
			return append(dst, "\n\n"...)
		}
		dst = append(dst, data[:i]...)
		dst = append(dst, '\n')
		crlf := bytes.HasPrefix(data[i:], []byte("\r\n"))
		data = data[i+1:]
		if crlf {
			data = data[1:]
		}
	}
}
