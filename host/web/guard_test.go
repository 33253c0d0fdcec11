package web

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	html   = "Accept: text/html,application/xhtml+xml"
	asJSON = "Content-Type: application/json"
	bearer = "Authorization: Bearer letmein"
)

// TestGuard: who gets what, with and without a token.
func TestGuard(t *testing.T) {
	open, closed := serve(t, ""), serve(t, "letmein")
	login := closed.call(http.MethodPost, "/api/session", "{}", asJSON, bearer)
	cookies := login.Cookies()
	if login.StatusCode != http.StatusNoContent || len(cookies) != 1 {
		t.Fatalf("login: %d, cookies %v", login.StatusCode, cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/api/" || strings.Contains(c.Value, "letmein") {
		t.Errorf("cookie: %v", c)
	}
	cookie := "Cookie: " + c.Name + "=" + c.Value
	order := `{"verb":"disable","target":"p"}`
	tests := []struct {
		name         string
		server       *served
		method, path string
		body         string
		header       []string
		want         int
	}{
		{"page", open, "GET", "/", "", []string{html}, 200},
		{"no browser", open, "GET", "/", "", nil, 404},
		{"is anybody there", open, "HEAD", "/", "", []string{html}, 200},
		{"asset", open, "GET", "/ui/main.js", "", nil, 200},
		{"no asset", open, "GET", "/ui/nothing.js", "", nil, 404},
		{"no asset of another kind", open, "GET", "/ui/web.go", "", nil, 404},
		{"status", open, "GET", "/api/status", "", nil, 200},
		{"nothing", open, "GET", "/api/nothing", "", nil, 404},
		{"rebound name", open, "GET", "/", "", []string{html, "Host: rebound.example"}, 403},
		{"rebound name, API", open, "GET", "/api/status", "", []string{"Host: rebound.example"}, 403},
		{"other origin", open, "GET", "/api/status", "", []string{"Origin: https://evil.example"}, 403},
		{"other site", open, "GET", "/api/status", "", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"order from another port", open, "POST", "/api/orders", order, []string{asJSON, "Sec-Fetch-Site: same-site"}, 403},
		{"order as a form", open, "POST", "/api/orders", order, []string{"Content-Type: text/plain"}, 415},
		{"order", open, "POST", "/api/orders", order, []string{asJSON, "Sec-Fetch-Site: same-origin"}, 422}, // no plugin takes any

		{"page without token", closed, "GET", "/", "", []string{html}, 200},
		{"asset without token", closed, "GET", "/ui/main.js", "", nil, 200},
		{"status without token", closed, "GET", "/api/status", "", nil, 401},
		{"status by a path with dots", closed, "GET", "/ui/../api/status", "", nil, 307},
		{"status with token", closed, "GET", "/api/status", "", []string{bearer}, 200},
		{"status with wrong token", closed, "GET", "/api/status", "", []string{"Authorization: Bearer wrong"}, 401},
		{"login with wrong token", closed, "POST", "/api/session", "{}", []string{asJSON, "Authorization: Bearer wrong"}, 401},
		{"status with cookie", closed, "GET", "/api/status", "", []string{cookie}, 200},
		{"status with made up cookie", closed, "GET", "/api/status", "", []string{"Cookie: " + c.Name + "=AAAA"}, 401},
		{"order with cookie", closed, "POST", "/api/orders", order, []string{cookie, asJSON}, 422},
		{"order with cookie from another port", closed, "POST", "/api/orders", order, []string{cookie, asJSON, "Origin: http://127.0.0.1:1"}, 403},
		{"models with cookie", closed, "GET", "/v1/models", "", []string{cookie}, 401},
		{"metrics with cookie", closed, "GET", "/metrics", "", []string{cookie}, 401},
		{"messages with cookie", closed, "POST", "/v1/messages", "{}", []string{cookie, asJSON}, 401},
		{"logout", closed, "DELETE", "/api/session", "", []string{cookie, asJSON}, 204},
		{"status after logout", closed, "GET", "/api/status", "", []string{cookie}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp := tt.server.call(tt.method, tt.path, tt.body, tt.header...)
			if resp.StatusCode != tt.want {
				body, _ := io.ReadAll(resp.Body)
				t.Errorf("got %d %s, want %d", resp.StatusCode, body, tt.want)
			}
		})
	}
}

// TestPolicy: everything that the page sends has the policy, and nothing in its files
// needs more than that allows.
func TestPolicy(t *testing.T) {
	s := serve(t, "")
	for _, path := range []string{"/", "/ui/base.css", "/api/status", "/api/nothing"} {
		resp := s.call(http.MethodGet, path, "", html)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := resp.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	forbidden := regexp.MustCompile(`<style|\sstyle=|\son\w+="|<script[^>]*>[^<]|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://`)
	for _, file := range files(t) {
		for i, line := range strings.Split(file.text, "\n") {
			line = strings.ReplaceAll(line, "http://www.w3.org/2000/svg", "")
			if found := forbidden.FindString(line); found != "" {
				t.Errorf("%s:%d: %q", file.name, i+1, found)
			}
		}
	}
}

// TestAssetsAreAskedFor: a file that has not changed is not sent again.
func TestAssetsAreAskedFor(t *testing.T) {
	s := serve(t, "")
	first := s.call(http.MethodGet, "/ui/main.js", "")
	tag := first.Header.Get("ETag")
	if again := s.call(http.MethodGet, "/ui/main.js", "", "If-None-Match: "+tag); tag == "" || again.StatusCode != http.StatusNotModified {
		t.Errorf("with ETag %q: got %d, want 304", tag, again.StatusCode)
	}
}

// source is one file of the page.
type source struct{ name, text string }

func files(t *testing.T) (all []source) {
	t.Helper()
	err := fs.WalkDir(page, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(page, path)
		all = append(all, source{name: d.Name(), text: string(data)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSessions: they end by time, and are bounded.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		with := func(id string) *http.Request {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8790/api/status", nil)
			r.AddCookie(&http.Cookie{Name: "spillway-8790", Value: id})
			return r
		}
		in := func(id string) bool { _, ok := s.find(with(id)); return ok }
		first := s.add()
		for range 3 { // somebody who looks stays
			time.Sleep(sessionLife - time.Minute)
			if !in(first) {
				t.Fatal("a session in use has ended")
			}
		}
		time.Sleep(sessionLife + time.Second)
		if in(first) {
			t.Error("a session that nobody used has not ended")
		}
		oldest := s.add()
		for range maxSessions {
			time.Sleep(time.Second)
			s.add()
		}
		if in(oldest) || len(s.in) != maxSessions {
			t.Errorf("%d sessions, and the oldest is in: %t", len(s.in), in(oldest))
		}
		if _, kept := s.in[sha256.Sum256([]byte(first))]; kept {
			t.Error("a session that has ended is kept")
		}
	})
}
