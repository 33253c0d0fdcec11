package tests

import (
	"bufio"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/tests/internal/rig"
)

var idleStreams = flag.Int("idle.streams", 1000, "how many streams TestIdleStreams keeps open at once")

// idleStream is what a stream may take of serve's memory while nothing is said. The
// race detector keeps several words more for each.
const idleStream = 64 << 10

// quietVendor answers streams with a word, then one more now and then, which keeps
// them from being given up as silent, and ends them all when it is told to. Like
// real vendors it speaks HTTP/2, so that many streams share a connection.
type quietVendor struct {
	*httptest.Server
	open atomic.Int64
	end  chan struct{}
}

func newQuietVendor(t *testing.T) *quietVendor {
	v := &quietVendor{end: make(chan struct{})}
	v.Server = httptest.NewUnstartedServer(v)
	v.EnableHTTP2 = true
	v.StartTLS()
	t.Cleanup(v.Close)
	return v
}

// certificate is a file by which others trust the vendor.
func (v *quietVendor) certificate(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "vendor.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: v.Certificate().Raw})
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (v *quietVendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	word := func() {
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}`+"\n\n")
		_ = out.Flush()
	}
	word()
	v.open.Add(1)
	defer v.open.Add(-1)
	again := time.NewTicker(8 * time.Second)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			word()
		case <-r.Context().Done():
			return
		case <-v.end:
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
	}
}

// TestIdleStreams: a thousand clients, or as many as are asked for, wait at once for
// vendors that think. None is cut or refused, and each takes little memory.
func TestIdleStreams(t *testing.T) {
	n := *idleStreams
	vendor := newQuietVendor(t)
	s := rig.Serve(t, fmt.Sprintf("- {id: v, name: provider-openai, config: {base_url: %q, models: [m], key: k}}\n", vendor.URL+"/v1"),
		"SSL_CERT_FILE="+vendor.certificate(t))
	streams := make([]*idleClient, n)
	open := func(from, to int) {
		var wg sync.WaitGroup
		places := make(chan struct{}, 32)
		for i := from; i < to; i++ {
			places <- struct{}{}
			wg.Go(func() {
				defer func() { <-places }()
				streams[i] = openIdle(t, s.URL)
			})
		}
		wg.Wait()
	}
	warm := n / 10 // what is needed once is there
	open(0, warm)
	before := s.Memory()
	open(warm, n)
	after := s.Memory()
	if t.Failed() {
		t.FailNow()
	}
	if got := vendor.open.Load(); got != int64(n) {
		t.Errorf("%d streams are open at the vendor, want %d", got, n)
	}
	each := (after - before) / int64(n-warm)
	t.Logf("%d streams: %d KB each, %d MB in all", n, each>>10, after>>20)
	if limit := int64(idleStream); each > limit && !rig.Race {
		t.Errorf("a stream takes %d KB, want at most %d", each>>10, limit>>10)
	}
	close(vendor.end)
	for i, c := range streams {
		if err := c.finish(); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
}

// idleClient is a client whose answer is under way. It is a plain connection: a
// thousand of package http's would be what is measured.
type idleClient struct {
	conn net.Conn
	r    *bufio.Reader
}

// openIdle begins a stream and reads its first word.
func openIdle(t *testing.T, url string) *idleClient {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { conn.Close() })
	const body = `{"model":"v/m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	c := &idleClient{conn: conn, r: bufio.NewReaderSize(conn, 1<<10)}
	if err := c.until("word"); err != nil {
		t.Errorf("no word: %v", err)
	}
	return c
}

// finish reads to the end, which must be a good one.
func (c *idleClient) finish() error {
	if err := c.until("[DONE]"); err != nil {
		return err
	}
	rest, err := io.ReadAll(c.r)
	if err == nil && !strings.HasSuffix(string(rest), "0\r\n\r\n") {
		err = fmt.Errorf("the answer ends with %q", rest)
	}
	return err
}

// until reads lines to the first that has the text.
func (c *idleClient) until(text string) error {
	for {
		line, err := c.r.ReadString('\n')
		if err != nil || strings.Contains(line, text) {
			return err
		}
	}
}
