package tests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"spillway/tests/internal/rig"
)

// TestPassthrough: with the failover plugin, a client's own credential is tried
// at its vendor and nowhere else; what the vendor holds against it is held against
// nobody else; and a client without one is served by the next route.
func TestPassthrough(t *testing.T) {
	t.Parallel()
	const poor, rich, foreign = "sk-ant-canary-of-the-poor", "sk-ant-canary-of-the-rich", "sk-proj-canary-of-another"
	answer := func(w http.ResponseWriter, from string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"from %s"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, from)
	}
	var mu sync.Mutex
	asked := map[string][]string{} // credentials by vendor
	vendor := func(name string, act http.HandlerFunc) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				mu.Lock()
				asked[name] = append(asked[name], strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+r.Header.Get("X-Api-Key"))
				mu.Unlock()
			}
			_, _ = io.Copy(io.Discard, r.Body)
			act(w, r)
		}))
		t.Cleanup(srv.Close)
		return srv.URL + "/v1"
	}
	own := vendor("own", func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), poor) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`)
			return
		}
		answer(w, "own")
	})
	keyed := vendor("keyed", func(w http.ResponseWriter, _ *http.Request) { answer(w, "keyed") })
	s := rig.Serve(t, fmt.Sprintf(`- {id: own, name: provider-anthropic, config: {base_url: %q, models: [m], vendor: anthropic, auth: passthrough}}
- {id: keyed, name: provider-anthropic, config: {base_url: %q, models: [n], vendor: moonshot, auth: bearer, key: key-of-the-operator}}
- {id: failover, name: failover, config: {priority: [own/m, keyed/n]}}
`, own, keyed))
	for i, tt := range []struct{ credential, from string }{
		{poor, "keyed"}, {poor, "keyed"}, {rich, "own"}, {foreign, "keyed"}, {"", "keyed"}, {rich, "own"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(`{"model":"own/m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if tt.credential != "" {
			req.Header.Set("Authorization", "Bearer "+tt.credential)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(got), "from "+tt.from) {
			t.Errorf("call %d: got %d %v %s, want an answer from %s", i, resp.StatusCode, err, got, tt.from)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if got, want := fmt.Sprint(asked["own"]), fmt.Sprint([]string{poor, rich, rich}); got != want {
		t.Errorf("the vendor was sent %s, want %s", got, want)
	}
	if got := fmt.Sprint(asked["keyed"]); strings.Contains(got, "canary") || len(asked["keyed"]) != 4 {
		t.Errorf("the other vendor was sent %s", got)
	}
}
