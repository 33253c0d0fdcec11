package provider

import "net"

// online reports whether this machine has a route to the outside, of either
// address family. Asking the kernel for one sends nothing: connecting a UDP
// socket only looks the route up. The addresses are for documentation (RFC 5737,
// RFC 3849), so nobody is there.
func online() bool {
	for _, to := range [...]struct{ network, address string }{
		{"udp4", "192.0.2.1:9"},
		{"udp6", "[2001:db8::1]:9"},
	} {
		c, err := net.Dial(to.network, to.address)
		if err == nil {
			c.Close()
			return true
		}
	}
	return false
}
