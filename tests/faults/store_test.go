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
		during func(t *testing.T, file string)
		said   string // in the log
		aside  bool   // what was there is kept
	}{
		{name: "corrupt from the beginning", before: func(t *testing.T, file string) { write(t, file, garbage) }, said: "corrupt", aside: true},
		{name: "corrupt meanwhile", during: func(t *testing.T, file string) { write(t, file, garbage) }},
		{name: "gone", during: func(t *testing.T, file string) {
			for _, f := range []string{file, file + "-wal", file + "-shm"} {
				if err := os.RemoveAll(f); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{name: "locked", during: lock, said: "state store unavailable"},
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
				tt.during(t, file)
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
			if n := strings.Count(s.Log(), tt.said); tt.said != "" && (n == 0 || n > 5) {
				t.Errorf("%q was said %d times", tt.said, n)
			}
		})
	}
}

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
