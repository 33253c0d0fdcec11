//go:build unix

package profile

import (
	"errors"
	"os"
	"syscall"
)

// hold takes an exclusive lock that ends with the file's closing or with the
// process, however that ends. It reports whether another has it.
func hold(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
