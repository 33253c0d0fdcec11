package chaos

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"spillway/tests/internal/rig"
)

// Each vendor has an address of its own on the loopback of the run's network, none
// of them from 127.0.0.0/8: for the host they are the network. An address that is
// taken away is a network that is cut: who dials it has no route, and what was sent
// to it is lost without a word.

// isolated runs this test binary once more, in a network of its own. It returns true
// in there, and false outside once the other has ended.
func isolated(t *testing.T) bool {
	t.Helper()
	// The list of files that a test reads is for the go command and has one writer.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.testlogfile")
	})
	if !rig.Isolate(t, 0, os.Stdout, args...) {
		return false
	}
	if err := interfaceUp("lo", true); err != nil {
		t.Fatalf("loopback: %v", err)
	}
	return true
}

// interfaceUp switches an interface on or off. One that is another's second name
// loses its address.
func interfaceUp(name string, up bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	q, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if up {
		q.SetUint16(unix.IFF_UP)
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, q)
}

// address gives the network an address under the nth second name of its interface.
func address(n int, ip string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, set := range []struct {
		request uint
		ip      string
	}{{unix.SIOCSIFADDR, ip}, {unix.SIOCSIFNETMASK, "255.255.255.255"}} {
		q, err := unix.NewIfreq(secondName(n))
		if err != nil {
			return err
		}
		if err := q.SetInet4Addr(net.ParseIP(set.ip).To4()); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(fd, set.request, q); err != nil {
			return fmt.Errorf("address %s: %w", set.ip, err)
		}
	}
	return nil
}

func secondName(n int) string { return fmt.Sprintf("lo:%d", n+1) }

// vendorIP is the address of the nth vendor.
func vendorIP(n int) string { return fmt.Sprintf("10.77.0.%d", n+1) }

// cutNetwork takes the address of one vendor away, or those of all, for a while.
func (r *run) cutNetwork(e event) {
	each := func(set func(n int) error) {
		for i, v := range r.vendors {
			one := e.Choice < len(failing)
			if one && v.name != failing[e.Choice] {
				continue
			}
			if one { // all of them at once are nobody's fault
				v.failed.Store(time.Now().UnixNano())
			}
			if err := set(i); err != nil {
				r.t.Errorf("network: %v", err)
			}
		}
	}
	each(func(n int) error { return interfaceUp(secondName(n), false) })
	e.hold()
	each(func(n int) error { return address(n, vendorIP(n)) })
}
