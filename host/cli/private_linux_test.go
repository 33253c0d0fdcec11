package cli

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestKeepOthersOut(t *testing.T) {
	keepOthersOut()
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); n != 0 || err != nil {
		t.Errorf("dumpable %d, %v", n, err)
	}
}
