package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"spillway/host/gateway"
	"spillway/host/state/record"
)

// TestFinalError: what a client gets on the wire when its vendor refuses, on
// every API, streamed or not: its own faults word for word, anything else as a
// 503 that says when to come again.
func TestFinalError(t *testing.T) {
	type want struct {
		status       int
		after, retry string // Retry-After, X-Should-Retry
		verbatim     bool
	}
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   want
	}{
		{"wrong request", 400, nil, `{"error":{"type":"invalid_request_error","message":"x_new: Extra inputs are not permitted"} , "odd":[1.0]}`, want{400, "", "false", true}},
		{"window", 400, nil, `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"prompt is too long: 9 tokens > 8 maximum"}}`, want{400, "", "false", true}},
		{"policy", 400, nil, `{"error":{"code":"content_policy_violation","type":"invalid_request_error","message":"rejected by the safety system"}}`, want{400, "", "false", true}},
		{"unprocessable", 422, map[string]string{"Content-Type": "application/problem+json"}, `{"error":{"type":"invalid_request_error","message":"temperature: out of range"}}`, want{422, "", "false", true}},

		{"revoked key", 401, nil, `{"error":{"type":"authentication_error","message":"invalid x-api-key"}}`, want{503, "1", "false", false}},
		{"no money", 402, nil, `{"error":{"message":"Insufficient Balance"}}`, want{503, "1", "false", false}},
		{"limited", 429, map[string]string{"Retry-After": "20"}, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, want{503, "20", "", false}},
		{"limited for long", 429, map[string]string{"Retry-After": "90"}, `{"error":{"type":"rate_limit_error","message":"slow down"}}`, want{503, "90", "false", false}},
		{"overloaded", 529, nil, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, want{503, "1", "", false}},
		{"a proxy's page", 502, map[string]string{"Content-Type": "text/html"}, `<html>bad gateway</html>`, want{503, "1", "", false}},
		{"an empty 200", 200, nil, ``, want{503, "1", "", false}},
	}
	for _, a := range apis {
		p := newPlayer(t, a)
		r := openRig(t, p.row(), gateway.Options{})
		for _, tt := range tests {
			for _, stream := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/stream=%t", a.name, tt.name, stream), func(t *testing.T) {
					p.play(func(s *stage) bool {
						s.w.Header().Set("Content-Type", "application/json")
						for k, v := range tt.header {
							s.w.Header().Set(k, v)
						}
						s.w.WriteHeader(tt.status)
						s.write([]byte(tt.body))
						return true
					})
					resp, got, err := post(t, r.url+a.path, fmt.Sprintf(a.body, stream))
					if err != nil {
						t.Fatal(err)
					}
					h := resp.Header
					if got := (want{resp.StatusCode, h.Get("Retry-After"), h.Get("X-Should-Retry"), string(got) == tt.body}); got != tt.want {
						t.Errorf("got %+v, want %+v", got, tt.want)
					}
					id := h.Get("X-Spillway-Request-Id")
					if h.Get("X-Spillway-Route") != "p/m1" || h.Get("X-Spillway-Attempts") != "1" {
						t.Errorf("headers: %v", h)
					}
					if tt.want.verbatim {
						if kind := h.Get("Content-Type"); tt.header["Content-Type"] != "" && kind != tt.header["Content-Type"] {
							t.Errorf("content type %q", kind)
						}
					} else if !json.Valid(got) || !strings.Contains(string(got), id) || !strings.Contains(string(got), "tried p/m1") {
						t.Errorf("body: %s", got)
					}
					if rec := r.record(id); rec.Outcome != record.FailedClean {
						t.Errorf("outcome %s", rec.Outcome)
					}
				})
			}
		}
	}
}
