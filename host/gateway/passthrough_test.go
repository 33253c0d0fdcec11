package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"spillway/host/gateway"
)

// The credentials of these tests. None but the first two may leave, and those to
// their vendor only.
const (
	canary  = "sk-ant-oat01-canary-of-the-client"
	second  = "sk-ant-api03-canary-of-another"
	foreign = "sk-proj-canary-of-openai"
	token   = "canary-of-the-gateway"
)

// heard is all that was sent to a vendor.
type heard struct {
	url string
	mu  sync.Mutex
	all bytes.Buffer
}

func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

// listens is a vendor that notes what it is sent.
func listens(t *testing.T, answer http.HandlerFunc) *heard {
	t.Helper()
	h := &heard{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		fmt.Fprintf(&h.all, "%s %s\n", r.Method, r.URL)
		_ = r.Header.Write(&h.all)
		h.all.Write(body)
		h.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	h.url = srv.URL
	return h
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// TestPassthrough: a client's own credential reaches the vendor that it belongs
// to and nobody else, whoever is asked and however it comes.
func TestPassthrough(t *testing.T) {
	whole := says(200, `{"id":"msg_1","type":"message","role":"assistant","model":"m1","content":[{"type":"text","text":"one"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
	denied := `{"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired: ` + canary + `"}}`
	tests := []struct {
		name   string
		header map[string]string
		token  bool // the gateway has one
		path   string
		act    http.HandlerFunc
		status int
		sent   string // the line with the credential in the vendor's log, "" for none
		body   string
	}{
		{"bearer", map[string]string{"Authorization": "Bearer " + canary, "Anthropic-Beta": "oauth-2025-04-20"}, false, "", whole, 200, "Authorization: Bearer " + canary, "one"},
		{"x-api-key", map[string]string{"X-Api-Key": second}, false, "", whole, 200, "X-Api-Key: " + second, "one"},
		{"both, one of another vendor", map[string]string{"Authorization": "Bearer " + foreign, "X-Api-Key": second}, false, "", whole, 200, "X-Api-Key: " + second, "one"},
		{"another vendor's", map[string]string{"Authorization": "Bearer " + foreign}, false, "", whole, 401, "", "sk-ant-"},
		{"an unknown one", map[string]string{"Authorization": "Bearer some-token-of-somebody"}, false, "", whole, 401, "", "sk-ant-"},
		{"none", nil, false, "", whole, 401, "", "sk-ant-"},
		{"a count", map[string]string{"Authorization": "Bearer " + canary}, false, "/count_tokens", says(200, `{"input_tokens":5}`), 200, "Authorization: Bearer " + canary, "5"},
		{"a count of another vendor", map[string]string{"Authorization": "Bearer " + foreign}, false, "/count_tokens", says(200, `{"input_tokens":5}`), 200, "", "input_tokens"},

		{"beside the gateway's token", map[string]string{"Authorization": "Bearer " + canary, "X-Api-Key": token}, true, "", whole, 200, "Authorization: Bearer " + canary, "one"},
		{"beside it the other way round", map[string]string{"X-Api-Key": second, "Authorization": "Bearer " + token}, true, "", whole, 200, "X-Api-Key: " + second, "one"},
		{"the gateway's token alone", map[string]string{"Authorization": "Bearer " + token}, true, "", whole, 401, "", "sk-ant-"},
		{"without the gateway's token", map[string]string{"Authorization": "Bearer " + canary}, true, "", whole, 401, "", "token"},

		{"refused", map[string]string{"Authorization": "Bearer " + canary}, false, "", says(401, denied), 401, "Authorization: Bearer " + canary, "OAuth token has expired: [redacted]"},
		{"no money", map[string]string{"Authorization": "Bearer " + canary}, false, "", says(402, `{"error":{"message":"Insufficient Balance"}}`), 503, "Authorization: Bearer " + canary, "QUOTA"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vendor, other := listens(t, tt.act), listens(t, whole)
			var log bytes.Buffer
			o := gateway.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			if tt.token {
				o.Token = token
			}
			r := openRig(t, fmt.Sprintf(`- {id: p, name: provider-anthropic, config: {base_url: %q, models: [m1], vendor: anthropic, auth: passthrough}}
- {id: q, name: provider-openai, config: {base_url: %q, models: [m2], vendor: openai, key: key-of-q}}
`, vendor.url+"/v1", other.url+"/v1"), o)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/messages"+tt.path, strings.NewReader(fmt.Sprintf(dialects[0].body, false)))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range tt.header {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(got), tt.body) {
				t.Errorf("got %d %v %s", resp.StatusCode, err, got)
			}
			said := vendor.text()
			if tt.sent == "" && said != "" || !strings.Contains(said, tt.sent) {
				t.Errorf("the vendor was sent:\n%s", said)
			}
			if strings.Contains(said, token) || strings.Contains(said, foreign) || strings.Count(said, "canary") > 1 {
				t.Errorf("the vendor was sent more than its own:\n%s", said)
			}
			r.http.Close()
			var records bytes.Buffer
			if rec, err := r.runtime.Records().Last(t.Context()); err == nil {
				_ = json.NewEncoder(&records).Encode(r.record(rec.ID))
			}
			for where, text := range map[string]string{"another vendor": other.text(), "the log": log.String(), "the records": records.String(), "the metrics": r.metricsText()} {
				if strings.Contains(text, "canary") {
					t.Errorf("%s has a credential: %s", where, text)
				}
			}
		})
	}
}

// metricsText is what a Prometheus gets, also when the gateway is closed.
func (r *rig) metricsText() string {
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	r.server.ServeHTTP(w, req)
	return w.Body.String()
}

// TestPassthroughElsewhere: neither a redirect nor a provider that has keys of its
// own carries a client's credential away.
func TestPassthroughElsewhere(t *testing.T) {
	thief := listens(t, says(200, "{}"))
	vendor := listens(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.url+r.URL.Path, http.StatusTemporaryRedirect)
	})
	keyed := listens(t, says(500, "{}"))
	r := openRig(t, fmt.Sprintf(`- {id: p, name: provider-anthropic, config: {base_url: %q, models: [m1], vendor: anthropic, auth: passthrough}}
- {id: q, name: provider-anthropic, config: {base_url: %q, models: [m2], vendor: anthropic, key: key-of-q}}
`, vendor.url+"/v1", keyed.url+"/v1"), gateway.Options{})
	for _, model := range []string{"p/m1", "q/m2"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/messages", strings.NewReader(strings.Replace(fmt.Sprintf(dialects[0].body, true), "p/m1", model, 1)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+canary)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: %d", model, resp.StatusCode)
		}
	}
	if said := thief.text(); said != "" {
		t.Errorf("a redirect was followed:\n%s", said)
	}
	if said := keyed.text(); strings.Contains(said, "canary") || !strings.Contains(said, "key-of-q") {
		t.Errorf("a provider with a key was sent:\n%s", said)
	}
	if said := vendor.text(); !strings.Contains(said, canary) {
		t.Errorf("the vendor was sent:\n%s", said)
	}
}
