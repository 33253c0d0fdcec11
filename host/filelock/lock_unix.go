//go:build unix

// Package filelock keeps a file to one process at a time.
package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Take takes an exclusive lock that ends with the file's closing or with the
// process, however that ends. It does not wait: taken says that another has it.
func Take(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, os.NewSyscallError("flock", err)
}
