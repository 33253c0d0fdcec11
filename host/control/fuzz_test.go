//go:build unix

package control_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/sdk"
)

// socketFolder is a profile's folder for a fuzz target.
func socketFolder(f *testing.F) string {
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, profile.StateDir), 0o700); err != nil {
		f.Fatal(err)
	}
	return dir
}

// FuzzRequests: whatever is asked of a host on its socket is answered with a
// status, and only a whole and valid order is carried out.
func FuzzRequests(f *testing.F) {
	f.Add("POST", "/orders", `{"verb":"disable","target":"a/1"}`)
	f.Add("POST", "/orders", `{"verb":"disable","target":"a/1","at":"never"}`)
	f.Add("POST", "/orders", strings.Repeat("[", 9999))
	f.Add("GET", "/requests/%2e%2e%2fx", "")
	f.Add("PUT", "/status", "x")
	dir := socketFolder(f)
	s, err := control.Serve(dir, known{"req_1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", control.Path(dir))
	}}}
	f.Cleanup(client.CloseIdleConnections)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://spillway"+path, strings.NewReader(body))
		if err != nil || req.URL.Host != "spillway" {
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			return // the client itself refuses
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost && resp.StatusCode == http.StatusOK && !strings.Contains(body, "disable") {
			t.Errorf("order %q was carried out: %s", body, said)
		}
	})
}

// FuzzAnswers: whoever answers on the socket, in whatever way, is not taken for a
// host that has carried out an order.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `{}`)
	f.Add(200, `{"vendors":[{"name":7}]}`)
	f.Add(503, `{"error":"no"}`)
	f.Add(404, ``)
	f.Add(503, strings.Repeat("x", 1<<17))
	dir := socketFolder(f)
	l, err := net.Listen("unix", control.Path(dir))
	if err != nil {
		f.Fatal(err)
	}
	var answer atomic.Pointer[func(http.ResponseWriter)]
	foreign := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { (*answer.Load())(w) })}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = foreign.Serve(l)
	}()
	f.Cleanup(func() { foreign.Close(); <-served })
	client := control.NewClient(dir)
	f.Fuzz(func(t *testing.T, status int, body string) {
		status = 200 + status&0x1ff%400
		say := func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
		answer.Store(&say)
		if err := client.Operate(t.Context(), sdk.Order{Verb: sdk.VerbClear}); (err == nil) && (status != http.StatusOK || !strings.Contains(body, "{") && !strings.Contains(body, "null")) {
			t.Errorf("status %d, %q: taken for a success", status, body)
		}
		_, _ = client.Status(t.Context())
		if r, err := client.Request(t.Context(), "x"); err == nil && status != http.StatusOK {
			t.Errorf("status %d: got record %+v", status, r)
		}
	})
}
