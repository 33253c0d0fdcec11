package gateway_test

import (
	"testing"

	"spillway/host/gateway"
)

// A request that builds on what its provider keeps demands that provider, whatever
// comes of it; another one does not.
func TestKeptByTheProvider(t *testing.T) {
	r := newRig(t, "ok", "provider-openai", gateway.Options{})
	for body, want := range map[string]bool{
		`{"model":"p/m1","input":"hi","previous_response_id":"resp_1"}`:                      true,
		`{"model":"p/m1","input":[{"type":"item_reference","id":"msg_1"}]}`:                  true,
		`{"model":"p/m1","input":"hi","conversation":{"id":"conv_1"}}`:                       true,
		`{"model":"p/m1","input":"hi","previous_response_id":null,"prompt_cache_key":"key"}`: false,
	} {
		resp, _, err := post(t, r.url+"/v1/responses", body)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.record(resp.Header.Get("X-Spillway-Request-Id")).Wants.SameProvider; got != want {
			t.Errorf("%s: the same provider: got %v, want %v", body, got, want)
		}
	}
}
