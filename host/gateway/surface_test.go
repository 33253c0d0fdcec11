package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/gateway"
	"spillway/host/state/record"
)

// TestPaths: every API is served with and without /v1, with any query string, by
// every way to name a model.
func TestPaths(t *testing.T) {
	for _, a := range apis {
		p := newPlayer(t, a)
		p.play(func(s *stage) bool { s.say(start(), text("one"), tokens(), stop()); return true })
		r := openRig(t, p.row()+"- {id: names, name: aliases, config: {mine: {route: p/m1}}}\n", gateway.Options{})
		for _, base := range []string{"", "/v1"} {
			for _, query := range []string{"", "?beta=true", "?a=b&c=%20d&e"} {
				for _, model := range []string{"p/m1", "m1", "auto", "mine"} {
					path := base + strings.TrimPrefix(a.path, "/v1") + query
					t.Run(path+" "+model, func(t *testing.T) {
						body := strings.Replace(fmt.Sprintf(a.body, true), "p/m1", model, 1)
						resp, got, err := post(t, r.url+path, body)
						if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(got), "one") {
							t.Errorf("got %d %v %s", resp.StatusCode, err, got)
						}
						if h := resp.Header; h.Get("X-Spillway-Route") != "p/m1" || h.Get("X-Spillway-Attempts") != "1" || !strings.HasPrefix(h.Get("X-Spillway-Request-Id"), "req_") {
							t.Errorf("headers: %v", h)
						}
					})
				}
			}
		}
	}
}

// TestDrain: a balancer is told to send nothing new, and what comes is answered.
func TestDrain(t *testing.T) {
	r := newRig(t, "ok", dialects[1].module, gateway.Options{})
	for _, want := range []struct {
		health string
		status int
		closes bool
	}{{"ok\n", http.StatusOK, false}, {"draining\n", http.StatusServiceUnavailable, true}} {
		resp, err := http.Get(r.url + "/health")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want.status || string(body) != want.health || resp.Close != want.closes {
			t.Errorf("health: got %d %q, closes %t, want %+v", resp.StatusCode, body, resp.Close, want)
		}
		answer, text, err := post(t, r.url+dialects[1].path, fmt.Sprintf(dialects[1].body, true))
		if err != nil || answer.StatusCode != http.StatusOK || answer.Close != want.closes {
			t.Errorf("a call: got %d %v %s, closes %t", answer.StatusCode, err, text, answer.Close)
		}
		r.server.Drain()
	}
}

// TestSignsOfLife: how clients look whether anybody is there, and what they find
// elsewhere.
func TestSignsOfLife(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	tests := []struct {
		method, path string
		status       int
	}{
		{http.MethodHead, "/", 200},
		{http.MethodHead, "/api/hello", 200},
		{http.MethodHead, "/v1", 200},
		{http.MethodHead, "/v1/models", 200},
		{http.MethodGet, "/health", 200},
		{http.MethodGet, "/healthz", 200},
		{http.MethodGet, "/v1/models", 200},
		{http.MethodGet, "/models?limit=3", 200},
		{http.MethodGet, "/", 404},
		{http.MethodGet, "/v1/messages", 404},
		{http.MethodPost, "/v1/embeddings", 404},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, r.url+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("got %d, want %d", resp.StatusCode, tt.status)
			}
			if body, err := io.ReadAll(resp.Body); err != nil || tt.status == http.StatusNotFound && !json.Valid(body) {
				t.Errorf("%v: %s", err, body)
			}
		})
	}
}

