package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/gateway"
)

// zeros is n bytes that count themselves as they are taken.
type zeros struct{ left, taken atomic.Int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(int64(len(p)), z.left.Load())
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	z.left.Add(-n)
	z.taken.Add(n)
	return int(n), nil
}

// TestHugeBody: a body above the limit is refused in the dialect's shape, and no
// more than the limit of it is taken in.
func TestHugeBody(t *testing.T) {
	const limit, slack = 1 << 20, 16 << 20 // slack: what the sockets hold
	for _, a := range apis {
		for _, announced := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/announced=%t", a.name, announced), func(t *testing.T) {
				r := newRig(t, "ok", dialects[0].module, gateway.Options{})
				r.server.Scale(limit, time.Minute, time.Minute, time.Minute)
				z := &zeros{}
				z.left.Store(200 << 20)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+a.path, z)
				if err != nil {
					t.Fatal(err)
				}
				if announced {
					req.ContentLength = z.left.Load()
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !json.Valid(got) || !strings.Contains(string(got), "1 MB") {
					t.Errorf("got %d %s, %v", resp.StatusCode, got, err)
				}
				if resp.Header.Get("X-Should-Retry") != "false" || !strings.HasPrefix(resp.Header.Get("X-Spillway-Request-Id"), "req_") {
					t.Errorf("headers: %v", resp.Header)
				}
				if n := z.taken.Load(); n > limit+slack {
					t.Errorf("%d bytes were taken", n)
				}
				r.works()
			})
		}
	}
}

// works checks that a call of somebody else is answered.
func (r *rig) works() {
	r.t.Helper()
	resp, got, err := post(r.t, r.url+dialects[0].path, fmt.Sprintf(dialects[0].body, false))
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Errorf("another call: %d, %v: %s", resp.StatusCode, err, got)
	}
}

// dial connects to the gateway.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.http.Listener.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	return c
}

// TestSlowHeaders: who does not send its headers is cut off.
func TestSlowHeaders(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = gateway.HTTPServer(r.server)
	if srv.Config.ReadHeaderTimeout <= 0 {
		t.Fatal("there is no limit")
	}
	srv.Config.ReadHeaderTimeout = 50 * time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	_, _ = io.Copy(io.Discard, c) // until the server has closed it
	r.works()
}

// TestSlowBody: a body that stops, or creeps, is given up; one that is slow but
// moves is not.
func TestSlowBody(t *testing.T) {
	tests := []struct {
		name         string
		pause, grace time.Duration
		creep        bool
	}{
		{"stops", 50 * time.Millisecond, time.Minute, false},
		{"creeps", time.Minute, 50 * time.Millisecond, true},
	}
	for _, a := range apis {
		for _, tt := range tests {
			t.Run(a.name+"/"+tt.name, func(t *testing.T) {
				r := newRig(t, "ok", dialects[0].module, gateway.Options{})
				r.server.Scale(1<<20, tt.pause, tt.grace, time.Minute)
				c := r.dial()
				fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{", a.path)
				if tt.creep {
					over := make(chan struct{})
					defer close(over)
					go func() {
						for {
							select {
							case <-over:
								return
							case <-time.After(time.Millisecond):
								fmt.Fprint(c, " ")
							}
						}
					}()
				}
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusRequestTimeout || !resp.Close || !json.Valid(got) {
					t.Errorf("got %d %s, %v, close %t", resp.StatusCode, got, err, resp.Close)
				}
				r.works()
			})
		}
	}
}

// TestSlowUpload: a body that takes longer than every pause is read to its end.
func TestSlowUpload(t *testing.T) {
	const pause = 300 * time.Millisecond
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	r.server.Scale(1<<20, pause, time.Minute, time.Minute)
	out, in := io.Pipe()
	go func() {
		body := fmt.Sprintf(dialects[0].body, false)
		for begun := time.Now(); time.Since(begun) < 2*pause; {
			<-time.After(10 * time.Millisecond)
			fmt.Fprint(in, " ")
		}
		fmt.Fprint(in, body)
		in.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+dialects[0].path, out)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("got %d %s, %v", resp.StatusCode, got, err)
	}
}

// TestHalfOpen: a thousand connections that ask nothing keep nobody out, and the
// lengths that they announce take no room.
func TestHalfOpen(t *testing.T) {
	const room = 150 << 20 // of both ends of a thousand connections, race detector included
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 1000 {
		c := r.dial()
		switch i % 3 {
		case 0: // says nothing
		case 1:
			fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: ")
		case 2:
			fmt.Fprint(c, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n{")
		}
	}
	r.works()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > room {
		t.Errorf("%d MB are held", grown>>20)
	}
}

// TestClientThatDoesNotRead: it is given up, its vendor's call ends, and others
// are served meanwhile.
func TestClientThatDoesNotRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		rows string
		loud bool // the vendor does not stop talking
	}{
		{"loud vendor", keep(never, never), true},
		{"silent vendor", keep(1, 10), false}, // only keep-alives are not taken
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlayer(t, dialects[0])
			r := openRig(t, p.row()+tt.rows, gateway.Options{})
			r.server.Scale(1<<20, time.Minute, time.Minute, 100*time.Millisecond)
			asked, ended := make(chan struct{}), make(chan struct{})
			p.play(func(s *stage) bool {
				close(asked)
				word := strings.Repeat("x", 32<<10)
				for tt.loud && s.ctx.Err() == nil {
					s.say(text(word))
				}
				<-s.ctx.Done()
				close(ended)
				return false
			})
			c := r.dial()
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetReadBuffer(4 << 10)
			}
			body := fmt.Sprintf(dialects[0].body, true)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", dialects[0].path, len(body), body)
			<-asked
			p.play(func(s *stage) bool { s.say(start(), text("one"), stop()); return true })
			if resp, got, err := post(t, r.url+dialects[0].path, body); err != nil || !strings.Contains(string(got), "one") {
				t.Errorf("another call: %d, %v: %s", resp.StatusCode, err, got)
			}
			if !tt.loud {
				c.Close() // a few bytes always fit in between
			}
			<-ended
		})
	}
}

// TestConnectionIsUsedAgain: what one answer's deadline was does not end the next
// one on the same connection.
func TestConnectionIsUsedAgain(t *testing.T) {
	const patience = 50 * time.Millisecond
	p := newPlayer(t, dialects[0])
	r := openRig(t, p.row(), gateway.Options{})
	r.server.Scale(1<<20, time.Minute, time.Minute, patience)
	p.play(func(s *stage) bool { s.say(start(), text("one"), stop()); return true })
	if _, _, err := post(t, r.url+dialects[0].path, fmt.Sprintf(dialects[0].body, true)); err != nil {
		t.Fatal(err)
	}
	<-time.After(2 * patience) // nothing tells that it has passed
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
