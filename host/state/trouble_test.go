package state

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host/sqlite"
	"spillway/host/state/record"
	"spillway/sdk"
)

const patience = 20 * time.Second

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// trouble opens a store in dir and returns what a plugin sees of it, and its
// log.
func trouble(t *testing.T, dir string, o Options) (*Store, *Namespace, *logged) {
	t.Helper()
	l := newLogged()
	o.Log = slog.New(l)
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, s.Namespace("ns", "o"), l
}

// recovers waits until the store takes writes.
func recovers(t *testing.T, n *Namespace) {
	t.Helper()
	eventually(t, "recovery", func() bool {
		_, err := n.Put(t.Context(), "again", []byte("v"), 0)
		if err != nil && !errors.Is(err, sdk.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// unavailable checks that operations fail with the one error for that.
func unavailable(t *testing.T, n *Namespace) {
	t.Helper()
	ctx := t.Context()
	_, err := n.Put(ctx, "x", nil, 0)
	errs := []error{err}
	_, err = n.Get(ctx, "x")
	errs = append(errs, err)
	_, err = n.List(ctx, "")
	errs = append(errs, err)
	_, err = n.Acquire(ctx, "x", time.Hour)
	errs = append(errs, err, n.Delete(ctx, "x"), n.ReleaseAll(ctx))
	for i, err := range errs {
		if !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("operation %d: got error %v, want %v", i, err, sdk.ErrUnavailable)
		}
	}
}

// count returns how often a message was logged.
func (l *logged) count(message string) int {
	n := 0
	for _, m := range l.all() {
		if m == message {
			n++
		}
	}
	return n
}

func asides(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, fileName+".corrupt-*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(name string) bool {
		return strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm")
	})
}

func TestFileModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	_, n, _ := trouble(t, dir, Options{})
	recovers(t, n)
	for name, want := range map[string]fs.FileMode{
		"": fs.ModeDir | 0o700, fileName: 0o600, fileName + "-wal": 0o600, fileName + "-shm": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%q: mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestExistingFileIsClosedToOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, n, _ := trouble(t, dir, Options{})
	recovers(t, n)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
}

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	garbage := bytes.Repeat([]byte("this is no database\n"), 1000)
	if err := os.WriteFile(filepath.Join(dir, fileName), garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	_, n, l := trouble(t, dir, Options{Limit: patience})
	if _, err := n.Put(t.Context(), "a", nil, 0); err != nil {
		t.Errorf("put into the new file: %v", err)
	}
	aside := asides(t, dir)
	if len(aside) != 1 {
		t.Fatalf("set aside: got %q, want one file", aside)
	}
	if kept, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(kept, garbage) {
		t.Errorf("file that was set aside: %v, want it as it was", err)
	}
	if d := cmp.Diff([]string{msgAside}, l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

// TestCorruptWhileOpen overwrites the file of two open stores. Both go on with
// a new file, the same one, and only one file is set aside.
func TestCorruptWhileOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	s0, n0, _ := trouble(t, dir, Options{Limit: patience})
	for i := range 200 {
		s0.Records().Put(record.Request{ID: fmt.Sprint(i), Started: time.Now()})
	}
	if _, err := s0.Records().Last(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease, err := n0.Acquire(t.Context(), "probe", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s0.Close()

	s1, n1, l1 := trouble(t, dir, Options{Limit: patience})
	_, n2, l2 := trouble(t, dir, Options{Limit: patience})
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	// All pages but the first, which says that this is a database.
	junk := bytes.Repeat([]byte{0xa5}, int(info.Size())-pageSize)
	if _, err := f.WriteAt(junk, pageSize); err != nil {
		t.Fatal(err)
	}

	_, err = s1.Records().Get(t.Context(), "7")
	if !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("read a corrupt file: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	eventually(t, "new file in one store", func() bool {
		_, err := n1.Put(t.Context(), "fresh", []byte("v"), 0)
		return err == nil
	})
	eventually(t, "new file in the other", func() bool {
		_, err := n2.Get(t.Context(), "fresh")
		return err == nil
	})
	if aside := asides(t, dir); len(aside) != 1 {
		t.Errorf("set aside: got %q, want one file", aside)
	}
	if got := l1.count(msgAside) + l2.count(msgAside); got != 1 {
		t.Errorf("set aside was reported %d times: %q, %q", got, l1.all(), l2.all())
	}
	if again, err := n1.Acquire(t.Context(), "probe", time.Hour); err != nil || again.Generation <= lease.Generation {
		t.Errorf("got generation %d, %v, want more than the lost file's %d", again.Generation, err, lease.Generation)
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s, n, l := trouble(t, dir, Options{Limit: 50 * time.Millisecond})
	recovers(t, n)

	db, err := sql.Open(sqlite.Driver, sqlite.DSN(filepath.Join(dir, fileName), nil)+"&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Records().Put(record.Request{ID: "r", Started: time.Now()})
	for range 3 {
		if _, err := n.Put(t.Context(), "x", nil, 0); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("put: got error %v, want %v", err, sdk.ErrUnavailable)
		}
		if _, err := n.Acquire(t.Context(), "x", time.Hour); !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("acquire: got error %v, want %v", err, sdk.ErrUnavailable)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	recovers(t, n)
	eventually(t, "record", func() bool {
		_, err := s.Records().Get(t.Context(), "r")
		return err == nil
	})
	if n := l.count(msgDown); n != 1 {
		t.Errorf("outage was reported %d times", n)
	}
	if aside := asides(t, dir); len(aside) != 0 {
		t.Errorf("a locked file was set aside: %q", aside)
	}
}

func TestOpenLocked(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(filepath.Join(dir, fileName), nil)+"&_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, n, l := trouble(t, dir, Options{})
	unavailable(t, n)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	recovers(t, n)
	if d := cmp.Diff([]string{msgDown}, l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

// TestFull: a full store still reads, says so once, and takes writes again
// once there is room.
func TestFull(t *testing.T) {
	s, n, l := trouble(t, t.TempDir(), Options{Limit: patience, MaxBytes: 40 * pageSize})
	value := bytes.Repeat([]byte("x"), sdk.MaxStateValue)
	var err error
	kept := 0
	for ; err == nil && kept < 100; kept++ {
		_, err = n.Put(t.Context(), fmt.Sprint("k", kept), value, 0)
	}
	if !errors.Is(err, sdk.ErrUnavailable) {
		t.Fatalf("%d puts: got error %v, want %v", kept, err, sdk.ErrUnavailable)
	}
	if _, err := n.Put(t.Context(), "more", value, 0); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("another put: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	if _, err := n.Get(t.Context(), "k0"); err != nil {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Records().Last(t.Context()); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("last record: got error %v, want %v", err, sdk.ErrNotFound)
	}
	if err := n.Delete(t.Context(), "k0"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Put(t.Context(), "more", value, 0); err != nil {
		t.Errorf("put after making room: %v", err)
	}
	if d := cmp.Diff([]string{msgDown}, l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

// TestUnusablePlace: something that is no folder, or no file, is where the
// store should be; then it is taken away.
func TestUnusablePlace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		block func(dir string) error
		clear func(dir string) error
	}{
		{
			"no parent",
			func(string) error { return nil },
			func(dir string) error { return os.Mkdir(filepath.Dir(dir), 0o700) },
		},
		{
			"file instead of folder",
			func(dir string) error {
				return errors.Join(os.Mkdir(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o600))
			},
			os.Remove,
		},
		{
			"folder instead of file",
			func(dir string) error { return os.MkdirAll(filepath.Join(dir, fileName), 0o700) },
			func(dir string) error { return os.Remove(filepath.Join(dir, fileName)) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "profile", "state")
			if err := tt.block(dir); err != nil {
				t.Fatal(err)
			}
			_, n, l := trouble(t, dir, Options{})
			unavailable(t, n)
			unavailable(t, n)
			if err := tt.clear(dir); err != nil {
				t.Fatal(err)
			}
			recovers(t, n)
			if n := l.count(msgDown); n != 1 {
				t.Errorf("outage was reported %d times", n)
			}
		})
	}
}

// TestFolderRemoved: the file goes away below an open store, which begins a
// new one; a watch goes on with it.
func TestFolderRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	_, n, l := trouble(t, dir, Options{Limit: patience})
	if _, err := n.Put(t.Context(), "old", nil, 0); err != nil {
		t.Fatal(err)
	}
	changes := make(chan sdk.Item, 100)
	if err := n.Watch(t.Context(), "new", func(it sdk.Item) { changes <- it }); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	eventually(t, "new file", func() bool {
		_, err := n.Get(t.Context(), "old")
		return errors.Is(err, sdk.ErrNotFound)
	})
	if _, err := n.Put(t.Context(), "new", []byte("v"), 0); err != nil {
		t.Fatal(err)
	}
	select {
	case it := <-changes:
		if it.Key != "new" {
			t.Errorf("heard of %+v, want the new item", it)
		}
	case <-time.After(patience):
		t.Error("the watch does not go on")
	}
	if n := l.count(msgMoved); n != 1 {
		t.Errorf("the removal was reported %d times: %q", n, l.all())
	}
	if _, err := os.Stat(filepath.Join(dir, fileName)); err != nil {
		t.Error(err)
	}
}

// TestReadOnly: a connection that may not write is let go of, in case the next
// one may.
func TestReadOnly(t *testing.T) {
	_, n, l := trouble(t, t.TempDir(), Options{Limit: patience})
	recovers(t, n)
	db, err := n.part.items.(*file).use()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.write.ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Put(t.Context(), "x", nil, 0); !errors.Is(err, sdk.ErrUnavailable) {
		t.Errorf("put: got error %v, want %v", err, sdk.ErrUnavailable)
	}
	recovers(t, n)
	if d := cmp.Diff([]string{msgDown}, l.all()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

func TestNewerFile(t *testing.T) {
	dir := t.TempDir()
	s, _, _ := trouble(t, dir, Options{})
	s.Close()
	db, err := sql.Open(sqlite.Driver, sqlite.DSN(filepath.Join(dir, fileName), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "schema 99") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got error %v, want one that names the file and schema 99", err)
	}
	if aside := asides(t, dir); len(aside) != 0 {
		t.Errorf("a newer file was set aside: %q", aside)
	}
}

func TestFileSweeps(t *testing.T) {
	_, n, _ := trouble(t, t.TempDir(), Options{Limit: patience})
	recovers(t, n)
	db, err := n.part.items.(*file).use()
	if err != nil {
		t.Fatal(err)
	}
	for i := range sweepBatch + 1 {
		if _, err := n.Put(t.Context(), fmt.Sprint(i), nil, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{
		{0, 0}, {2 * time.Hour, sweepBatch}, {2 * time.Hour, 1}, {2 * time.Hour, 0},
	} {
		if got, err := db.sweep(ctx, time.Now().Add(tt.after)); err != nil || got != tt.want {
			t.Errorf("after %v: got %d, %v, want %d removed", tt.after, got, err, tt.want)
		}
	}
	if _, err := n.Get(ctx, "again"); err != nil {
		t.Errorf("item without expiry: %v", err)
	}
}
