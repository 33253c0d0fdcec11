package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host"
	"spillway/host/gateway"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/host/state/record"
)

// served is a gateway with the page, before one simulated vendor.
type served struct {
	t       testing.TB
	url     string
	dir     string // of the profile
	page    *Handler
	runtime *host.Runtime
}

// serve runs a gateway that demands the token, if there is one.
func serve(t testing.TB, token profile.Secret) *served {
	t.Helper()
	s, err := sim.New(sim.Options{Vendors: []sim.Vendor{{Name: "p", Like: "anthropic", Script: "ok"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	row := fmt.Sprintf("- {id: p, name: provider-anthropic, config: {base_url: %q, models: [m1], vendor: anthropic, key: k}}\n", s.Vendor("p").URL()+"/v1")
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
	rt, err := host.Open(t.Context(), host.Options{Dir: dir, Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	log := slog.New(slog.DiscardHandler)
	page := New(Options{Runtime: rt, Address: "http://here", Log: log})
	srv := httptest.NewServer(gateway.New(gateway.Options{Runtime: rt, Token: token, Log: log, Page: page}))
	t.Cleanup(srv.Close)
	t.Cleanup(page.Close) // before the server, which waits for its streams
	return &served{t: t, url: srv.URL, dir: dir, page: page, runtime: rt}
}

// call makes a request. header is "Name: value" lines.
func (s *served) call(method, path, body string, header ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// get asks the API for JSON.
func get[T any](s *served, path string) (v T) {
	s.t.Helper()
	resp := s.call(http.MethodGet, path, "")
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", path, resp.StatusCode, data, err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// put stores finished requests with these ids, the last one the newest.
func (s *served) put(recs ...record.Request) {
	for _, rec := range recs {
		s.runtime.Records().Put(rec)
	}
}
