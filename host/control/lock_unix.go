//go:build unix

package control

import (
	"os"
	"syscall"
)

// hold takes an exclusive lock that ends with the file's closing or with the
// process, however that ends.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
