package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"spillway/host/gateway"
)

const countBody = `{"model":"p/m1","messages":[{"role":"user","content":"%s"}]}`

// TestCountTokens: the vendor's count if it gives one, else ours; a client's own
// fault in the vendor's words.
func TestCountTokens(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	const estimate = `{"input_tokens":114}`
	tests := []struct {
		name   string
		vendor string
		act    http.HandlerFunc
		status int
		body   string
		by     string
	}{
		{"counts", "anthropic", answer(200, `{"input_tokens": 7, "x": 1}`), 200, `{"input_tokens": 7, "x": 1}`, "vendor"},
		{"does not count", "moonshot", answer(200, `{"input_tokens":7}`), 200, estimate, "estimate"},
		{"wrong request", "anthropic", answer(400, `{"type":"error","error":{"message":"no"}}`), 400, `{"type":"error","error":{"message":"no"}}`, "vendor"},
		{"no such endpoint", "anthropic", answer(404, `{"error":"?"}`), 200, estimate, "estimate"},
		{"revoked key", "anthropic", answer(401, `{}`), 200, estimate, "estimate"},
		{"limited", "anthropic", answer(429, `{}`), 200, estimate, "estimate"},
		{"broken", "anthropic", answer(500, ``), 200, estimate, "estimate"},
		{"something else", "anthropic", answer(200, `<html>`), 200, estimate, "estimate"},
		{"lost connection", "anthropic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 200, estimate, "estimate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var path, sent atomic.Value
			vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				path.Store(r.URL.Path)
				sent.Store(string(b))
				tt.act(w, r)
			}))
			t.Cleanup(vendor.Close)
			r := openRig(t, strings.Replace(row("provider-anthropic", vendor.URL), "vendor: anthropic", "vendor: "+tt.vendor, 1), gateway.Options{})
			body := fmt.Sprintf(countBody, strings.Repeat("four", 100))
			for _, base := range []string{"/v1", ""} {
				resp, got, err := post(t, r.url+base+"/messages/count_tokens?beta=true", body)
				if err != nil || resp.StatusCode != tt.status || string(got) != tt.body || resp.Header.Get("X-Spillway-Tokens") != tt.by {
					t.Errorf("got %d %s by %s, %v", resp.StatusCode, got, resp.Header.Get("X-Spillway-Tokens"), err)
				}
			}
			if tt.vendor == "anthropic" && (path.Load() != "/v1/messages/count_tokens" || sent.Load() != strings.Replace(body, "p/m1", "m1", 1)) {
				t.Errorf("the vendor was asked %v: %v", path.Load(), sent.Load())
			}
		})
	}
}

// TestManyCounts: what an agent asks at once is answered, by a vendor that
// counts, limits or is dead, and leaves neither a record nor a circuit.
func TestManyCounts(t *testing.T) {
	for _, script := range []string{"ok", "429", "500", "reset"} {
		t.Run(script, func(t *testing.T) {
			r := newRig(t, script+"*27; ok", dialects[0].module, gateway.Options{})
			var wg sync.WaitGroup
			for i := range 27 {
				wg.Go(func() {
					resp, err := send(t.Context(), r.url+"/v1/messages/count_tokens?beta=true", fmt.Sprintf(countBody, fmt.Sprint(i)))
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(got), "input_tokens") {
						t.Errorf("got %d %s, %v", resp.StatusCode, got, err)
					}
				})
			}
			wg.Wait()
			if _, err := r.runtime.Records().Last(t.Context()); err == nil {
				t.Error("a count was recorded as a request")
			}
			if statuses, err := r.runtime.Statuses(t.Context()); err != nil || len(statuses) > 0 {
				t.Errorf("%v, %v", statuses, err)
			}
		})
	}
}
