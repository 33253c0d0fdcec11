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

	encoder dialect.Encoder // nil while a vendor's frames are relayed as they are
	buf     []byte          // what it writes
	sample  []byte          // a relayed frame with content
	sent    dialect.Sent    // of the answer that is relayed

	grammar *grammar.Checker // nil unless this answer is a sample
}

// maxSample bounds what is kept of a relayed answer: an id stands in every frame,
// so a short one will do.
const maxSample = 4 << 10

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
	if l.encoder != nil {
		l.buf = dialect.EncodeKeepAlive(l.encoder, l.buf[:0])
	} else {
		l.buf = append(l.buf[:0], dialect.RelayKeepAlive(l.x.dialect, l.sample)...)
	}
	if !l.write(l.buf) {
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

// relayed sends a vendor's frame: as it is, or behind a start of our own.
func (l *line) relayed(f llm.Frame) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	if l.encoder != nil {
		l.buf = dialect.EncodeRelayed(l.encoder, l.buf[:0], f.Event, f.Data, f.Raw, f.Mark)
		return l.write(l.buf)
	}
	return l.write(f.Raw)
}

// encoded sends what an event is in the client's dialect.
func (l *line) encoded(e sdk.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || e.Kind == sdk.KindFinish
	l.buf = l.encoder.Encode(l.buf[:0], e)
	return l.write(l.buf)
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
	l.write(l.x.dialect.ErrorFrame(l.x.told(f), l.x.id, sent))
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
	_ = l.x.out.SetWriteDeadline(l.heard.Add(l.x.server.limits.patience))
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
