package tests

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
	"spillway/host/sim"
	"spillway/tests/internal/rig"
)

// TestKeptWaiting: while the failover plugin still looks for somebody who
// answers, a client that has waited long gets its headers and events that mean
// nothing, and then the one whole answer.
func TestKeptWaiting(t *testing.T) {
	vendors := rig.Vendors(t,
		sim.Vendor{Name: "anthropic", Script: "500 after=500ms"},
		sim.Vendor{Name: "deepseek", Script: "ok after=500ms"})
	rows, env := rig.Providers(vendors, "anthropic", "openai")
	s := rig.Serve(t, rows+`
- {id: failover, name: failover, config: {priority: [anthropic, deepseek]}}
- {id: gateway, name: gateway, config: {holdHeadersMs: 20, keepAliveMs: 20}}
`, env...)
	for _, c := range []struct{ dialect, path, body, beat string }{
		{"anthropic", "/v1/messages", `{"model":"anthropic/claude-sonnet-5","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"hi"}]}`, "event: ping\n"},
		{"openai", "/v1/chat/completions", `{"model":"anthropic/claude-sonnet-5","stream":true,"messages":[{"role":"user","content":"hi"}]}`, `"delta":{},"finish_reason":null`},
		{"responses", "/v1/responses", `{"model":"anthropic/claude-sonnet-5","stream":true,"input":"hi"}`, "event: keepalive\n"},
	} {
		t.Run(c.dialect, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("X-Spillway-Route") != "" {
				t.Errorf("got %d, %v, %v", resp.StatusCode, err, resp.Header)
			}
			if err := dialecttest.Check(c.dialect, got); err != nil {
				t.Errorf("%v\n%s", err, got)
			}
			if n := strings.Count(string(got), c.beat); n < 2 {
				t.Errorf("%d events kept it waiting:\n%s", n, got)
			}
		})
	}
}
