package sim

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"time"
)

// certificateLife is longer than any run and shorter than anybody would keep it.
const certificateLife = 7 * 24 * time.Hour

// newCertificate makes a certificate for an address, and its PEM form.
func newCertificate(ip net.IP) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "simulated vendors"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{ip},
		DNSNames:              []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// connKey is the context key of a request's connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// conn is the connection that the request came over: a *tls.Conn or a
// *net.TCPConn.
func (x *exchange) conn() net.Conn {
	c, _ := x.ctx.Value(connKey{}).(net.Conn)
	return c
}

// raw is the TCP connection below TLS.
func (x *exchange) raw() net.Conn {
	if t, ok := x.conn().(*tls.Conn); ok {
		return t.NetConn()
	}
	return x.conn()
}

// reset drops the connection so that the client sees a reset.
func (x *exchange) reset() error {
	if tcp, ok := x.raw().(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	return x.drop()
}

// drop ends the connection without a word in TLS or HTTP/2.
func (x *exchange) drop() error {
	x.raw().Close()
	return errBreak
}

// frameDelay is how long HTTP/2 frames are given to leave: a flush returns a
// moment before they do.
const frameDelay = 20 * time.Millisecond

// settle waits until what was written is on its way.
func (x *exchange) settle() error {
	if !x.http2 {
		return nil
	}
	return wait(x.ctx, frameDelay)
}

// goAwayFrame is HTTP/2's GOAWAY of a server that shuts down: no error, no
// stream left out.
const goAwayFrame = "\x00\x00\x08\x07\x00\x00\x00\x00\x00" + "\x7f\xff\xff\xff" + "\x00\x00\x00\x00"

// goAway says that the connection ends and ends it.
func (x *exchange) goAway() error {
	if x.http2 {
		if _, err := io.WriteString(x.conn(), goAwayFrame); err != nil {
			return err
		}
	}
	x.conn().Close()
	return errBreak
}
