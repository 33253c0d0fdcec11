package gateway

import (
	"bytes"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/dialect/grammar"
	"spillway/host/llm"
	"spillway/sdk"
)

// line is the client's end of a streamed answer. Nothing else writes to it.
//
// Headers are held until content comes; when that takes too long they are sent
// with a start of our own, and from then on silence is filled with frames that
// mean nothing. One timer serves both, for the life of the stream. Its function
// and the exchange's goroutine write in turn, each under mu, so a frame is never
// cut by another; in between the exchange waits for the vendor undisturbed. That
// costs an uncontended lock a frame, where a goroutine that reads ahead would
// cost two switches, and a timer that is set anew with each frame a change of
// the runtime's heap: ours only looks, when it fires, when the client heard last.
type line struct {
	x *exchange

	mu    sync.Mutex // guards what follows and the response
	timer *time.Timer
	limit time.Duration // of silence: HoldHeaders at first, then KeepAlive
	heard time.Time     // when the client heard last, or asked
	every time.Duration // KeepAlive
	begun bool          // headers were sent
	over  bool          // the timer has nothing more to do
	gone  bool          // the client does not take any more
	until time.Time     // deadline of a write

	encoder dialect.Encoder // nil while a vendor's frames are relayed as they are
	buf     *[]byte         // gathered for one write; the server's, nil while empty
	sample  []byte          // a relayed frame with content
	sent    dialect.Sent    // of the answer that is relayed

	grammar *grammar.Checker // nil unless this answer is a sample
}

const (
	// maxSample bounds what is kept of a relayed answer: an id stands in every
	// frame, so a short one will do.
	maxSample = 4 << 10
	// maxGathered bounds what is gathered for one write: a little more than one
	// read of a vendor's answer.
	maxGathered = 8 << 10
	// usualGathered is what a new buffer has room for: a dozen tokens.
	usualGathered = 2 << 10
)

// newLine holds the headers back.
func newLine(x *exchange, g host.Gateway) *line {
	l := &line{x: x, limit: g.HoldHeaders, heard: x.asked, every: g.KeepAlive}
	if rand.Float64() < g.CheckGrammar {
		l.grammar = grammar.New(x.dialect.Name())
	}
	if x.seen.Choices > 1 {
		l.limit = math.MaxInt64 // an encoder writes one answer, so this one must be relayed
	}
	l.mu.Lock() // the timer may be there first
	defer l.mu.Unlock()
	x.server.metrics.held.Inc()
	l.timer = time.AfterFunc(l.limit-time.Since(l.heard), l.tick)
	return l
}

// tick is the timer's function.
func (l *line) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if left := l.limit - time.Since(l.heard); left > 0 {
		l.timer.Reset(left)
		return
	}
	metrics, name := l.x.server.metrics, l.x.dialect.Name()
	if !l.begun {
		metrics.begunEarly.WithLabelValues(name).Inc()
		l.begin() // nobody knows yet who serves
		l.encoder = l.x.dialect.NewEncoder(l.x.options())
	}
	b := l.gathered()
	if l.encoder != nil {
		*b = dialect.EncodeKeepAlive(l.encoder, *b)
	} else {
		*b = append(*b, dialect.RelayKeepAlive(l.x.dialect, l.sample)...)
	}
	if !l.flush() {
		l.x.cancel() // nobody else may notice for as long as the vendor is silent
		return
	}
	metrics.keepAlives.WithLabelValues(name).Inc()
	l.timer.Reset(l.limit)
}

// begin sends the headers; mu is held.
func (l *line) begin() {
	h := l.x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	l.x.status = http.StatusOK
	l.x.w.WriteHeader(http.StatusOK)
	l.x.server.metrics.held.Dec()
	l.begun, l.over, l.limit, l.heard = true, false, l.every, time.Now()
	l.timer.Reset(l.limit)
}

// decided ends the time of holding: from now on only the exchange begins an
// answer. It reports whether the timer has.
func (l *line) decided() (begun bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = !l.begun // until begin
	return l.begun
}

