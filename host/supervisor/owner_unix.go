//go:build unix

package supervisor

import (
	"fmt"
	"os"
	"syscall"
)

func ownedByUs(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("belongs to user %d, neither to us nor to root", st.Uid)
	}
	return nil
}
