package gateway_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"spillway/host/dialect/dialecttest"
	"spillway/host/gateway"
)

// TestSameDialect: the client gets the vendor's bytes, streamed or not.
func TestSameDialect(t *testing.T) {
	for _, d := range dialects {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", d.name, stream), func(t *testing.T) {
				r := newRig(t, "ok", d.module, gateway.Options{})
				resp, got, err := post(t, r.url+d.path+"?beta=true", fmt.Sprintf(d.body, stream))
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("status %d, %v: %s", resp.StatusCode, err, got)
				}
				_, want, _ := post(t, r.vendor.URL()+d.path, strings.Replace(fmt.Sprintf(d.body, stream), "p/m1", "m1", 1))
				if digitless(got) != digitless(want) { // ids and clocks are digits
					t.Errorf("differs from a direct answer:\n%s\nwant\n%s", got, want)
				}
				if resp.Header.Get("X-Spillway-Route") != "p/m1" || !strings.HasPrefix(resp.Header.Get("X-Spillway-Request-Id"), "req_") {
					t.Errorf("headers: %v", resp.Header)
				}
				if stream {
					if err := dialecttest.Check(d.name, got); err != nil {
						t.Errorf("%v\n%s", err, got)
					}
				}
			})
		}
	}
}

// TestOtherDialect: a vendor that speaks another dialect serves as well.
func TestOtherDialect(t *testing.T) {
	for _, d := range dialects {
		for _, other := range dialects {
			if other == d {
				continue
			}
			t.Run(d.name+" from "+other.name, func(t *testing.T) {
				r := newRig(t, "ok", other.module, gateway.Options{})
				_, got, err := post(t, r.url+d.path, fmt.Sprintf(d.body, true))
				if err != nil {
					t.Fatal(err)
				}
				if err := dialecttest.Check(d.name, got); err != nil {
					t.Errorf("%v\n%s", err, got)
				}
				if !strings.Contains(string(got), "w0@p") || !strings.Contains(string(got), "w19@p") {
					t.Errorf("not the whole answer:\n%s", got)
				}
				resp, got, err := post(t, r.url+d.path, fmt.Sprintf(d.body, false))
				if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(got) || !strings.Contains(string(got), "w19@p") {
					t.Errorf("not streamed: %d %v %s", resp.StatusCode, err, got)
				}
				header := map[string]string{"anthropic": "Request-Id"}[d.name]
				if got := resp.Header.Get(cmp.Or(header, "X-Request-Id")); !strings.HasPrefix(got, "req_") {
					t.Errorf("no id where clients of the dialect look for it: %v", resp.Header)
				}
			})
		}
	}
}

// TestBrokenAnswer: an answer that breaks ends with the dialect's error event
// and an aborted connection, never a clean end.
func TestBrokenAnswer(t *testing.T) {
	for _, d := range dialects {
		for _, module := range []string{"provider-anthropic", "provider-openai", "provider-responses"} {
			for _, script := range []string{"cut=6", "eof=6", "error-event=6"} {
				t.Run(d.name+" from "+module+"/"+script, func(t *testing.T) {
					r := newRig(t, script, module, gateway.Options{})
					resp, got, err := post(t, r.url+d.path, fmt.Sprintf(d.body, true))
					if resp.StatusCode != http.StatusOK {
						t.Fatalf("status %d: %s", resp.StatusCode, got)
					}
					if err == nil {
						t.Error("the connection ended cleanly")
					}
					if err := dialecttest.CheckFailed(d.name, got); err != nil {
						t.Errorf("%v\n%s", err, got)
					}
					if id := resp.Header.Get("X-Spillway-Request-Id"); !bytes.Contains(got, []byte(id)) {
						t.Errorf("the error event does not name the request %s:\n%s", id, got)
					}
				})
			}
		}
	}
}

