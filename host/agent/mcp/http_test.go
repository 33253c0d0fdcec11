package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/host/agent/tool"
)

// site is an MCP server on the network that counts what reaches it. It is written
// out, so that it can break off anywhere.
type site struct {
	*httptest.Server
	calls    atomic.Int32 // tools/call
	sessions atomic.Int32 // initialize
	lists    atomic.Int32 // how often it was asked for its tools
	more     atomic.Bool  // it has another tool
	call     http.HandlerFunc
	stream   http.HandlerFunc // of GET; none if nil

	mu        sync.Mutex
	seen      http.Header // of the last call
	body      string
	cancelled chan struct{}
}

func newSite(t *testing.T, call http.HandlerFunc) *site {
	t.Helper()
	s := &site{call: call, cancelled: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

const textReply = `{"content":[{"type":"text","text":"done"}]}`

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && s.stream != nil:
		s.stream(w, r)
		return
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case r.Method == http.MethodDelete:
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var req struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal(body, &req); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Header.Set("Id", string(req.ID))
	switch req.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", s.sessions.Add(1)))
		reply(w, r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"site","version":"1"}}`)
	case "tools/list":
		s.lists.Add(1)
		tools := `{"name":"do","inputSchema":{"type":"object"}}`
		if s.more.Load() {
			tools += `,{"name":"more","inputSchema":{"type":"object"}}`
		}
		reply(w, r, `{"tools":[`+tools+`]}`)
	case "tools/call":
		s.mu.Lock()
		s.seen, s.body = r.Header.Clone(), string(body)
		s.mu.Unlock()
		s.calls.Add(1)
		s.call(w, r)
	case "notifications/cancelled":
		close(s.cancelled)
		w.WriteHeader(http.StatusAccepted)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// reply answers the request in JSON.
func reply(w http.ResponseWriter, r *http.Request, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.Header.Get("Id"), result)
}

// breakOff closes the connection without an answer.
func breakOff(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func answer(result string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { reply(w, r, result) }
}

// TestCallOnTheNetwork: what happened is known, not run, or unknown; and whatever
// comes, the call is sent once.
func TestCallOnTheNetwork(t *testing.T) {
	t.Parallel()
	const known, notRun, unknown = "known", "not run", "unknown"
	rpcError := func(code int, kind int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(kind)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, r.Header.Get("Id"), code)
		}
	}
	for _, tt := range []struct {
		name string
		call http.HandlerFunc
		want string
	}{
		{"result", answer(textReply), known},
		{"null result", answer("null"), known},
		{"method not found", rpcError(-32601, 200), known},
		{"invalid params", rpcError(-32602, 400), known},
		{"internal error", rpcError(-32603, 200), known},
		{"error of the tool", rpcError(17, 200), known},
		{"wants a person at an address", rpcError(-32042, 200), known},
		{"asks for input", answer(`{"resultType":"input_required","inputRequests":{},"requestState":"x"}`), known},
		{"upstream closed", rpcError(-32000, 200), unknown},
		{"upstream timed out", rpcError(-32001, 200), unknown},
		{"no session", rpcError(-32000, 400), notRun},
		{"unauthorized", status(401), notRun},
		{"session is gone", status(404), notRun},
		{"too many requests", status(429), notRun},
		{"request timeout", status(408), unknown},
		{"internal server error", status(500), unknown},
		{"unavailable", status(503), unknown},
		{"broken off", breakOff, unknown},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "<html>")
		}, unknown},
		{"no type", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, unknown},
		{"cut JSON", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1000")
			reply(w, r, textReply)
		}, unknown},
		{"too long", func(w http.ResponseWriter, r *http.Request) {
			reply(w, r, `{"content":[{"type":"text","text":"`+strings.Repeat("x", maxMessage)+`"}]}`)
		}, unknown},
		{"cut stream", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
		}, unknown},
		{"sent elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/", http.StatusTemporaryRedirect)
		}, unknown},
		{"sent for another method", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusFound)
		}, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t, tt.call)
			// net/http repeats what has such a header, unless it is kept from it.
			s := open(t, row{"url": site.URL + "/mcp", "headers": row{"Idempotency-Key": "same-for-all", "Authorization": "Bearer token-0123456789"}})
			res, err := use(t.Context(), t, s, "do", `{"a":12345678901234567890}`)
			got := known
			switch {
			case errors.Is(err, tool.ErrNotRun):
				got = notRun
			case err != nil:
				got = unknown
			}
			if got != tt.want {
				t.Errorf("got %s (%q, %v), want %s", got, textOf(res), err, tt.want)
			}
			if n := site.calls.Load(); n != 1 {
				t.Errorf("sent %d times, want once", n)
			}
			if err != nil && strings.Contains(err.Error(), "token-0123456789") {
				t.Errorf("%q has the secret", err)
			}
			site.mu.Lock()
			defer site.mu.Unlock()
			if got := site.seen.Get("Authorization"); got != "Bearer token-0123456789" {
				t.Errorf("header %q", got)
			}
			for _, want := range []string{`"spillway/key":"key-1"`, `{"a":12345678901234567890}`} {
				if !strings.Contains(site.body, want) {
					t.Errorf("body %s, want %s in it", site.body, want)
				}
			}
		})
	}
}

// After its session is gone the next call begins a new one; nothing that was sent
// in the old one is repeated.
func TestNewSession(t *testing.T) {
	t.Parallel()
	site := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") == "session-1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		reply(w, r, textReply)
	})
	s := open(t, row{"url": site.URL})
	first := s.current
	if _, err := use(t.Context(), t, s, "do", `{}`); !errors.Is(err, tool.ErrNotRun) {
		t.Fatalf("got %v", err)
	}
	<-first.ended
	if got := mustUse(t, s, "do", `{}`); got != "done" {
		t.Errorf("got %q", got)
	}
	if calls, sessions := site.calls.Load(), site.sessions.Load(); calls != 2 || sessions != 2 {
		t.Errorf("%d calls in %d sessions, want 2 in 2", calls, sessions)
	}
}

// A broken event stream is resumed where it was: the reply is asked for again,
// not the call.
func TestStreamIsResumed(t *testing.T) {
	t.Parallel()
	site := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 7\nretry: 1\ndata:\n\n")
	})
	site.stream = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "7" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		site.mu.Lock()
		defer site.mu.Unlock()
		fmt.Fprintf(w, "id: 8\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", site.seen.Get("Id"), textReply)
	}
	s := open(t, row{"url": site.URL})
	if got := mustUse(t, s, "do", `{}`); got != "done" {
		t.Errorf("got %q", got)
	}
	if n := site.calls.Load(); n != 1 {
		t.Errorf("sent %d times, want once", n)
	}
}

// The server tells on the stream of its own messages that its tools changed.
func TestToolsChangeOnTheNetwork(t *testing.T) {
	t.Parallel()
	site := newSite(t, answer(textReply))
	change := make(chan struct{})
	site.stream = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		<-change
		site.more.Store(true)
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	s := open(t, row{"url": site.URL})
	close(change)
	untilTools(s, 2)
	mustUse(t, s, "more", `{}`)
}

// A server that says all the time that its tools changed is not asked all the time.
func TestToolsChangeAllTheTime(t *testing.T) {
	t.Parallel()
	site := newSite(t, answer(textReply))
	flood := make(chan struct{}, 1)
	site.stream = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		ctl := http.NewResponseController(w)
		each := time.NewTicker(2 * time.Millisecond) // time enough to list them
		defer each.Stop()
		for n := 1; r.Context().Err() == nil; n++ {
			<-each.C
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
			ctl.Flush()
			if n == 100 {
				flood <- struct{}{}
			}
		}
	}
	s := open(t, row{"url": site.URL})
	begun := time.Now()
	<-flood
	mustUse(t, s, "do", `{}`)
	if n, most := int(site.lists.Load()), 3+int(time.Since(begun)/refreshPause); n > most {
		t.Errorf("asked %d times, want at most %d", n, most)
	}
}

func TestTimeoutOnTheNetwork(t *testing.T) {
	t.Parallel()
	site := newSite(t, nil)
	site.call = func(_ http.ResponseWriter, r *http.Request) { <-site.cancelled }
	s := open(t, row{"url": site.URL, "timeoutMs": 200})
	_, err := use(t.Context(), t, s, "do", `{}`)
	if err == nil || !strings.Contains(err.Error(), "no reply within 200ms") {
		t.Errorf("got %v", err)
	}
	<-site.cancelled
	if n := site.calls.Load(); n > 1 {
		t.Errorf("sent %d times, want once", n)
	}
}

func TestServerIsGone(t *testing.T) {
	t.Parallel()
	site := newSite(t, answer(textReply))
	s := open(t, row{"url": site.URL})
	site.Close()
	if _, err := use(t.Context(), t, s, "do", `{}`); !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v", err)
	}
}

// A server may say nothing on the stream of its own messages, or move within
// itself.
func TestOddServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		stream http.HandlerFunc
	}{
		{"stream breaks off", breakOff},
		{"stream is a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }},
		{"stream is forbidden", status(http.StatusForbidden)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			site := newSite(t, answer(textReply))
			site.stream = tt.stream
			s := open(t, row{"url": site.URL})
			mustUse(t, s, "do", `{}`)
		})
	}
	t.Run("moved", func(t *testing.T) {
		t.Parallel()
		site := newSite(t, answer(textReply))
		moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp" {
				http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
				return
			}
			site.ServeHTTP(w, r)
		}))
		defer moved.Close()
		s := open(t, row{"url": moved.URL + "/mcp"})
		mustUse(t, s, "do", `{}`)
		s.Close()
		if n := site.calls.Load(); n != 1 {
			t.Errorf("sent %d times, want once", n)
		}
	})
}

// Credentials do not follow a redirection to another host.
func TestRedirectedAway(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	from := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer from.Close()
	_, err := Open(t.Context(), options(t, row{"url": from.URL, "headers": row{"Authorization": "Bearer token-0123456789"}}))
	if err == nil || !strings.Contains(err.Error(), "redirected to another origin") || reached.Load() {
		t.Errorf("got %v, other host reached: %t", err, reached.Load())
	}
}

func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(http.NotFoundHandler())
	defer site.Close()
	if _, err := Open(t.Context(), options(t, row{"url": site.URL})); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
}

func TestPace(t *testing.T) {
	var p pace
	at := time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond} {
		if got := p.pause(at); got != want || p.loop() {
			t.Errorf("after %d failures: pause %s, want %s; loop %t", i, got, want, p.loop())
		}
		p.ended(at, false)
	}
	if !p.loop() {
		t.Error("no end to it")
	}
	if got := p.pause(at.Add(time.Second)); got != 600*time.Millisecond {
		t.Errorf("a second later: pause %s", got)
	}
	if p.ended(at, true); p.loop() || p.pause(at) != 0 {
		t.Error("an answer changes nothing")
	}
}
