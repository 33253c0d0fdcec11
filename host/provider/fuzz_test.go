package provider

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"spillway/host/profile"
)

// FuzzVendors: what is read as vendor data is checked, and the same once written
// again.
func FuzzVendors(f *testing.F) {
	f.Add("a: {endpoints: {openai: https://a.example/v1}, auth: bearer, models: [{id: m, context: 9}]}")
	f.Add("a: {auth: passthrough, credentials: [sk-ant-]}\nb: {quirks: {tool_id_length: 41}}")
	f.Add("a: &x {pass: [X-A]}\nb: *x\n---\nc: {}")
	f.Add("a: {endpoints: {openai: \"https://u:p@h/\"}, pass: [authorization]}")
	f.Fuzz(func(t *testing.T, data string) {
		vendors, err := ParseVendors([]byte(data))
		if err != nil {
			return
		}
		for name, v := range vendors {
			for _, base := range v.Endpoints {
				if u, err := url.Parse(base); err != nil || u.User != nil {
					t.Errorf("%s: base %q, %v", name, base, err)
				}
			}
			for _, h := range v.Pass {
				if slices.Contains(neverPassed, http.CanonicalHeaderKey(h)) {
					t.Errorf("%s: passes %q", name, h)
				}
			}
		}
	})
}

// FuzzModels: a vendor's model list, whatever it says, is bounded and has no
// empty name, and what is wrong with it is told without the key.
func FuzzModels(f *testing.F) {
	const key = "sk-canary-3f1d9c0b7a"
	f.Add(200, `{"object":"list","data":[{"id":"a"},{"id":""},{"id":"b","x":{"id":1}}]}`)
	f.Add(200, `{"data":`+strings.Repeat(`[`, 9999))
	f.Add(200, `{"data":[`+strings.Repeat(`{"id":"m"},`, maxModels+1)+`{"id":"last"}]}`)
	f.Add(401, `{"error":{"message":"bad key sk-canary-3f1d9c0b7a"}}`)
	f.Add(302, `elsewhere`)
	var answer atomic.Pointer[func(http.ResponseWriter)]
	v := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { (*answer.Load())(w) }))
	f.Cleanup(v.Close)
	p, err := New(Options{Name: "p", Keys: []profile.Secret{key}, Vendor: Vendor{Endpoints: map[string]string{"openai": v.URL}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(p.Close)
	set := NewSet(p)
	f.Fuzz(func(t *testing.T, status int, body string) {
		status = 200 + status&0x1ff%400 // final ones
		say := func(w http.ResponseWriter) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
		answer.Store(&say)
		ids, err := set.Models(t.Context(), "p", "")
		if err != nil {
			if strings.Contains(err.Error(), key) {
				t.Errorf("the key is told: %v", err)
			}
			return
		}
		if status != http.StatusOK || len(ids) > maxModels || slices.Contains(ids, "") {
			t.Errorf("status %d, %d models: %.200q", status, len(ids), ids)
		}
	})
}
