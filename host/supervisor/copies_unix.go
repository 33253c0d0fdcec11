//go:build unix

package supervisor

import (
	"os"
	"syscall"
)

// share locks f together with others, seize alone or not at all. A lock belongs
// to the open file and ends with it.
func share(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_SH) }

func seize(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
