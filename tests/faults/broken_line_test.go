package faults

import (
	"os"
	"path/filepath"
	"testing"

	"spillway/host/state/record"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// TestBrokenLines is B25: a connection that breaks before any content in the ways
// that HTTP/2 and TLS have for it is a lost connection, and asked over again.
func TestBrokenLines(t *testing.T) {
	for i, step := range []struct{ name, script string }{
		{"GOAWAY", "goaway=0; ok"},
		{"RST_STREAM", "cut=0; ok"},
		{"no close_notify", "tls-cut=0; ok"},
	} {
		d := caller.Dialects()[i] // what breaks is below all of them
		t.Run(step.name+" "+string(d), func(t *testing.T) {
			t.Parallel()
			vendor := primary(step.script)
			vendor.TLS = true
			s, rows := stage(t, d, vendor, fallback("ok"))
			dir := t.TempDir()
			authority := filepath.Join(dir, "authority.pem")
			if err := os.WriteFile(authority, s.vendors.Certificate(), 0o600); err != nil {
				t.Fatal(err)
			}
			// The system's own authorities would be read too: a second or more of a
			// processor with the race detector.
			s = s.beside(rig.Serve(t, rows+defaults().row(t), "SSL_CERT_FILE="+authority, "SSL_CERT_DIR="+dir))
			r := s.ask(large)
			s.served(r, "primary")
			s.record(r.ID, record.OKAfterRetry, "primary primary/large TRANSPORT > retry", "retry primary/large ok")
			s.stands()
		})
	}
}
