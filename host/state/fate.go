package state

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fate is what an error means for the open file.
type fate uint8

const (
	fateKeep    fate = iota // it may work next time: busy, full, out of time
	fateReopen              // this connection will not recover: read-only, I/O error
	fateCorrupt             // the file is no database, or a broken one
)

func fateOf(err error) fate {
	switch resultCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fateCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fateReopen
	}
	return fateKeep
}

func isBusy(err error) bool {
	code := resultCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// resultCode returns SQLite's primary result code, 0 if err is not SQLite's.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