// TestModelPages: the Messages API's list comes in pages.
func TestModelPages(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{}) // lists m1 and p/m1
	type list struct {
		Data    []struct{ ID string }
		HasMore bool   `json:"has_more"`
		FirstID string `json:"first_id"`
		LastID  string `json:"last_id"`
	}
	m1, p1 := struct{ ID string }{"m1"}, struct{ ID string }{"p/m1"}
	tests := []struct {
		query string
		want  list
	}{
		{"", list{[]struct{ ID string }{m1, p1}, false, "m1", "p/m1"}},
		{"?limit=1", list{[]struct{ ID string }{m1}, true, "m1", "m1"}},
		{"?limit=1&after_id=m1", list{[]struct{ ID string }{p1}, false, "p/m1", "p/m1"}},
		{"?limit=2", list{[]struct{ ID string }{m1, p1}, false, "m1", "p/m1"}},
		{"?limit=none", list{[]struct{ ID string }{m1, p1}, false, "m1", "p/m1"}},
		{"?after_id=p/m1", list{[]struct{ ID string }{}, false, "", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/models"+tt.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Anthropic-Version", "2023-06-01")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var got list
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestUnknownFieldsPass: what no list of ours knows reaches a vendor of the same
// dialect as it was sent.
func TestUnknownFieldsPass(t *testing.T) {
	bodies := map[string]string{
		"anthropic": `{"model":"p/m1","x_new":[1,{"a":null}],"messages":[{"role":"user","content":"hi"},{"role":"system","content":"now"},{"role":"oracle","content":[{"type":"vision_of_things","x":1}]}],"tools":[{"type":"teleport_20300101","name":"t"}],"stream":true, "max_tokens": 9}`,
		"openai":    `{"model":"p/m1","x_new":[1,{"a":null}],"messages":[{"role":"developer","content":"be"},{"role":"system","content":"now"},{"role":"oracle","content":"hi"}],"tools":[{"type":"namespace","name":"n","tools":[]}],"stream":true}`,
		"responses": `{"model":"p/m1","x_new":[1,{"a":null}],"input":[{"role":"developer","content":"be"},{"type":"omen","x":1}],"tools":[{"type":"namespace","name":"n","tools":[]},{"type":"web_search"}],"stream":true}`,
	}
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			p := newPlayer(t, a)
			sent := make(chan string, 1)
			p.play(func(s *stage) bool { sent <- s.asked; s.say(start(), text("one"), stop()); return true })
			r := openRig(t, p.row(), gateway.Options{})
			if resp, got, err := post(t, r.url+a.path, bodies[a.name]); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("got %d %v %s", resp.StatusCode, err, got)
			}
			if got, want := <-sent, strings.Replace(bodies[a.name], "p/m1", "m1", 1); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestSuccessHeaders: a client is told who served it and after how many attempts,
// streamed or not.
func TestSuccessHeaders(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	for _, a := range apis {
		for _, stream := range []bool{true, false} {
			resp, _, err := post(t, r.url+a.path, fmt.Sprintf(a.body, stream))
			if err != nil {
				t.Fatal(err)
			}
			h := resp.Header
			if h.Get("X-Spillway-Route") != "p/m1" || h.Get("X-Spillway-Attempts") != "1" {
				t.Errorf("%s stream=%t: %v", a.name, stream, h)
			}
			if rec := r.record(h.Get("X-Spillway-Request-Id")); rec.Outcome != record.OK {
				t.Errorf("%s stream=%t: %s", a.name, stream, rec.Outcome)
			}
		}
	}
}

// TestDemands: a header that demands something impossible is refused with what is
// allowed, before anybody is asked.
func TestDemands(t *testing.T) {
	r := newRig(t, "ok", dialects[0].module, gateway.Options{})
	tests := []struct {
		header, value string
		status        int
		says          string
	}{
		{"X-Spillway-Stream", "resume", 200, ""},
		{"X-Spillway-Stream", " Buffer ", 200, ""},
		{"X-Spillway-Stream", "fail", 200, ""},
		{"X-Spillway-Stream", "mend", 400, `got \"mend\" (allowed: fail, buffer, resume)`},
		{"X-Spillway-Strict", "on", 200, ""},
		{"X-Spillway-Strict", "perhaps", 400, `got \"perhaps\" (allowed: true, false)`},
		{"X-Spillway-Fallback", "perhaps", 400, `got \"perhaps\" (allowed: true, false)`},
	}
	for _, a := range apis {
		for _, tt := range tests {
			t.Run(a.name+"/"+tt.header+" "+tt.value, func(t *testing.T) {
				asked := len(r.vendor.Calls())
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+a.path, strings.NewReader(fmt.Sprintf(a.body, false)))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set(tt.header, tt.value)
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(got), tt.says) {
					t.Errorf("got %d %v %s", resp.StatusCode, err, got)
				}
				if n := len(r.vendor.Calls()) - asked; (n > 0) != (tt.status == http.StatusOK) {
					t.Errorf("%d calls reached the vendor", n)
				}
			})
		}
	}
}
