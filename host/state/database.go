package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"spillway/host/sqlite"
)

// database is the open file. SQLite has one writer at a time anyway; a second
// pool lets reads go on while the writer waits for another process.
type database struct {
	write *sql.DB // one connection; transactions take the write lock at once
	read  *sql.DB
	id    os.FileInfo // which file it is, should another take its name

	putOne, putMany *sql.Stmt // of write: one record, and putAtOnce of them
}

const pageSize = 4096

// openDatabase opens the file at path, which is id, and brings its schema up
// to date. Its operations wait for other processes' locks as long as busy says.
func openDatabase(ctx context.Context, path string, id os.FileInfo, busy time.Duration, maxBytes int64) (_ *database, err error) {
	pragmas := []string{
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()), // contexts cut it shorter
		"journal_mode(WAL)",
		"synchronous(NORMAL)", // a crash of the machine may lose the last writes, never the file
		"cache_size(-1024)",
		fmt.Sprintf("max_page_count(%d)", maxBytes/pageSize),
	}
	db := &database{id: id}
	if db.write, err = sql.Open(sqlite.Driver, sqlite.Immediate(path, pragmas)); err != nil {
		return nil, err
	}
	db.write.SetMaxOpenConns(1)
	if db.read, err = sql.Open(sqlite.Driver, sqlite.DSN(path, append(pragmas, "query_only(1)"))); err != nil {
		db.close()
		return nil, err
	}
	db.read.SetMaxOpenConns(2)
	db.read.SetMaxIdleConns(1)
	if err := sqlite.Migrate(ctx, db.write, schema1); err != nil {
		db.close()
		return nil, err
	}
	if db.putOne, err = db.write.PrepareContext(ctx, putStatement(1)); err == nil {
		db.putMany, err = db.write.PrepareContext(ctx, putStatement(putAtOnce))
	}
	if err != nil {
		db.close()
		return nil, err
	}
	return db, nil
}

// close frees the file once operations under way have ended.
func (db *database) close() {
	if db.read != nil {
		db.read.Close()
	}
	db.write.Close()
}

// setAside renames a corrupt file and its log, which together may still be
// read by somebody with the right tools, and returns the new name. It does
// nothing, and returns "", if path is no longer the file id: another process was
// faster.
func setAside(path string, id os.FileInfo, now time.Time) (string, error) {
	at, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(at, id) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// Nanoseconds keep two processes from choosing the same name.
	aside := path + ".corrupt-" + now.UTC().Format("20060102T150405.000000000Z")
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+side, aside+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.Base(aside), os.Rename(path, aside)
}
