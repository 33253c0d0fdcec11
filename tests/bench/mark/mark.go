// Package mark is what the load generator and the vendors write into texts: who
// wrote it, its number, and when. Both ends share a clock, so a reader knows
// whether a text is whole, in order and of one writer, and how long it was under
// way. A mark holds no character that JSON encoders escape.
package mark

import (
	"bytes"
	"strconv"
	"time"
)

// Mark is one mark.
type Mark struct {
	Name string // without '#' and ':'
	Seq  int    // from 0
	At   time.Time
}

var (
	fence = []byte{'#'}
	colon = []byte{':'}
)

// Append adds the mark to dst.
func (m Mark) Append(dst []byte) []byte {
	dst = append(dst, '#')
	dst = append(dst, m.Name...)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(m.Seq), 10)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, m.At.UnixNano(), 10)
	return append(dst, '#')
}

// Find returns the first mark in data and what follows it.
func Find(data []byte) (m Mark, rest []byte, ok bool) {
	for {
		_, after, found := bytes.Cut(data, fence)
		if !found {
			return Mark{}, nil, false
		}
		if body, rest, found := bytes.Cut(after, fence); found {
			if m, ok := parse(body); ok {
				return m, rest, true
			}
		}
		data = after
	}
}

func parse(body []byte) (Mark, bool) {
	name, numbers, _ := bytes.Cut(body, colon)
	first, second, _ := bytes.Cut(numbers, colon)
	seq, ok1 := digits(first)
	at, ok2 := digits(second)
	if len(name) == 0 || !ok1 || !ok2 {
		return Mark{}, false
	}
	return Mark{Name: string(name), Seq: int(seq), At: time.Unix(0, at)}, true
}

// digits is strconv.ParseInt without its error, which would make garbage of every
// number in a stream.
func digits(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n >= 0
}
