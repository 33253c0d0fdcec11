package web

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/profile"
)

// FuzzAPI: whatever the page's API is sent, it answers as the API does, never
// with a fault of its own, and only an order or a save that succeeded has changed
// anything.
func FuzzAPI(f *testing.F) {
	f.Add("POST", "/api/orders", `{"verb":"disable","target":"p","seconds":1e308,"note":"n"}`)
	f.Add("POST", "/api/orders", `{"verb":"clear"} trailing`)
	f.Add("PUT", "/api/settings/p", `{"values":{"models":["m2"]},"etag":"x"}`)
	f.Add("PUT", "/api/settings/failover", `{"config":{"cooldownMs":-1}}`)
	f.Add("GET", "/api/requests?before=x&limit=-1&code=%00", "")
	f.Add("GET", "/api/requests/..%2f..%2fetc?lang=zh&tz=../../etc/passwd", "")
	f.Add("POST", "/api/session", `{"token":"`+strings.Repeat("x", 9999)+`"}`)
	f.Add("DELETE", "/api/session", "")
	s := serve(f, "")
	before := tree(f, s.dir)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.HasPrefix(path, "/api/events") || !strings.HasPrefix(path, "/api/") {
			return // a stream without end; another's paths
		}
		req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return // no request at all
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s: status %d, %s", method, path, resp.StatusCode, said)
		}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && method != http.MethodHead && !json.Valid(said) {
			t.Errorf("%s %s: no JSON: %q", method, path, said)
		}
		if got := tree(t, s.dir); got != before && resp.StatusCode/100 != 2 {
			t.Errorf("%s %s %q: status %d, but the profile is now\n%s", method, path, body, resp.StatusCode, got)
		} else {
			before = got
		}
	})
}

// tree is what the profile's files hold.
func tree(t testing.TB, dir string) string {
	base, err := os.ReadFile(filepath.Join(dir, profile.BaseFile))
	if err != nil {
		t.Fatal(err)
	}
	patch, _ := os.ReadFile(filepath.Join(dir, profile.PatchFile))
	return string(base) + "\n" + string(patch)
}
