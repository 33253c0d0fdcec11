package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spillway/tests/bench/mark"
	"spillway/tests/bench/stats"
)

const (
	maxBody     = 1 << 20
	maxArrivals = 1 << 17
	maxSwitches = 1 << 10
)

// vendor is one vendor, on an address that it keeps.
type vendor struct {
	name      string
	address   string
	turned    *turnedAway // shared by the vendors of a process
	behaviour atomic.Pointer[Behaviour]

	mu       sync.Mutex
	listener net.Listener
	server   *http.Server // nil while the port is closed
	serving  sync.WaitGroup
	requests int
	finished int
	arrivals []time.Duration
	switches []time.Duration
}

// newVendor opens a vendor that answers with 100 chunks, or 1 KB.
func newVendor(name, address string, turned *turnedAway) (*vendor, error) {
	v := &vendor{name: name, address: address, turned: turned}
	return v, v.behave(Behaviour{Chunks: 100, Bytes: 1 << 10})
}

// behave changes the behaviour and counts anew.
func (v *vendor) behave(b Behaviour) error {
	if err := b.check(); err != nil {
		return err
	}
	v.behaviour.Store(&b)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests, v.finished, v.arrivals, v.switches = 0, 0, v.arrivals[:0], nil
	if b.Mode == Refuse {
		return v.shut()
	}
	if v.server != nil {
		return nil
	}
	l, err := net.Listen("tcp", v.address)
	if err != nil {
		return err
	}
	v.address, v.listener = l.Addr().String(), l
	server := &http.Server{Handler: v}
	v.server = server
	v.serving.Go(func() { _ = server.Serve(l) }) // until it is shut
	return nil
}

// shut closes the port and all connections. The caller holds mu.
func (v *vendor) shut() error {
	if v.server == nil {
		return nil
	}
	_ = v.listener.Close() // the server may not have it yet
	err := v.server.Close()
	v.server = nil
	v.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (v *vendor) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shut()
}

func (v *vendor) seen() Seen {
	v.mu.Lock()
	defer v.mu.Unlock()
	slices.Sort(v.arrivals)
	return Seen{Requests: v.requests, Finished: v.finished, Arrival: stats.Quantile(v.arrivals, .5), Switches: slices.Clone(v.switches)}
}

// arrived counts a request that came now.
func (v *vendor) arrived(m mark.Mark, now time.Time) {
	turned, again := v.turned.at(m.Seq)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.requests++
	if len(v.arrivals) < maxArrivals {
		v.arrivals = append(v.arrivals, now.Sub(m.At))
	}
	if again && len(v.switches) < maxSwitches {
		v.switches = append(v.switches, now.Sub(turned))
	}
}

// ServeHTTP answers as the vendor behaves now.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, modelList)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	now := time.Now()
	m, _, marked := mark.Find(body)
	if err != nil || !marked || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, "want a chat completion with a mark", http.StatusBadRequest)
		return
	}
	v.arrived(m, now)
	b := v.behaviour.Load()
	if b.Mode != OK {
		v.turned.add(m.Seq)
	}
	switch b.Mode {
	case Status:
		refuse(w, b)
	case Reset:
		reset(w)
	case Hang:
		<-r.Context().Done()
	default:
		if bytes.Contains(body, wantsStream) {
			err = v.stream(w, r.Context(), b, bytes.Contains(body, wantsUsage))
		} else {
			err = v.whole(w, b)
		}
		if errors.Is(err, errDied) {
			panic(http.ErrAbortHandler) // the server breaks the connection
		}
		if err == nil {
			v.mu.Lock()
			v.finished++
			v.mu.Unlock()
		}
	}
}

var errDied = errors.New("died on purpose")

// stream writes and flushes each chunk by itself, as vendors do.
func (v *vendor) stream(w http.ResponseWriter, ctx context.Context, b *Behaviour, usage bool) error {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	send := func(frames []byte) error {
		if _, err := w.Write(frames); err != nil {
			return err
		}
		return flusher.Flush()
	}
	began := time.Now()
	buf := appendHead(nil)
	for i := range b.Chunks {
		if b.Mode == Die && i == b.DieAfter {
			return errDied
		}
		if err := waitUntil(ctx, began.Add(time.Duration(i)*b.Gap)); err != nil {
			return err
		}
		buf = appendChunk(buf, mark.Mark{Name: v.name, Seq: i, At: time.Now()})
		if err := send(buf); err != nil {
			return err
		}
		buf = buf[:0]
	}
	return send(appendTail(buf, b.Chunks, usage))
}

func (v *vendor) whole(w http.ResponseWriter, b *Behaviour) error {
	if b.Mode == Die {
		return errDied
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(appendWhole(nil, mark.Mark{Name: v.name, At: time.Now()}, b.Bytes))
	return err
}

// waitUntil waits for a moment that may have passed.
func waitUntil(ctx context.Context, due time.Time) error {
	wait := time.Until(due)
	if wait <= 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reset closes a connection so that its other end is told of an error.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
