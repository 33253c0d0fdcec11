package failure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"

	"spillway/sdk"
)

func TestFromError(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	readErr := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	tests := []struct {
		name  string
		err   error
		phase sdk.Phase
		code  sdk.Code
		cause sdk.Cause
		scope sdk.Scope
	}{
		{"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "", sdk.CodeTransport, sdk.CauseRefused, sdk.ScopeVendor},
		{"no route", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "", sdk.CodeTransport, sdk.CauseNoRoute, sdk.ScopeVendor},
		{"no network", dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "", sdk.CodeTransport, sdk.CauseNoRoute, sdk.ScopeVendor},
		{"no file left", dial(os.NewSyscallError("socket", syscall.EMFILE)), "", sdk.CodeLocalNetwork, "", sdk.ScopeNone},
		{"dns", dial(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), "", sdk.CodeTransport, sdk.CauseDNS, sdk.ScopeVendor},
		{"dns timeout", dial(&net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}), "", sdk.CodeTransport, sdk.CauseDNS, sdk.ScopeVendor},
		{"connect timeout", dial(os.ErrDeadlineExceeded), "", sdk.CodeTimeout, "", sdk.ScopeVendor},
		{"read timeout", readErr(os.ErrDeadlineExceeded), "", sdk.CodeTimeout, "", sdk.ScopeRoute},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), "", sdk.CodeTimeout, "", sdk.ScopeRoute},
		{"canceled", fmt.Errorf("x: %w", context.Canceled), "", sdk.CodeAborted, "", sdk.ScopeNone},
		{"reset", readErr(os.NewSyscallError("read", syscall.ECONNRESET)), sdk.PhaseStream, sdk.CodeTransport, sdk.CauseReset, sdk.ScopeRoute},
		{"broken pipe", readErr(os.NewSyscallError("write", syscall.EPIPE)), "", sdk.CodeTransport, sdk.CauseReset, sdk.ScopeRoute},
		{"closed before an answer", &url.Error{Op: "Post", URL: "x", Err: io.EOF}, sdk.PhaseTransport, sdk.CodeTransport, sdk.CauseReset, sdk.ScopeRoute},
		{"closed within a stream", io.ErrUnexpectedEOF, sdk.PhaseStream, sdk.CodeTransport, sdk.CauseCut, sdk.ScopeRoute},
		{"handshake alert", &net.OpError{Op: "remote error", Err: tls.AlertError(40)}, "", sdk.CodeTransport, sdk.CauseTLS, sdk.ScopeVendor},
		{"unknown", errors.New("odd"), "", sdk.CodeTransport, sdk.CauseReset, sdk.ScopeRoute},
		{"a failure made elsewhere", fmt.Errorf("x: %w", sdk.NewFailure(sdk.CodeTimeout, "limit:idle", "")), "", sdk.CodeTimeout, "", sdk.ScopeRoute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := From(Evidence{Err: tt.err, Phase: tt.phase})
			if f.Code != tt.code || f.Cause != tt.cause || f.Scope != tt.scope {
				t.Errorf("got %s %q %s by %s, want %s %q %s", f.Code, f.Cause, f.Scope, f.Rule, tt.code, tt.cause, tt.scope)
			}
		})
	}
}

// The errors of a real client, not of our idea of them.
func TestFromRealErrors(t *testing.T) {
	get := func(c *http.Client, u string) error {
		resp, err := c.Get(u)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.Close()
		}
	}))
	defer plain.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	for _, tt := range []struct {
		name, url string
		cause     sdk.Cause
	}{
		{"untrusted certificate", secure.URL, sdk.CauseTLS},
		{"plain text for TLS", "https" + plain.URL[len("http"):], sdk.CauseTLS},
		{"closed without an answer", plain.URL, sdk.CauseReset},
		{"nobody listens", closed.URL, sdk.CauseRefused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := get(&http.Client{Transport: &http.Transport{}}, tt.url)
			f := From(Evidence{Err: err, Phase: sdk.PhaseTransport})
			if f.Code != sdk.CodeTransport || f.Cause != tt.cause {
				t.Errorf("%v: got %s %q, want TRANSPORT %q", err, f.Code, f.Cause, tt.cause)
			}
		})
	}
}

func TestFailureStatusBeatsLaterError(t *testing.T) {
	f := From(Evidence{Status: 429, Err: io.ErrUnexpectedEOF, Body: []byte(`{"error":{"mess`)})
	if f.Code != sdk.CodeRateLimit {
		t.Errorf("got %s, want RATE_LIMIT", f.Code)
	}
}

func TestFromClientText(t *testing.T) {
	tests := []struct {
		text  string
		code  sdk.Code
		cause sdk.Cause
	}{
		{"fetch failed: read ECONNRESET", sdk.CodeTransport, sdk.CauseReset},
		{"connect ECONNREFUSED 127.0.0.1:1", sdk.CodeTransport, sdk.CauseRefused},
		{"getaddrinfo EAI_AGAIN host", sdk.CodeTransport, sdk.CauseDNS},
		{"EHOSTUNREACH", sdk.CodeTransport, sdk.CauseNoRoute},
		{"self-signed certificate", sdk.CodeTransport, sdk.CauseTLS},
		{"Client network socket disconnected before secure TLS connection was established", sdk.CodeTransport, sdk.CauseTLS},
		{"Premature close", sdk.CodeTransport, sdk.CauseCut},
		{"connect ETIMEDOUT", sdk.CodeTimeout, ""},
		{"The operation was aborted due to timeout", sdk.CodeTimeout, ""},
		{"timeout of 10ms exceeded (code ECONNABORTED)", sdk.CodeTimeout, ""},
		{"AbortError: This operation was aborted", sdk.CodeAborted, ""},
		{"something else", sdk.CodeTransport, sdk.CauseReset},
	}
	for _, tt := range tests {
		f := From(Evidence{Phase: sdk.PhaseTransport, Body: []byte(tt.text)})
		if f.Code != tt.code || f.Cause != tt.cause || f.Message != tt.text {
			t.Errorf("%q: got %s %q, want %s %q", tt.text, f.Code, f.Cause, tt.code, tt.cause)
		}
	}
}
