package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"spillway/host/profile"
)

// TestHosts: with a token a gateway may be addressed by any name, as one that
// listens on every address is; without one only by loopback's and its own.
func TestHosts(t *testing.T) {
	tests := []struct {
		token profile.Secret
		hosts []string
		host  string
		want  int
	}{
		{"letmein", []string{"0.0.0.0"}, "192.168.1.20:8790", http.StatusOK},
		{"letmein", []string{"::"}, "[fe80::1]:8790", http.StatusOK},
		{"letmein", nil, "nas.example", http.StatusOK},
		{"letmein", nil, "LOCALHOST:8790", http.StatusOK},
		{"", nil, "LOCALHOST:8790", http.StatusOK},
		{"", nil, "127.0.0.7", http.StatusOK},
		{"", nil, "[::1]:8790", http.StatusOK},
		{"", []string{"nas.example"}, "NAS.example:8790", http.StatusOK},
		{"", []string{"0.0.0.0"}, "192.168.1.20:8790", http.StatusForbidden},
		{"", nil, "rebound.example", http.StatusForbidden},
		{"", nil, "localhost.rebound.example", http.StatusForbidden},
	}
	for _, tt := range tests {
		t.Run(tt.host+" "+tt.token.Reveal(), func(t *testing.T) {
			g := New(Options{Token: tt.token, Hosts: tt.hosts, Log: slog.New(slog.DiscardHandler)})
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Host = tt.host
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token.Reveal())
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tt.want)
			}
		})
	}
}

// TestRefusalsAreJSON: whatever stands in the request, a refusal is JSON and
// says it again.
func TestRefusalsAreJSON(t *testing.T) {
	for _, name := range []string{"plain", `quo"te`, "bell\a", "back\\slash", "tab\t", "nul\x00", "rune\u2028", "no text \xff"} {
		t.Run(name, func(t *testing.T) {
			g := New(Options{Log: slog.New(slog.DiscardHandler)})
			byPath := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
			byPath.URL.Path = "/" + name
			byHost := httptest.NewRequest(http.MethodGet, "/", nil)
			byHost.Host = name
			for want, r := range map[int]*http.Request{http.StatusNotFound: byPath, http.StatusForbidden: byHost} {
				w := httptest.NewRecorder()
				g.ServeHTTP(w, r)
				var got struct {
					Error struct{ Type, Message string }
				}
				if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
					t.Fatalf("%d %q: %v", w.Code, w.Body, err)
				}
				if w.Code != want || got.Error.Type == "" || got.Error.Message == "" {
					t.Errorf("got %d %+v, want %d", w.Code, got, want)
				}
			}
		})
	}
}
