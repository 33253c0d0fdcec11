package cluster

import (
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"spillway/host/state/statetest/machine"
	"spillway/tests/internal/rig"
)

// alone reports true in the process in which the test is to run, which has a network
// of its own. Outside it reports false when that has ended.
func alone(t *testing.T) bool {
	t.Helper()
	machine.Need(t, "redis-server iproute2 util-linux", "redis-server", "ip", "nsenter")
	var told bytes.Buffer
	inside := rig.Isolate(t, syscall.CLONE_NEWPID, &told, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m")
	if !inside {
		t.Logf("in a network of its own:\n%s", &told)
	}
	return inside
}

// hub is the test's own address, at the bridge.
const hub = "10.77.0.1"

// network is a bridge with machines.
type network struct {
	t        *testing.T
	machines int
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t}
	for _, m := range []struct {
		from, to, kind string
		flags          uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"proc", "/proc", "proc", 0},
		{"tmpfs", "/run", "tmpfs", 0}, // where ip has the names of networks
	} {
		if err := unix.Mount(m.from, m.to, m.kind, m.flags, ""); err != nil {
			t.Fatalf("mount %s: %v", m.to, err)
		}
	}
	n.ip("link", "set", "lo", "up")
	n.ip("link", "add", "hub", "type", "bridge")
	n.ip("addr", "add", hub+"/24", "dev", "hub")
	n.ip("link", "set", "hub", "up")
	return n
}

// ip runs the program of that name.
func (n *network) ip(args ...string) {
	n.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.t.Fatalf("ip %q: %v\n%s", args, err, out)
	}
}

// host is one machine at the bridge.
type host struct {
	network *network
	name    string
	address string
	enter   []string // runs a command there
}

// host adds a machine.
func (n *network) host(name string) *host {
	n.t.Helper()
	n.machines++
	h := &host{network: n, name: name, address: fmt.Sprintf("10.77.0.%d", 10+n.machines), enter: []string{"nsenter", "--net=/run/netns/" + name, "--"}}
	n.ip("netns", "add", name)
	n.ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
	n.ip("link", "set", name, "master", "hub", "up")
	n.ip("-n", name, "link", "set", "lo", "up")
	n.ip("-n", name, "addr", "add", h.address+"/24", "dev", "eth0")
	n.ip("-n", name, "link", "set", "eth0", "up")
	return h
}

// cut takes the cable out. Nobody is told.
func (h *host) cut() { h.network.ip("link", "set", h.name, "down") }

// mend puts it in again.
func (h *host) mend() { h.network.ip("link", "set", h.name, "up") }

// deafen loses whatever h would send to another host, and so ends all talk between
// the two without a word to either.
func (h *host) deafen(to *host) {
	h.network.ip("-n", h.name, "route", "add", "blackhole", to.address+"/32")
}

// hear ends deafen.
func (h *host) hear(to *host) {
	h.network.ip("-n", h.name, "route", "del", "blackhole", to.address+"/32")
}
