package chaos

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Each vendor has an address of its own on the loopback of the run's network, none
// of them from 127.0.0.0/8: for the host they are the network. An address that is
// taken away is a network that is cut: who dials it has no route, and what was sent
// to it is lost without a word.

// address gives the network an address, or takes it away.
func address(t *testing.T, n int, ip string, up bool) {
	t.Helper()
	if err := setAddress(n, ip, up); err != nil {
		t.Fatal(err)
	}
}

func setAddress(n int, ip string, up bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	alias := func() *unix.Ifreq {
		q, _ := unix.NewIfreq(fmt.Sprintf("lo:%d", n+1)) // which is short enough
		return q
	}
	if !up {
		return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, alias())
	}
	var a [4]byte
	if _, err := fmt.Sscanf(ip, "%d.%d.%d.%d", &a[0], &a[1], &a[2], &a[3]); err != nil {
		return err
	}
	q := alias()
	if err := q.SetInet4Addr(a[:]); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFADDR, q); err != nil {
		return fmt.Errorf("address %s: %w", ip, err)
	}
	q = alias()
	if err := q.SetInet4Addr([]byte{255, 255, 255, 255}); err != nil {
		return err
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, q)
}

// cutNetwork takes the address of one vendor away, or those of all.
func (r *run) cutNetwork(e event) {
	set := func(up bool) {
		for i, v := range r.vendors {
			if e.Choice < len(failing) && v.name != failing[e.Choice] {
				continue
			}
			if e.Choice < len(failing) {
				v.failed.Store(time.Now().UnixNano()) // all of them at once are nobody's fault
			}
			if err := setAddress(i, fmt.Sprintf("10.77.0.%d", i+1), up); err != nil {
				r.t.Errorf("network: %v", err)
			}
		}
	}
	set(false)
	e.hold()
	set(true)
}
