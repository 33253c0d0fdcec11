package sim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"spillway/host/sim"
)

func TestAdmin(t *testing.T) {
	s := open(t, sim.Vendor{Name: "a", Script: "quota"}, sim.Vendor{Name: "b"})
	for _, tt := range []struct {
		method, path, body string
		header             [2]string
		status             int
		want               string
	}{
		{"GET", "/_sim/script?vendor=a", "", [2]string{}, 200, "quota\n"},
		{"GET", "/_sim/script", "", [2]string{}, 404, "want ?vendor=NAME"},
		{"GET", "/_sim/script?vendor=c", "", [2]string{}, 404, `vendor "c": there is none`},
		{"PUT", "/_sim/script?vendor=a", "refuse", [2]string{}, 204, ""},
		{"PUT", "/_sim/script?vendor=a", "ok; 429", [2]string{}, 204, ""},
		{"GET", "/_sim/script?vendor=a", "", [2]string{}, 200, "ok; 429\n"},
		{"PUT", "/_sim/script?vendor=a", "nope", [2]string{}, 400, `step 1 "nope": unknown step`},
		{"PUT", "/_sim/script?vendor=a", strings.Repeat("x", 70000), [2]string{}, 400, "too large"},
		{"GET", "/_sim/vendors", "", [2]string{}, 200, `"name":"b"`},
		{"GET", "/_sim/log", "", [2]string{}, 200, "[]"},
		{"GET", "/_sim/log?vendor=c", "", [2]string{}, 404, "there is none"},
		{"GET", "/_sim/log", "", [2]string{"Host", "evil.example"}, 403, "not served"},
		{"PUT", "/_sim/script?vendor=a", "refuse", [2]string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"DELETE", "/_sim/script", "", [2]string{}, 405, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.AdminURL()+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		if name, value := tt.header[0], tt.header[1]; name == "Host" {
			r.Host = value
		} else if name != "" {
			r.Header.Set(name, value)
		}
		if got := roundTrip(r); got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s %s: got %d %q %v, want %d with %q", tt.method, tt.path, got.status, got.body, got.err, tt.status, tt.want)
		}
	}
	a := ask{dialect: "openai"}
	if r := a.send(t.Context(), t, s.Vendor("a")); r.status != 200 {
		t.Errorf("after the script was set: got %d %v", r.status, r.err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.AdminURL()+"/_sim/log?vendor=a", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := roundTrip(r)
	var calls []sim.Call
	if err := json.Unmarshal([]byte(got.body), &calls); err != nil || len(calls) != 1 || calls[0].Step != "ok" || strings.Contains(got.body, "good") {
		t.Errorf("log: got %s, %v, want one call and no key", got.body, err)
	}
}
