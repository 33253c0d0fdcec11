package state

import (
	sqlite3 "modernc.org/sqlite/lib"

	"spillway/host/sqlite"
)

// fate is what an error means for the open file.
type fate uint8

const (
	fateKeep    fate = iota // it may work next time: busy, full, out of time
	fateReopen              // this connection will not recover: read-only, I/O error
	fateCorrupt             // the file is no database, or a broken one
)

func fateOf(err error) fate {
	if sqlite.Corrupt(err) {
		return fateCorrupt
	}
	switch sqlite.Code(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fateReopen
	}
	return fateKeep
}
