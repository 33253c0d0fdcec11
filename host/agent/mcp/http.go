package mcp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/profile"
)

const (
	maxRedirects = 5
	// streamTimeout is how long a server may take to open the stream of its own
	// messages. It need not have one.
	streamTimeout = 5 * time.Second
	// streamRetries is how often in a row a stream is resumed. Streams that end
	// idle count too, and the last one ends the session: the SDK's own 5 are soon
	// spent where a proxy cuts them. The SDK's growing pause overflows after some 55.
	streamRetries = 40
	// dialTimeout and tlsTimeout are for one connection.
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	// idleTimeout is how long an unused connection is kept.
	idleTimeout = 90 * time.Second
)

// streamable is the transport to a server on the network.
func streamable(c *config) *mcpsdk.StreamableClientTransport {
	base := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: tlsTimeout,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   true,
		IdleConnTimeout:     idleTimeout,
	}
	calls, streams := base.Clone(), base.Clone()
	calls.DisableKeepAlives = true
	streams.ResponseHeaderTimeout = streamTimeout
	return &mcpsdk.StreamableClientTransport{
		Endpoint: c.URL,
		HTTPClient: &http.Client{
			Transport:     &wire{base: base, calls: calls, streams: streams, headers: c.Headers},
			CheckRedirect: sameOrigin,
		},
		MaxRetries:   streamRetries,
		MaxEventSize: maxMessage,
	}
}

// sameOrigin follows what moved within the server, such as /mcp to /mcp/, with
// method and body. Elsewhere the row's headers have no business.
func sameOrigin(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("redirected to another origin, %s://%s", req.URL.Scheme, req.URL.Host)
	case req.Method != first.Method:
		return fmt.Errorf("redirected from %s to %s", first.Method, req.Method)
	case len(via) > maxRedirects:
		return errors.New("redirected too often")
	}
	return nil
}

// wire sends the SDK's requests with the row's headers, each once, and notes
// which calls left this process. It bounds answers.
type wire struct {
	base *http.Transport
	// calls has a new connection for each: of one that was kept nobody knows
	// whether the server still reads it, and then not what it has read.
	calls   *http.Transport
	streams *http.Transport // for the server's own messages
	headers map[string]*profile.Secret
	opened  atomic.Bool // the stream of these was asked for
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		if value != nil && req.Header.Get(name) == "" {
			req.Header.Set(name, value.Reveal())
		}
	}
	if req.Method == http.MethodGet {
		return w.stream(req)
	}
	// The SDK's notice that a call is cancelled comes with the call's context, but
	// after the call.
	d, via := deliveryOf(req.Context()), w.calls
	if d == nil || d.taken.Swap(true) {
		d, via = &delivery{}, w.base
	}
	if req.Body != nil {
		req.Body = &handed{req.Body, d}
		req.GetBody = nil // without it net/http cannot repeat a request
	}
	res, err := via.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	d.refused.Store(refuses(res.StatusCode))
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		res.Body = http.MaxBytesReader(nil, res.Body, maxMessage)
	}
	return res, nil
}

// stream asks for a stream of the server's messages. Whatever goes wrong the
// first time, the server has none: it must not keep a session from beginning.
func (w *wire) stream(req *http.Request) (*http.Response, error) {
	first := req.Header.Get("Last-Event-ID") == "" && !w.opened.Swap(true)
	res, err := w.streams.RoundTrip(req)
	if err != nil && first {
		return &http.Response{StatusCode: http.StatusMethodNotAllowed, Body: http.NoBody, Request: req}, nil
	}
	return res, err
}

// CloseIdleConnections is for http.Client.
func (w *wire) CloseIdleConnections() {
	w.base.CloseIdleConnections()
	w.calls.CloseIdleConnections()
	w.streams.CloseIdleConnections()
}

// handed notes that a request's body was given out: before that, no server has
// seen the call.
type handed struct {
	io.ReadCloser
	d *delivery
}

func (b *handed) Read(p []byte) (int, error) {
	b.d.sent.Store(true)
	return b.ReadCloser.Read(p)
}

// refuses reports a status by which a server, or who stands before it, turns a
// request away unread: the session is gone, the credential is wrong, the address
// is. Other statuses may come after the work was done.
func refuses(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusMisdirectedRequest, http.StatusTooManyRequests:
		return true
	}
	return false
}
