package faults

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spillway/host/profile"
	"spillway/tests/internal/caller"
	"spillway/tests/internal/rig"
)

// TestStoreTroubles is B16: whatever becomes of the store, requests are served
// as before by what the processes know, and it is said, but not with each request.
func TestStoreTroubles(t *testing.T) {
	garbage := bytes.Repeat([]byte("no database "), 4096)
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, file string) // serve starts
		during func(s *scene, file string)
		said   string // in the log, once an outage
		aside  bool   // what was there is kept
	}{
		{name: "corrupt from the beginning", before: func(t *testing.T, file string) { write(t, file, garbage) }, said: "it was set aside", aside: true},
		{name: "corrupt meanwhile", during: func(s *scene, file string) { write(s.t, file, garbage) }},
		{name: "gone", during: func(s *scene, file string) {
			for _, f := range []string{file, file + "-wal", file + "-shm"} {
				if err := os.RemoveAll(f); err != nil {
					s.t.Fatal(err)
				}
			}
		}},
		{name: "locked", during: func(s *scene, file string) { lock(s.t, file) }, said: unavailable},
		{name: "full", during: func(s *scene, _ string) { s.Fill() }, said: unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, rows := stage(t, caller.Chat, primary("ok*3; 503"), fallback("ok"))
			rows += scaled().but(settings{"failureThreshold": 1, "cooldownMs": 60_000, "transientCooldownMs": 60_000}).row(t)
			dir := rig.Profile(t, rows)
			file := filepath.Join(dir, profile.StateDir, "spillway.db")
			if tt.before != nil {
				if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				tt.before(t, file)
			}
			s = s.beside(rig.ServeProfile(t, dir))
			for range 3 {
				s.served(s.ask(large), "primary")
			}
			if tt.during != nil {
				tt.during(s, file)
			}
			for range 10 { // the first trips the route, and the others know it
				r := s.ask(large)
				s.served(r, "fallback")
				if r.Took() > 2*time.Second {
					t.Errorf("a call took %s", r.Took())
				}
			}
			s.asked("primary 4", "fallback 10")
			if tt.aside {
				s.until("what was there is kept", func() bool {
					kept, err := filepath.Glob(file + ".corrupt-*")
					if err != nil || len(kept) == 0 {
						return false
					}
					data, err := os.ReadFile(kept[0])
					return err == nil && bytes.HasPrefix(data, garbage[:1024])
				})
			}
			s.Stop()
			// A busy machine may have outages of its own, which end.
			outages := 1 + strings.Count(s.Log(), "state store available again")
			if n := strings.Count(s.Log(), tt.said); tt.said != "" && (n == 0 || n > outages) {
				t.Errorf("%q was said %d times in %d outages", tt.said, n, outages)
			}
		})
	}
}

const unavailable = "state store unavailable, going on without it"

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lock keeps everybody else from the file for the rest of the test.
func lock(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool {
		_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
		return err == nil
	}) {
		t.Fatal(err)
	}
}
