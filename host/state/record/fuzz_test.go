package record

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRequest: a stored record that can be read is read alike once it was
// written again, as a newer program does with the records of an older one.
func FuzzRequest(f *testing.F) {
	f.Add(`{"id":"req_1","started":"2026-11-30T00:00:00Z","outcome":"ok","took_ms":1.5,"attempts":[{"n":1,"kind":"first","route":{"provider":"a"},"took_ms":0.001,"failure":{"code":"QUOTA","retry_after_ms":1e3}}]}`)
	f.Add(`{"took_ms":-9223372036854775}`)
	f.Add(`{"took_ms":1e300,"attempts":null}`)
	f.Add(`{"attempts":[{"ttfc_ms":0.0004999}],"shape":{},"wants":{"Strict":true}}`)
	f.Fuzz(func(t *testing.T, data string) {
		var r, again Request
		if json.Unmarshal([]byte(data), &r) != nil {
			return
		}
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		twice, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(out), string(twice)); d != "" {
			t.Errorf("(-first +second):\n%s", d)
		}
	})
}