// TestRefusals: what a client gets when nothing serves.
func TestRefusals(t *testing.T) {
	tests := []struct {
		script string
		status int
		retry  string // X-Should-Retry
		after  bool   // Retry-After is given
		body   string
	}{
		{"invalid-key", 503, "false", true, "INVALID_CREDENTIAL"}, // never the vendor's own 401
		{"quota", 503, "false", true, "QUOTA"},
		{"500", 503, "", true, "SERVER"},
		{"529", 503, "", true, "OVERLOADED"},
		{"reset", 503, "", true, "TRANSPORT"},
	}
	for _, d := range dialects {
		for _, tt := range tests {
			t.Run(d.name+"/"+tt.script, func(t *testing.T) {
				r := newRig(t, tt.script, d.module, gateway.Options{})
				resp, got, _ := post(t, r.url+d.path, fmt.Sprintf(d.body, true))
				h := resp.Header
				if resp.StatusCode != tt.status || h.Get("X-Should-Retry") != tt.retry || (h.Get("Retry-After") != "") != tt.after {
					t.Errorf("got %d, x-should-retry %q, retry-after %q", resp.StatusCode, h.Get("X-Should-Retry"), h.Get("Retry-After"))
				}
				if !json.Valid(got) || !strings.Contains(string(got), tt.body) || !strings.Contains(string(got), h.Get("X-Spillway-Request-Id")) {
					t.Errorf("body: %s", got)
				}
			})
		}
	}
}

// TestCallersFault: the vendor's status and words reach the client as they are.
func TestCallersFault(t *testing.T) {
	for _, d := range dialects {
		for _, script := range []string{"overflow", "policy", "invalid-request"} {
			t.Run(d.name+"/"+script, func(t *testing.T) {
				r := newRig(t, script, d.module, gateway.Options{})
				resp, got, _ := post(t, r.url+d.path, fmt.Sprintf(d.body, true))
				_, want, _ := post(t, r.vendor.URL()+d.path, strings.Replace(fmt.Sprintf(d.body, true), "p/m1", "m1", 1))
				if resp.StatusCode != http.StatusBadRequest || digitless(got) != digitless(want) {
					t.Errorf("got %d %s\nwant %s", resp.StatusCode, got, want)
				}
			})
		}
	}
}

// TestGuards: who may ask at all.
func TestGuards(t *testing.T) {
	r := newRig(t, "ok", "provider-anthropic", gateway.Options{Token: "letmein"})
	tests := []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"bearer", func(q *http.Request) { q.Header.Set("Authorization", "Bearer letmein") }, 200},
		{"x-api-key", func(q *http.Request) { q.Header.Set("X-Api-Key", "letmein") }, 200},
		{"no token", func(*http.Request) {}, 401},
		{"wrong token", func(q *http.Request) { q.Header.Set("X-Api-Key", "letmeout") }, 401},
		{"foreign host with the token", func(q *http.Request) { q.Host = "nas.example"; q.Header.Set("X-Api-Key", "letmein") }, 200},
		{"foreign origin", func(q *http.Request) {
			q.Header.Set("Origin", "https://evil.example")
			q.Header.Set("X-Api-Key", "letmein")
		}, 403},
		{"cross-site", func(q *http.Request) {
			q.Header.Set("Sec-Fetch-Site", "cross-site")
			q.Header.Set("X-Api-Key", "letmein")
		}, 403},
		{"own origin", func(q *http.Request) {
			q.Header.Set("Origin", "http://"+q.URL.Host)
			q.Header.Set("X-Api-Key", "letmein")
		}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/models", nil)
			tt.change(req)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("got %d, want %d", resp.StatusCode, tt.status)
			}
		})
	}
}

// TestBadRequests: refused before anybody is asked, in the dialect's shape.
func TestBadRequests(t *testing.T) {
	r := newRig(t, "ok", "provider-anthropic", gateway.Options{})
	for _, d := range dialects {
		for _, body := range []string{"", "{", "[]", `"x"`, `{"model":7,"messages":[]}`} {
			resp, got, _ := post(t, r.url+d.path, body)
			if resp.StatusCode != http.StatusBadRequest || !json.Valid(got) || resp.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("%s %q: got %d %s", d.name, body, resp.StatusCode, got)
			}
		}
	}
	if n := len(r.vendor.Calls()); n != 0 {
		t.Errorf("%d calls reached the vendor", n)
	}
}

func TestModels(t *testing.T) {
	r := newRig(t, "ok", "provider-anthropic", gateway.Options{})
	for _, anthropic := range []bool{false, true} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/models?limit=1000", nil)
		if anthropic {
			req.Header.Set("Anthropic-Version", "2023-06-01")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Data []struct{ ID, Type, Object string }
		}
		err = json.NewDecoder(resp.Body).Decode(&list)
		resp.Body.Close()
		if err != nil || len(list.Data) != 2 || list.Data[0].ID != "m1" || list.Data[1].ID != "p/m1" {
			t.Errorf("anthropic=%t: %+v, %v", anthropic, list, err)
		}
		if (list.Data[0].Type == "model") != anthropic {
			t.Errorf("anthropic=%t: %+v", anthropic, list.Data[0])
		}
	}
}
