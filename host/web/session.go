package web

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// maxSessions is how many browsers may be logged in. One more puts out the one
	// that was seen longest ago.
	maxSessions = 64
	// sessionLife is how long a browser stays logged in after it was seen last.
	sessionLife = 12 * time.Hour
)

// sessions are the browsers that have shown the token. They know themselves by a
// random id in a cookie, of which only the hash is kept, in memory: a restart logs
// everybody out.
type sessions struct {
	mu sync.Mutex
	in map[hash]*session
}

type hash [sha256.Size]byte

// session is one browser that is logged in.
type session struct {
	seen time.Time
	over chan struct{} // closed when it is no more
}

// find returns the channel that is closed when the session of a request ends; ok is
// false if it comes from no browser that is logged in.
func (s *sessions) find(r *http.Request) (over <-chan struct{}, ok bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil, false
	}
	id := hash(sha256.Sum256([]byte(c.Value)))
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.in[id]
	if of == nil || time.Since(of.seen) > sessionLife {
		s.end(id)
		return nil, false
	}
	of.seen = time.Now()
	return of.over, true
}

// end takes a session away, if there is one; mu is held.
func (s *sessions) end(id hash) {
	if of := s.in[id]; of != nil {
		close(of.over)
		delete(s.in, id)
	}
}

// add makes a session and returns its id.
func (s *sessions) add() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in == nil {
		s.in = map[hash]*session{}
	}
	if len(s.in) >= maxSessions {
		s.end(slices.MinFunc(slices.Collect(maps.Keys(s.in)), func(a, b hash) int {
			return s.in[a].seen.Compare(s.in[b].seen)
		}))
	}
	s.in[sha256.Sum256([]byte(id))] = &session{seen: time.Now(), over: make(chan struct{})}
	return id
}

func (s *sessions) remove(r *http.Request) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(sha256.Sum256([]byte(c.Value)))
}

// cookieName has the port in it: cookies do not tell ports apart, and several
// gateways may run on one machine.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "spillway-" + port
	}
	return "spillway"
}

// logIn gives a browser its cookie. The gateway has seen the token before this is
// called, or a cookie.
func (h *Handler) logIn(w http.ResponseWriter, r *http.Request) {
	h.log.Info("page logged in", "from", r.RemoteAddr)
	h.setCookie(w, r, h.sessions.add(), 0)
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) logOut(w http.ResponseWriter, r *http.Request) {
	h.sessions.remove(r)
	h.setCookie(w, r, "", -1)
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/api/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	})
}
