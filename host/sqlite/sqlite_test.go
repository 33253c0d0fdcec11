package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"spillway/host/sqlite"
)

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, sqlite.Immediate(path, []string{"busy_timeout(10000)", "journal_mode(WAL)"}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestTouch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?b#c%20.db") // a name that a URL must not misread
	first, err := sqlite.Touch(path)
	if err != nil || first.Mode().Perm() != 0o600 {
		t.Fatal(first.Mode(), err)
	}
	if _, err := open(t, path).Exec("CREATE TABLE t (n)"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Touch(path)
	if err != nil || !os.SameFile(first, again) || again.Size() == 0 {
		t.Errorf("touched again: %v, %d bytes", err, again.Size())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if sqlite.Moved(path, first) {
		t.Error("moved although it is there")
	}
	if err := os.Rename(path, path+".old"); err != nil || !sqlite.Moved(path, first) {
		t.Errorf("not moved, %v", err)
	}
	if _, err := sqlite.Touch(path); err != nil || !sqlite.Moved(path, first) {
		t.Errorf("another file counts as this one, %v", err)
	}
	if _, err := sqlite.Touch(filepath.Dir(path)); err == nil {
		t.Error("a folder is a file")
	}
}

// TestMigrate: the steps that are missing are taken, once, whoever is first.
func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	steps := []string{"CREATE TABLE a (n); INSERT INTO a VALUES (1)", "CREATE TABLE b (n)"}
	if err := sqlite.Migrate(t.Context(), open(t, path), steps[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		db := open(t, path)
		wg.Go(func() {
			if err := sqlite.Migrate(t.Context(), db, steps...); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var n int
	if err := open(t, path).QueryRow("SELECT count(*) FROM a, (SELECT count(*) FROM b)").Scan(&n); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
	if err := sqlite.Migrate(t.Context(), open(t, path), steps[0]); !errors.Is(err, sqlite.ErrNewer) || !strings.Contains(err.Error(), "schema 2") {
		t.Errorf("an older program: %v", err)
	}
	if err := sqlite.Migrate(t.Context(), open(t, path), append(steps, "CREATE TABLE c (n); nonsense")...); err == nil {
		t.Error("a step that fails is taken")
	}
	if err := open(t, path).QueryRow("SELECT n FROM c").Scan(&n); err == nil || errors.Is(err, sql.ErrNoRows) {
		t.Errorf("half of a step was taken: %v", err)
	}
}

func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	if err := sqlite.Migrate(t.Context(), db, "CREATE TABLE a (n)"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	other, err := sql.Open(sqlite.Driver, sqlite.Immediate(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Begin(); !sqlite.Busy(err) || sqlite.Corrupt(err) {
		t.Errorf("locked: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(bad, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Migrate(t.Context(), open(t, bad), "CREATE TABLE a (n)"); !sqlite.Corrupt(err) || sqlite.Busy(err) {
		t.Errorf("no database: %v", err)
	}
	if sqlite.Code(nil) != 0 || sqlite.Code(errors.New("other")) != 0 {
		t.Error("other errors have a code")
	}
}
