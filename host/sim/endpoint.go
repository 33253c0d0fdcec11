package sim

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	// reopenEvery is how often a port is tried again that somebody else took
	// while it was refusing.
	reopenEvery = 50 * time.Millisecond
)

// Endpoint is one running vendor.
type Endpoint struct {
	vendor Vendor
	log    *callLog
	server *http.Server

	ctx  context.Context // of the server's life, set once by start
	addr string          // set once by start

	mu       sync.Mutex // guards the four below
	script   *playback
	listener net.Listener // nil while refusing, before start and after stop
	reopen   time.Time    // when a goroutine will look at the door again, zero for none
	stopped  bool

	// wg counts the serving goroutines, connections and handlers. It is raised
	// only under mu while not stopped, or by something that is counted itself.
	// HTTP/2's handlers may begin when their connection is gone.
	wg sync.WaitGroup
}

func newEndpoint(v Vendor, keep bool) (*Endpoint, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	script, err := Parse(v.Script)
	if err != nil {
		return nil, fmt.Errorf("vendor %q: %w", v.Name, err)
	}
	e := &Endpoint{vendor: v, log: newCallLog(keep), script: newPlayback(script, time.Now())}
	e.server = &http.Server{
		Handler:           http.HandlerFunc(e.handle),
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          stdlog.New(io.Discard, "", 0),
		BaseContext:       func(net.Listener) context.Context { return e.ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				e.wg.Add(1)
			case http.StateClosed:
				e.wg.Done()
			}
		},
		ConnContext: withConn,
	}
	return e, nil
}

// start opens the port. The certificate is for a vendor with TLS.
func (e *Endpoint) start(ctx context.Context, addr string, certificate tls.Certificate) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ctx = ctx
	e.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	e.addr = l.Addr().String()
	e.serve(l)
	e.script = newPlayback(e.script.script, time.Now())
	return e.door(time.Now())
}

// serve opens the door; e.mu is held.
func (e *Endpoint) serve(l net.Listener) {
	e.listener = l
	e.server.SetKeepAlivesEnabled(true)
	if e.vendor.TLS {
		e.wg.Go(func() { e.server.ServeTLS(l, "", "") })
		return
	}
	e.wg.Go(func() { e.server.Serve(l) })
}

func (e *Endpoint) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stopped = true
	if e.listener != nil {
		e.listener.Close() // the server may not know it yet
		e.listener = nil
	}
	e.server.Close()
}

// enter counts a handler, unless the vendor has stopped.
func (e *Endpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return false
	}
	e.wg.Add(1)
	return true
}

// Name is the vendor's name.
func (e *Endpoint) Name() string { return e.vendor.Name }

// Models are the models it serves.
func (e *Endpoint) Models() []string { return e.vendor.Models }

// URL is where the vendor listens, without a path or a slash at the end. It
// stays the same while the vendor refuses connections.
func (e *Endpoint) URL() string {
	if e.vendor.TLS {
		return "https://" + e.addr
	}
	return "http://" + e.addr
}

// SetScript replaces the script and starts it from its first step. When it
// returns, the port is closed or open as the script says; a client that keeps
// an idle connection to a port that closes may see a reset once (in "ok;
// refuse" none is left idle). Answers under way end as they began. A text that
// does not parse changes nothing.
func (e *Endpoint) SetScript(text string) error {
	script, err := Parse(text)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.script = newPlayback(script, time.Now())
	return e.door(time.Now())
}

// Script returns the script in force in its text form.
func (e *Endpoint) Script() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.script.script.String()
}

// take consumes the step for one request.
func (e *Endpoint) take(r *request, key string) *step {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	s := e.script.take(r, key, now)
	// The next step may close the port. It must be closed before the caller has
	// this answer; a failure to open it again is not this request's.
	_ = e.door(now)
	return s
}

// door closes or opens the port as the current step says; e.mu is held.
// Closing it lets answers under way finish and closes idle connections.
func (e *Endpoint) door(now time.Time) error {
	if e.stopped || e.addr == "" {
		return nil
	}
	refuse, until := e.script.refusing(now)
	if refuse {
		if e.listener != nil {
			e.listener.Close()
			e.listener = nil
			e.server.SetKeepAlivesEnabled(false)
		}
		if !until.IsZero() {
			e.lookAgain(until)
		}
		return nil
	}
	if e.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", e.addr)
	if err != nil {
		e.lookAgain(now.Add(reopenEvery))
		return err
	}
	e.serve(l)
	return nil
}

// lookAgain calls door at t; e.mu is held.
func (e *Endpoint) lookAgain(t time.Time) {
	if e.reopen.Equal(t) {
		return
	}
	e.reopen = t
	e.wg.Go(func() {
		if wait(e.ctx, time.Until(t)) != nil {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.reopen.Equal(t) {
			e.reopen = time.Time{}
		}
		_ = e.door(time.Now()) // it looks again by itself if it fails
	})
}

// wait returns after d, or with the context's error if that ends first.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