// relayed takes a vendor's frame: as it is, or behind a start of our own. Frames
// that came together are sent together, none waits for one that has not come.
func (l *line) relayed(f llm.Frame) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.Raw == nil {
		return l.flush()
	}
	l.sent.Next = max(l.sent.Next, f.Mark.Number+1)
	if f.Mark.ID != "" {
		l.sent.ID = f.Mark.ID
	}
	switch f.Mark.Kind {
	case dialect.MarkContent:
		if l.sample == nil && len(f.Raw) <= maxSample {
			l.sample = bytes.Clone(f.Raw)
		}
	case dialect.MarkFinish, dialect.MarkTerminal:
		l.over = true // what follows comes at once, and must be the vendor's
	case dialect.MarkInvalid, dialect.MarkNoise, dialect.MarkError:
	}
	b := l.gathered()
	if l.encoder != nil {
		*b = dialect.EncodeRelayed(l.encoder, *b, f.Event, f.Data, f.Raw, f.Mark)
	} else {
		*b = append(*b, f.Raw...)
	}
	if f.Mark.Kind == dialect.MarkTerminal || len(*b) >= maxGathered {
		return l.flush()
	}
	return !l.gone
}

// encoded sends what an event is in the client's dialect.
func (l *line) encoded(e sdk.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || e.Kind == sdk.KindFinish
	b := l.gathered()
	*b = l.encoder.Encode(*b, e)
	return l.flush()
}

// relays begins an answer of a vendor's frames, or goes on with the one that has
// begun.
func (l *line) relays(head llm.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.x.header(head)
		l.begin()
	}
}

// encodes begins an answer of events, or goes on with the one that has begun.
func (l *line) encodes() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.x.header(llm.Head{})
		l.begin()
		l.encoder = l.x.dialect.NewEncoder(l.x.options())
	}
}

// broken tells the client that its answer will not be whole.
func (l *line) broken(f *sdk.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	sent := l.sent
	if l.encoder != nil {
		sent = l.encoder.Sent()
	}
	b := l.gathered()
	*b = append(*b, l.x.dialect.ErrorFrame(l.x.told(f), l.x.id, sent)...)
	l.flush()
}

// gathered is what waits to be written; mu is held.
func (l *line) gathered() *[]byte {
	if l.buf == nil {
		l.buf = l.x.server.buffers.Get().(*[]byte)
	}
	return l.buf
}

// flush writes what was gathered; mu is held. It reports whether the client took
// it.
func (l *line) flush() bool {
	b := l.buf
	if b == nil {
		return !l.gone
	}
	l.buf = nil
	ok := l.write(*b)
	if cap(*b) <= 2*maxGathered {
		*b = (*b)[:0]
		l.x.server.buffers.Put(b)
	}
	return ok
}

// write pushes a frame out; mu is held. It reports whether the client took it.
func (l *line) write(p []byte) bool {
	if l.gone {
		return false
	}
	if len(p) == 0 {
		return true
	}
	l.heard = time.Now()
	l.extend()
	_, err := l.x.w.Write(p)
	if err == nil {
		err = l.x.out.Flush()
	}
	l.gone = err != nil
	if l.grammar != nil {
		l.grammar.Feed(p)
	}
	return !l.gone
}

// extend sees to it that a write has the better part of the client's patience. The
// deadline is a timer of the runtime's, so it is not set anew for each write.
func (l *line) extend() {
	patience := l.x.server.limits.patience
	if l.until.Sub(l.heard) < patience-patience/8 {
		l.until = l.heard.Add(patience)
		_ = l.x.out.SetWriteDeadline(l.until)
	}
}

// check reports what was wrong with the shape of an answer that is over, broken
// by f if that is not nil. Nothing of what it said is told.
func (l *line) check(f *sdk.Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grammar == nil {
		return
	}
	fault := l.grammar.Fault() // all that can be said if the client left
	if !l.gone && l.x.ctx.Err() == nil {
		fault = l.grammar.End(f != nil)
	}
	if fault != nil {
		l.x.ungrammatical(fault)
	}
}

// close ends the line. It must be called before the exchange is over: the
// response is no longer ours then.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.timer.Stop()
	if !l.begun {
		l.x.server.metrics.held.Dec()
	}
}
