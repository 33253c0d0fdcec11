package load

import (
	"bytes"
	"time"

	"spillway/tests/bench/mark"
)

// Outcome is how a request ended. Everything but OK is counted and shown.
type Outcome string

const (
	OK          Outcome = "ok"           // the whole answer, in order, of one vendor, with its end
	NoAnswer    Outcome = "no answer"    // the connection failed before an answer
	Timeout     Outcome = "timeout"      // the caller's patience ended
	ErrorEvent  Outcome = "error event"  // an error inside a stream
	Broken      Outcome = "broken"       // the connection broke in the middle
	Cut         Outcome = "cut"          // a stream that just ended early
	ClaimedEnd  Outcome = "claimed end"  // it ended early and says that it is complete
	Unfinished  Outcome = "unfinished"   // the whole text without an end
	TwoVendors  Outcome = "two vendors"  // text of more than one vendor in one answer
	OutOfOrder  Outcome = "out of order" // chunks missing, doubled or exchanged
	Unreadable  Outcome = "unreadable"   // 200 without a vendor's text
	statusBegin         = "status "      // followed by a status that is not 200
)

// A reading is what is known of an answer so far.
type reading struct {
	delays  []time.Duration // of each chunk
	vendor  string
	first   time.Time // of the first chunk; zero before it
	ordered bool      // false once a chunk was out of order
	mixed   bool      // chunks of two vendors
	failed  bool      // an error event
	stopped bool      // a finish reason
	done    bool      // the terminal
}

var (
	dataField   = []byte("data:")
	doneData    = []byte("[DONE]")
	eventError  = []byte("event: error")
	finishField = []byte(`"finish_reason":`)
	errorField  = []byte(`"error":`)
	stopValue   = []byte(`"stop"`)
	nullValue   = []byte("null")
)

// value is what follows the first such field; nothing if there is none.
func value(data, field []byte) []byte {
	_, after, _ := bytes.Cut(data, field)
	return bytes.TrimLeft(after, " ")
}

// stops says whether an answer, or a chunk of it, says that it is complete.
func stops(data []byte) bool { return bytes.HasPrefix(value(data, finishField), stopValue) }

// line takes a line of a stream.
func (r *reading) line(line []byte) {
	data, ok := bytes.CutPrefix(line, dataField)
	if !ok {
		r.failed = r.failed || bytes.HasPrefix(line, eventError)
		return
	}
	now := time.Now()
	for m, rest, ok := mark.Find(data); ok; m, rest, ok = mark.Find(data) {
		r.chunk(m, now)
		data = rest
	}
	if stops(data) {
		r.stopped = true
	}
	if bytes.HasPrefix(bytes.TrimLeft(data, " "), doneData) {
		r.done = true
	}
	if v := value(data, errorField); len(v) > 0 && !bytes.HasPrefix(v, nullValue) {
		r.failed = true
	}
}

func (r *reading) chunk(m mark.Mark, now time.Time) {
	if r.first.IsZero() {
		r.first, r.vendor, r.ordered = now, m.Name, true
	}
	r.mixed = r.mixed || m.Name != r.vendor
	r.ordered = r.ordered && m.Seq == len(r.delays)
	r.delays = append(r.delays, now.Sub(m.At))
}

// outcome judges an answer of which so many chunks were to come; broken is
// whether the connection broke.
func (r *reading) outcome(chunks int, broken bool) Outcome {
	whole := len(r.delays) == chunks
	switch {
	case r.mixed:
		return TwoVendors
	case r.failed:
		return ErrorEvent
	case broken:
		return Broken
	case len(r.delays) == 0:
		return Unreadable
	case !r.ordered || len(r.delays) > chunks:
		return OutOfOrder
	case !whole && (r.stopped || r.done):
		return ClaimedEnd
	case !whole:
		return Cut
	case !r.stopped || !r.done:
		return Unfinished
	}
	return OK
}
