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
	mu   sync.Mutex
	seen map[[sha256.Size]byte]time.Time
}

// has reports whether a request comes from a browser that is logged in.
func (s *sessions) has(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return false
	}
	id := sha256.Sum256([]byte(c.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	if seen, ok := s.seen[id]; !ok || time.Since(seen) > sessionLife {
		delete(s.seen, id)
		return false
	}
	s.seen[id] = time.Now()
	return true
}

// add makes a session and returns its id.
func (s *sessions) add() string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[[sha256.Size]byte]time.Time{}
	}
	if len(s.seen) >= maxSessions {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.seen)), func(a, b [sha256.Size]byte) int {
			return s.seen[a].Compare(s.seen[b])
		})
		delete(s.seen, oldest)
	}
	s.seen[sha256.Sum256([]byte(id))] = time.Now()
	return id
}

func (s *sessions) remove(r *http.Request) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, sha256.Sum256([]byte(c.Value)))
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
