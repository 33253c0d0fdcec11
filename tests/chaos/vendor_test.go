package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// window is what a vendor does for a while: a fault, to a share of its requests.
type window struct {
	fault string
	share float64
}

// vendor is an HTTP server that answers as its window says, in any dialect. What
// the marker of a call asks for goes before: a refusal for its own fault, or silence
// until the caller is gone.
type vendor struct {
	name  string
	addr  string
	calls *book
	pace  pace
	seed  uint64

	window atomic.Pointer[window]
	failed atomic.Int64 // when a fault was played last, Unix ns

	mu       sync.Mutex
	listener net.Listener // nil while nobody listens
	server   *http.Server
	wg       sync.WaitGroup
}

// startVendor starts a vendor at an address whose port it chooses, once.
func startVendor(t *testing.T, v *vendor, ip string) {
	t.Helper()
	v.server = &http.Server{Handler: v, ErrorLog: log.New(io.Discard, "", 0)}
	v.addr = net.JoinHostPort(ip, "0")
	if err := v.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v.server.Close()
		v.wg.Wait()
	})
}

func (v *vendor) url() string { return "http://" + v.addr + "/v1" }

// open listens, where it listened before.
func (v *vendor) open() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	l, err := net.Listen("tcp", v.addr)
	if err != nil {
		return err
	}
	v.addr, v.listener = l.Addr().String(), l
	v.server.SetKeepAlivesEnabled(true)
	v.wg.Go(func() { _ = v.server.Serve(l) }) // ends when it is closed
	return nil
}

// shut listens no more; answers under way go on, and their connections end.
func (v *vendor) shut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed.Store(time.Now().UnixNano())
	v.listener.Close()
	v.server.SetKeepAlivesEnabled(false)
}

// request is what a vendor reads of a request, beside the marker of its call.
type request struct {
	Stream  bool `json:"stream"`
	Options struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// maxRequest bounds a request; those of the harness have some hundred bytes.
const maxRequest = 1 << 20

// ServeHTTP answers one request.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	dialect := wireOf(r.URL.Path)
	c := v.calls.find(body)
	var in request
	if dialect == noWire || c == nil || json.Unmarshal(body, &in) != nil {
		http.NotFound(w, r)
		return
	}
	h := c.hit(v.name)
	defer h.ended()
	x := &exchange{
		w: w, ctx: r.Context(), pace: v.pace, wire: dialect, stream: in.Stream, hit: h,
		answer: answer{vendor: v.name, call: c.n, words: c.words, usage: in.Options.Usage},
	}
	x.at = int(c.dice(v.seed, h.n, 1) * float64(c.words+1))
	switch win := v.window.Load(); {
	case c.wants == itsFault:
		h.fault = theirs
		x.refuse(http.StatusBadRequest, "invalid_request_error", "", fmt.Sprintf("messages: call %d is wrong", c.n))
	case c.wants == toLeave:
		h.fault = "left"
		x.wait(untilGone)
		h.gone = x.ctx.Err() != nil
	case win != nil && win.fault != "" && c.dice(v.seed, h.n, 0) < win.share:
		h.fault = win.fault
		v.failed.Store(time.Now().UnixNano())
		defer func() { v.failed.Store(time.Now().UnixNano()) }()
		faults[win.fault].play(x)
	default:
		x.sound()
	}
}

// theirs is the fault of a caller's own.
const theirs = "caller's fault"

// marker is what the text of a call begins with; its number follows.
var marker = []byte("chaos-")

// book has the calls under way, and the last ones that are over.
type book struct {
	mu    sync.Mutex
	calls map[int64]*call
}

// keepCalls is how many calls before the present one are kept, so that a request
// that reaches a vendor when its call is over is known.
const keepCalls = 20_000

func (b *book) add(c *call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[c.n] = c
	delete(b.calls, c.n-keepCalls)
}

// find is the call whose marker stands in a request.
func (b *book) find(body []byte) *call {
	_, rest, ok := bytes.Cut(body, marker)
	if !ok {
		return nil
	}
	var n int64
	for _, c := range rest[:min(len(rest), 18)] {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[n]
}

// hit is a request that reached a vendor.
type hit struct {
	call   *call
	n      int // of the call, from 0
	vendor string
	begin  time.Time

	// Set by the vendor's handler, which has ended once end is set.
	fault string // "" for a sound answer
	said  int    // words that were sent as a stream
	whole bool   // a sound answer was sent to its end
	gone  bool   // the host hung up on a call whose caller left
	end   time.Time
}

func (h *hit) ended() {
	h.call.mu.Lock()
	defer h.call.mu.Unlock()
	h.end = time.Now()
}

// dice is a number from 0 to 1 that follows from the seed and what it is for.
func (c *call) dice(seed uint64, hit, what int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %d %d", seed, c.n, hit, what)
	return float64(h.Sum64()>>11) / (1 << 53)
}

// untilGone is longer than any call takes.
const untilGone = time.Minute

// exchange is one request and how it is answered.
type exchange struct {
	w      http.ResponseWriter
	ctx    context.Context
	pace   pace
	wire   wire
	stream bool
	hit    *hit
	answer answer
	at     int // how many words come before a fault
}

// wait returns after d, or earlier when the host hangs up.
func (x *exchange) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-x.ctx.Done():
	}
}

func (x *exchange) head() {
	kind := "application/json"
	if x.stream {
		kind = "text/event-stream"
	}
	x.w.Header().Set("Content-Type", kind)
}

func (x *exchange) send(s string) { _, _ = io.WriteString(x.w, s) } // who hangs up is seen elsewhere

func (x *exchange) flush() { _ = http.NewResponseController(x.w).Flush() }

// sound answers as a vendor should.
func (x *exchange) sound() {
	x.head()
	if !x.stream {
		x.send(x.answer.whole(x.wire))
	} else {
		f := x.answer.frames(x.wire)
		x.send(f.start)
		for _, w := range f.words {
			x.send(w)
		}
		x.send(f.finish + f.last)
		x.hit.said = len(f.words)
	}
	x.hit.whole = true
}

// begin sends as much of an answer as comes before a fault.
func (x *exchange) begin() {
	x.head()
	if !x.stream {
		all := x.answer.whole(x.wire)
		x.send(all[:len(all)*x.at/(x.answer.words+2)])
	} else {
		f := x.answer.frames(x.wire)
		x.send(f.start)
		for _, w := range f.words[:x.at] {
			x.send(w)
		}
		x.hit.said = x.at
	}
	x.flush()
}

// refuse sends an error.
func (x *exchange) refuse(status int, kind, code, message string) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	x.send(x.wire.refusal(kind, code, message))
}

// reset breaks the connection as a process that dies does.
func (x *exchange) reset() {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(errors.Join(http.ErrAbortHandler, err))
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}

// cut ends the answer by breaking the connection.
func (x *exchange) cut() { panic(http.ErrAbortHandler) }
