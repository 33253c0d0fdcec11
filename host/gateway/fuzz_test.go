package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"spillway/host/gateway"
	"spillway/host/sim"
)

// FuzzServe: whatever a client sends, the gateway answers: with the vendor's
// answer, or with an error in a JSON object; never with a fault of its own, and
// never with the vendor's key.
func FuzzServe(f *testing.F) {
	for _, d := range dialects {
		f.Add(d.path, strings.ReplaceAll(d.body, "%t", "true"), "X-Spillway-Stream", "buffer")
		f.Add(d.path, strings.ReplaceAll(d.body, "%t", "false"), "X-Spillway-Strict", "perhaps")
	}
	f.Add("/v1/messages/count_tokens", `{"model":"p/m1","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`, "anthropic-beta", "x,y")
	f.Add("/v1/responses", `{"model":"p/m1","previous_response_id":"r","input":[{"type":"function_call_output","call_id":"c","output":{}}]}`, "X-Spillway-Budget", "\xff")
	f.Add("/v1/chat/completions", `{"model":7,"messages":`+strings.Repeat("[", 9999), "Content-Encoding", "gzip")
	f.Add("/messages", ``, "X-Spillway-Request-Id", "../../x")
	f.Add("/v1/models?limit=-1&after_id=%00", ``, "traceparent", "00-0-0-0")
	const key = "sk-canary-3f1d9c0b7a"
	v, err := sim.New(sim.Options{Vendors: []sim.Vendor{{Name: "p", Like: "anthropic", Script: "ok"}}})
	if err != nil {
		f.Fatal(err)
	}
	if err := v.Start(context.Background(), "127.0.0.1:0"); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(v.Close)
	r := openRig(f, strings.Replace(row("provider-anthropic", v.Vendor("p").URL()), "key: k", "key: "+key, 1), gateway.Options{})
	f.Fuzz(func(t *testing.T, path, body, name, value string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		method := http.MethodPost
		if strings.Contains(path, "/models") {
			method = http.MethodGet
		}
		req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
		if err != nil {
			return
		}
		req.Header.Set(name, value)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return // the client does not send such a one
		}
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("%s %q: %v", path, body, err)
		}
		if strings.Contains(string(said), key) {
			t.Errorf("the key is told: %s", said)
		}
		kind := resp.Header.Get("Content-Type")
		if resp.StatusCode == http.StatusInternalServerError {
			t.Errorf("%s %q: %s", path, body, said)
		}
		if strings.HasPrefix(kind, "application/json") && !json.Valid(said) {
			t.Errorf("%s %q: no JSON: %q", path, body, said)
		}
	})
}
