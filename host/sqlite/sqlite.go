// Package sqlite says how this program opens SQLite files: for nobody else to
// read, and with a schema that is brought up to date in steps. What a file is for,
// how durable its writes are, and what is done when it is corrupt is its owner's.
package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // registers the driver
)

// Driver is the name for sql.Open.
const Driver = "sqlite"

// DSN names a file and the pragmas of each of its connections, in order.
func DSN(path string, pragmas []string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode()
}

// Immediate is DSN for connections whose transactions take the write lock at
// once, so that none fails halfway because another process was faster.
func Immediate(path string, pragmas []string) string {
	return DSN(path, pragmas) + "&_txlock=immediate"
}

// Touch makes the file if there is none, for nobody else to read, and says
// which it is. SQLite gives its side files the same mode.
//
// An existing file is not opened here: closing it again would drop the locks
// that SQLite may hold on it elsewhere in this process.
func Touch(path string) (os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	id, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !id.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case id.Mode().Perm()&0o077 != 0:
		return id, os.Chmod(path, 0o600)
	}
	return id, nil
}

// Moved reports whether path no longer names the file that is id.
func Moved(path string, id os.FileInfo) bool {
	at, err := os.Stat(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(at, id)
}
