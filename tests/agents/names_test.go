package agents

import (
	"net"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a name server that knows no name and notes which it was asked for.
type names struct {
	conn  net.PacketConn
	ended chan struct{}
	asked []string // to be read after ended
}

// serveNames makes a names the name server of this namespace.
func serveNames(t *testing.T) *names {
	t.Helper()
	resolveHere(t)
	conn, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, ended: make(chan struct{})}
	go n.serve()
	return n
}

func (n *names) serve() {
	defer close(n.ended)
	query := make([]byte, 512)
	for {
		size, from, err := n.conn.ReadFrom(query)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(query[:size]) != nil {
			continue
		}
		for _, q := range m.Questions {
			if name := q.Name.String(); !slices.Contains(n.asked, name) {
				n.asked = append(n.asked, name)
			}
		}
		m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
		if reply, err := m.Pack(); err == nil {
			_, _ = n.conn.WriteTo(reply, from) // or it asks again
		}
	}
}

// close ends the server and returns the names.
func (n *names) close() []string {
	n.conn.Close()
	<-n.ended
	return n.asked
}
