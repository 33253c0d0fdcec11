package tools

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// host is an entry of the list of hosts that may be asked.
type host struct {
	name  string // in lower case; of an address its usual form
	port  string // "" for the scheme's own
	below bool   // all names below it, not itself
}

func (h host) String() string {
	name := h.name
	if h.below {
		name = "*." + name
	}
	if h.port != "" {
		return net.JoinHostPort(name, h.port)
	}
	return name
}

func readHosts(entries []string) []host {
	hosts := make([]host, len(entries))
	for i, e := range entries {
		e, below := strings.CutPrefix(strings.ToLower(e), "*.")
		name, port, err := net.SplitHostPort(e)
		if err != nil {
			name, port = strings.Trim(e, "[]"), ""
		}
		hosts[i] = host{name: plainHost(name), port: port, below: below}
	}
	return hosts
}

// plainHost is the one form of a host's name.
func plainHost(name string) string {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String()
	}
	return name
}

func (h host) matches(u *url.URL) bool {
	name, port := plainHost(u.Hostname()), u.Port()
	if port == "" || port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		port = ""
	}
	own := h.port
	if own == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		own = ""
	}
	if port != own {
		return false
	}
	if h.below {
		return strings.HasSuffix(name, "."+h.name)
	}
	return name == h.name
}

const localhost = "localhost"

// dialPublic connects to an address that was looked at, and to none that the name
// may stand for a moment later. A name stands for public addresses alone; an
// address itself, or localhost, is one that the list names as such, or the request
// would not have come so far.
func dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if _, err := netip.ParseAddr(name); err == nil {
		return d.DialContext(ctx, network, address)
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, ip := range found {
		if !standsFor(name, ip) {
			failed = append(failed, fmt.Errorf("%s stands for %s, where it must not lead", name, ip))
			continue
		}
		c, err := d.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return c, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// standsFor reports whether a name may stand for an address.
func standsFor(name string, ip netip.Addr) bool {
	ip = ip.Unmap()
	if plainHost(name) == localhost {
		return ip.IsLoopback()
	}
	return public(ip)
}

// reserved are addresses for special uses, from the registries of IANA (RFC 6890 and
// later), besides those that netip.Addr tells. Those that hold an IPv4 address are
// among them, since it may be a private one.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is anybody's, and not of this machine or network.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
