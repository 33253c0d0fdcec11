package host

import (
	"os"
	"syscall"
)

// beingWritten reports whether some process has a file of ours open for writing:
// then the kernel grants no lease for reading. One that it cannot tell about
// counts as whole.
func beingWritten(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() // and with it the lease
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_SETLEASE, syscall.F_RDLCK)
	return errno == syscall.EAGAIN
}
