// Package gateway serves the vendors' own APIs on this machine: what a client
// sends to a vendor it can send here, and every call runs through the runtime's
// waterfall.
//
// Nothing of an answer reaches the client before visible content has come, so a
// failure before that is either invisible or a real HTTP status. When client
// and vendor speak the same dialect the vendor's bytes are relayed as they are,
// uncompressed: vendors are asked not to compress, since frames are read on the
// way, and one that does is unpacked, so a client sees the same bytes either way;
// else events are decoded from one dialect and encoded in the other. An answer
// that breaks after it has begun ends with the dialect's own error event and an
// aborted connection: several clients take a clean end for success.
//
// A client is not left in silence. When content takes longer than the profile's
// holdHeadersMs, a stream's headers and a start of our own are sent, and from
// then on, as in every later pause, events that mean nothing (see line). A vendor
// of the same dialect is relayed behind such a start too; only its own start and
// its ids are replaced. What a
// client may cost the others is bounded (see limits). Each call leaves a line in
// the log and its part in the metrics.
//
// A relayed stream is written once for each piece that its vendor's answer came in,
// and while it waits it holds no buffer of its own (see line); package provider says
// what else a call costs. Of goroutines the server has one for each connection, and
// one that watches whether the client of a request is still there.
//
// The server listens on loopback unless it is given a token. It checks Host and
// Origin, since a browser page can reach loopback too.
package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"spillway/host"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/profile"
)

// Options of a gateway.
type Options struct {
	Runtime *host.Runtime
	// Token, if set, must come with every request, as a bearer token or as
	// x-api-key.
	Token profile.Secret
	// Hosts are further names under which the gateway may be addressed.
	Hosts []string
	Log   *slog.Logger
	// Page, if set, answers what people's browsers ask for: / for whoever takes
	// HTML, and everything below /ui/ and /api/.
	Page Page
}

// Page is what people look at. It is asked behind the same guard as all else, but
// may let in who does not show the token.
type Page interface {
	http.Handler
	Admits(r *http.Request) bool
}

// Server answers requests. It is an http.Handler.
type Server struct {
	runtime *host.Runtime
	token   profile.Secret
	hosts   []string
	page    Page
	log     *slog.Logger
	limits  limits
	metrics *metrics
	counts  counts
	buffers sync.Pool // of *[]byte; a stream that waits for its vendor has none
	mux     *http.ServeMux

	draining atomic.Bool
}

// New returns a gateway.
func New(o Options) *Server {
	s := &Server{
		runtime: o.Runtime, token: o.Token, hosts: o.Hosts, page: o.Page, log: o.Log, limits: defaultLimits(),
		metrics: newMetrics(o.Runtime), counts: counts{until: map[string]time.Time{}}, mux: http.NewServeMux(),
		buffers: sync.Pool{New: func() any { b := make([]byte, 0, usualGathered); return &b }},
	}
	for _, base := range []string{"/v1", ""} { // clients differ in whether the base URL has it
		s.mux.HandleFunc("POST "+base+"/messages", s.answers(dialect.Anthropic()))
		s.mux.HandleFunc("POST "+base+"/messages/count_tokens", s.countTokens)
		s.mux.HandleFunc("POST "+base+"/chat/completions", s.answers(dialect.OpenAI()))
		s.mux.HandleFunc("POST "+base+"/responses", s.answers(dialect.Responses()))
		s.mux.HandleFunc("GET "+base+"/models", s.models)
	}
	s.mux.Handle("GET /metrics", s.metrics.handler)
	for _, path := range []string{"/health", "/healthz"} {
		s.mux.HandleFunc("GET "+path, s.health)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead { // clients look whether anybody is there
			return
		}
		refuse(w, http.StatusNotFound, "no such resource: "+r.Method+" "+r.URL.Path+" (there are: POST /v1/messages, POST /v1/messages/count_tokens, POST /v1/chat/completions, POST /v1/responses, GET /v1/models)")
	})
	return s
}

// Drain says in /health that nothing new should be sent here, which a balancer
// obeys, and ends each connection with its next answer. What comes all the same is
// answered as before.
func (s *Server) Drain() { s.draining.Store(true) }

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, "draining")
		return
	}
	fmt.Fprintln(w, "ok")
}

// HTTPServer returns a server for h with the limits a gateway needs: a client
// may take its time to read, but not to send its headers. An idle connection
// outlives a person's thinking between two turns.
func HTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server leaves the last answer's deadline on the connection.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	page := s.page != nil && ofPage(r)
	switch {
	case s.token == "" && !s.hostAllowed(r.Host): // a page that rebinds a name has no token
		refuse(w, http.StatusForbidden, fmt.Sprintf("host %q is not served here", r.Host))
	case !s.originAllowed(r):
		refuse(w, http.StatusForbidden, "requests from other origins are refused")
	case !s.authorised(r) && !(page && s.page.Admits(r)):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "this gateway needs its token, as a bearer token or as x-api-key")
	case page:
		s.page.ServeHTTP(w, r)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// ofPage reports whether the page answers a request. A client that looks whether
// anybody is at / is no browser.
func ofPage(r *http.Request) bool {
	if r.URL.Path == "/" {
		return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html")
	}
	return strings.HasPrefix(r.URL.Path, "/ui/") || strings.HasPrefix(r.URL.Path, "/api/")
}

// hostAllowed keeps pages away that point a name of theirs at loopback.
func (s *Server) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if ip := net.ParseIP(name); strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback() {
		return true
	}
	for _, h := range s.hosts {
		if strings.EqualFold(h, name) {
			return true
		}
	}
	return false
}

// originAllowed refuses what a browser sends for another site's page.
func (s *Server) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" {
		return false
	}
	if origin == "" {
		return true
	}
	_, host, ok := strings.Cut(origin, "://")
	return ok && host == r.Host
}

func (s *Server) authorised(r *http.Request) bool {
	if s.token == "" {
		return true
	}
	ok := false
	for _, c := range shown(r.Header) {
		ok = s.is(c.Secret) || ok
	}
	return ok
}

// is compares with the token in constant time.
func (s *Server) is(given profile.Secret) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.token.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// shown are the credentials in a request's headers.
func shown(h http.Header) []llm.Credential {
	var all []llm.Credential
	if bearer, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
		all = append(all, llm.Credential{Bearer: true, Secret: profile.Secret(bearer)})
	}
	if key := h.Get("X-Api-Key"); key != "" {
		all = append(all, llm.Credential{Secret: profile.Secret(key)})
	}
	return all
}

// credentials are the client's own: what it has shown, but for the token that
// was for us. Who has to show that in one of the two headers has the other one for
// its vendor.
func (s *Server) credentials(h http.Header) []llm.Credential {
	return slices.DeleteFunc(shown(h), func(c llm.Credential) bool { return s.token != "" && s.is(c.Secret) })
}

// refuse answers a request that belongs to no dialect.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": "invalid_request_error", "message": message}})
}
