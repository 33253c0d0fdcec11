package sim_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"spillway/host/sim"
)

// secure starts a vendor with TLS and returns it with a client that trusts it.
func secure(t *testing.T, script string, http2 bool) (*sim.Endpoint, *http.Transport) {
	t.Helper()
	s := open(t, sim.Vendor{Name: "p", Script: script, TLS: true, Answer: sim.Answer{Tokens: 6, Numbered: true}})
	return s.Vendor("p"), trusting(t, s, http2)
}

func trusting(t *testing.T, s *sim.Server, http2 bool) *http.Transport {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.Certificate()) {
		t.Fatal("no certificate")
	}
	client := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func (a ask) over(t *testing.T, client *http.Transport, e *sim.Endpoint) reply {
	t.Helper()
	resp, err := client.RoundTrip(a.request(soon(t), t, e.URL()))
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{err, resp.StatusCode, resp.Header, string(body)}
}

// A connection ends in as many ways as there are layers, and the vendor serves
// the next one.
func TestLostConnections(t *testing.T) {
	for _, tt := range []struct {
		script string
		http2  bool
		status int    // 0 if no headers come
		want   string // what the client's error says
	}{
		{"cut=3", true, 200, "stream error: stream ID 1; INTERNAL_ERROR; received from peer"},
		{"goaway=3", true, 200, "server sent GOAWAY and closed the connection"},
		{"tls-cut=3", true, 200, "unexpected EOF"},
		{"reset", true, 0, ""}, // a reset, unless a write of the client's own had word of it first
		{"cut=3", false, 200, "unexpected EOF"},
		{"goaway=3", false, 200, "unexpected EOF"},
		{"tls-cut=3", false, 200, "unexpected EOF"},
		{"reset", false, 0, "connection reset by peer"},
	} {
		protocol := map[bool]string{true: " HTTP/2", false: " HTTP/1"}[tt.http2]
		t.Run(tt.script+protocol, func(t *testing.T) {
			e, client := secure(t, tt.script, tt.http2)
			each(t, func(t *testing.T, a ask) {
				if err := e.SetScript(tt.script + "; ok"); err != nil {
					t.Fatal(err)
				}
				client.CloseIdleConnections()
				r := a.over(t, client, e)
				if r.status != tt.status || r.err == nil || !strings.Contains(r.err.Error(), tt.want) {
					t.Fatalf("got %d, %v, want %d, %q", r.status, r.err, tt.status, tt.want)
				}
				if a.stream && tt.status != 0 && r.content(t, a).Text != "w0@p w1@p w2@p" {
					t.Errorf("got %q before the end", r.content(t, a).Text)
				}
				if r := a.over(t, client, e); r.err != nil || r.content(t, a).Text != sixTokens {
					t.Errorf("after that: %v", r.err)
				}
			})
		})
	}
}

// What is HTTPS elsewhere is a cut here.
func TestLostPlainConnections(t *testing.T) {
	for _, script := range []string{"goaway=3", "tls-cut=3"} {
		e := one(t, script)
		each(t, func(t *testing.T, a ask) {
			if r := a.send(t.Context(), t, e); !errors.Is(r.err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: got %v, want %v", script, r.err, io.ErrUnexpectedEOF)
			}
		})
	}
}

// Answers over HTTP/2 end with the server as others do.
func TestCloseTLS(t *testing.T) {
	s := open(t, sim.Vendor{Name: "p", Script: "hang", TLS: true})
	client := trusting(t, s, true)
	failed := make(chan error)
	go func() { failed <- ask{dialect: "openai"}.over(t, client, s.Vendor("p")).err }()
	if _, err := s.Vendor("p").Until(soon(t), func(c []sim.Call) bool { return len(c) == 1 && c[0].Step != "" }); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := <-failed; err == nil {
		t.Error("got an answer")
	}
	if c := s.Calls()[0]; c.End.IsZero() || c.Gone {
		t.Errorf("end %v, gone %v: it was the vendor that left", c.End, c.Gone)
	}
}

func TestStrangersCertificate(t *testing.T) {
	e, _ := secure(t, "ok", true)
	r := roundTrip(ask{dialect: "openai"}.request(t.Context(), t, e.URL()))
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](r.err); !unknown {
		t.Errorf("got %v, want an unknown authority", r.err)
	}
}

// A vendor with TLS closes its port and opens it again as any other.
func TestRefuseTLS(t *testing.T) {
	e, client := secure(t, "refuse", true)
	a := ask{dialect: "anthropic", stream: true}
	if r := a.over(t, client, e); !errors.Is(r.err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want it refused", r.err)
	}
	if err := e.SetScript("ok"); err != nil {
		t.Fatal(err)
	}
	if r := a.over(t, client, e); r.err != nil || !r.content(t, a).Last {
		t.Errorf("open again: got %v", r.err)
	}
}
