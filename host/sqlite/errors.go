package sqlite

import (
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Code is SQLite's primary result code, 0 if err is not SQLite's.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the other bits tell more of the same
	}
	return 0
}

// Corrupt reports whether err says that the file is no database, or a broken one.
func Corrupt(err error) bool {
	code := Code(err)
	return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// Busy reports whether err says that another has locked the file. The pragma
// busy_timeout does not cover all of it: who opens a file while another makes it,
// or mends it after a crash, may be told at once.
func Busy(err error) bool {
	code := Code(err)
	return code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED
}
