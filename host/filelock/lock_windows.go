// Package filelock keeps a file to one process at a time.
package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Take takes an exclusive lock that ends with the file's closing or with the
// process, however that ends. It does not wait: taken says that another has it.
func Take(f *os.File) (taken bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}
