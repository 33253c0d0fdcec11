package chaos

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"spillway/host/profile"
	"spillway/host/sqlite"
	"spillway/host/state/statetest"
)

// store is what the adversary does to where the host keeps its state, in two ways.
type store interface {
	fail(choice int, hold func()) error
	// needsFiles reports whether nothing else can be written meanwhile.
	needsFiles(choice int) bool
}

// fileStore is a SQLite file: locked by somebody else, or on a full disk.
type fileStore struct{ server *server }

func (*fileStore) needsFiles(choice int) bool { return choice != 0 }

func (f *fileStore) fail(choice int, hold func()) error {
	if choice != 0 {
		if err := f.server.disk(0); err != nil {
			return err
		}
		hold()
		return f.server.disk(unix.RLIM_INFINITY)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(f.server.file(), []string{"busy_timeout(5000)"}))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	hold()
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	return err
}

// redisStore is a Redis: gone, or frozen.
type redisStore struct{ redis *statetest.Redis }

func (redisStore) needsFiles(int) bool { return false }

func (s redisStore) fail(choice int, hold func()) error {
	if choice != 0 {
		s.redis.Kill()
		hold()
		s.redis.Start()
		return nil
	}
	if err := s.redis.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	hold()
	return s.redis.Signal(syscall.SIGCONT)
}

func (r *run) storeFails(e event) {
	if r.store.needsFiles(e.Choice) {
		r.calm.Lock()
		defer r.calm.Unlock()
	}
	if err := r.store.fail(e.Choice, e.hold); err != nil {
		r.t.Logf("store: %v", err) // the run goes on without this one
	}
}

// garbage is no database.
var garbage = bytes.Repeat([]byte("no database "), 4096)

// spoilFile makes a corrupt store before serve starts.
func spoilFile(t *testing.T, dir string) {
	t.Helper()
	folder := filepath.Join(dir, profile.StateDir)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "spillway.db"), garbage, 0o600); err != nil {
		t.Fatal(err)
	}
}

// spoilt checks that the corrupt file that serve began with was kept, and a new one
// begun.
func (r *run) spoilt() {
	kept, err := filepath.Glob(r.file() + ".corrupt-*")
	if err != nil || len(kept) == 0 {
		r.report(corrupt, "a corrupt store was not set aside")
		return
	}
	if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, garbage) {
		r.report(corrupt, "a corrupt store was not kept as it was: %v", err)
	}
}

// integrity is what SQLite says of a file, "ok" if it is sound.
func integrity(file string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(file, nil))
	if err != nil {
		return "", err
	}
	defer db.Close()
	var said string
	err = db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&said)
	return said, err
}
