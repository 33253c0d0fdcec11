package state

import (
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy stands between a store and its server, and can hold back every byte.
type proxy struct {
	listener net.Listener
	socket   string
	gate     sync.RWMutex // held for writing: nothing passes
	held     bool         // of the test's goroutine
	wg       sync.WaitGroup

	mu       sync.Mutex
	conns    map[net.Conn]bool
	accepted int
}

// newProxy listens in front of a socket, for TLS if there is a config.
func newProxy(t *testing.T, socket string, config *tls.Config) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	p := &proxy{listener: l, socket: socket, conns: map[net.Conn]bool{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.release()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.socket)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.accepted++
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(server, client) })
		p.wg.Go(func() { p.pass(client, server) })
	}
}

func (p *proxy) pass(to, from net.Conn) {
	_, _ = io.Copy(gated{to, p}, from)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range []net.Conn{to, from} {
		c.Close()
		delete(p.conns, c)
	}
}

type gated struct {
	io.Writer
	p *proxy
}

func (g gated) Write(b []byte) (int, error) {
	g.p.gate.RLock()
	defer g.p.gate.RUnlock()
	return g.Writer.Write(b)
}

// hold lets nothing pass until release.
func (p *proxy) hold() {
	p.gate.Lock()
	p.held = true
}

func (p *proxy) release() {
	if p.held {
		p.held = false
		p.gate.Unlock()
	}
}

// connections is how many there have been.
func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// cut ends every connection that there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}
