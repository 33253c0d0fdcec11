// Package web is the page of "spillway serve": what people look at with a
// browser, and the JSON that it is made of.
//
// The gateway owns the guard. Host, Origin and the token are checked there for
// every request, and a [Handler] answers what is left: the page at /, its files
// below /ui/, its data below /api/. The files hold no data and are public, so that
// somebody without the token sees where to give it. Who has given it once has a
// cookie for /api/ (see sessions), which is worth nothing elsewhere.
//
// The page is plain HTML, CSS and ES modules in the folder page, embedded as they
// are. Nothing in it is built, loaded from elsewhere, or inline: the content
// security policy forbids it. What a vendor, a plugin or a person wrote reaches the
// document as text only.
//
// Settings are drawn from the schemas of the volatile fields of whatever runs. A save
// says which revision of the files it was made of; host.Runtime.SaveSettings has the
// rules. A refusal changes nothing, and tells the fields or the file that it is about.
//
// What people read of a failure comes from package story, in the language that
// the page asks for; the page itself has words only for its frame. The page asks
// once for the present state and then follows /api/events, which costs nothing
// while nothing happens.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"spillway/host"
)

// Options of a page.
type Options struct {
	Runtime *host.Runtime
	Address string // where the gateway listens, as people type it
	Log     *slog.Logger
}

// Handler answers for the page. Close ends what it has open.
type Handler struct {
	runtime  *host.Runtime
	address  string
	log      *slog.Logger
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	sessions sessions
	watching watching
	life     context.Context
	end      context.CancelFunc
}

// New returns a page.
func New(o Options) *Handler {
	h := &Handler{
		runtime: o.Runtime, address: o.Address, log: o.Log,
		mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(),
	}
	h.life, h.end = context.WithCancel(context.Background())
	h.mux.HandleFunc("GET /{$}", h.index)
	h.mux.HandleFunc("GET /ui/{name}", h.asset)
	h.mux.HandleFunc("POST /api/session", h.logIn)
	h.mux.HandleFunc("DELETE /api/session", h.logOut)
	h.mux.HandleFunc("GET /api/status", h.status)
	h.mux.HandleFunc("GET /api/events", h.events)
	h.mux.HandleFunc("GET /api/requests", h.requests)
	h.mux.HandleFunc("GET /api/requests/{id}", h.request)
	h.mux.HandleFunc("POST /api/orders", h.order)
	h.mux.HandleFunc("GET /api/settings", h.settings)
	h.mux.HandleFunc("PUT /api/settings/{id}", h.saveSettings)
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "no such resource: "+r.Method+" "+r.URL.Path)
	})
	return h
}

// Close ends the streams of events, for which a server's end would wait.
func (h *Handler) Close() { h.end() }

// Admits reports whether a request that does not show the token may be answered.
func (h *Handler) Admits(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return true
	}
	_, in := h.sessions.find(r)
	return in
}

// policy lets the page do what it does and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	// A page on another port of this machine is the same site, and gets the cookie
	// sent: what changes something must come from this page, and in a form that no
	// other page can send unasked.
	if err := h.origins.Check(r); err != nil {
		refuse(w, http.StatusForbidden, "requests from other pages are refused")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !isJSON(r) {
		refuse(w, http.StatusUnsupportedMediaType, "what changes something is sent as application/json")
		return
	}
	h.mux.ServeHTTP(w, r)
}
