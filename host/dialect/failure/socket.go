package failure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"spillway/sdk"
)

// fromError judges a Go error of the exchange. An error that carries a failure
// already (the host's own limits) is that failure.
func fromError(err error, phase sdk.Phase) *sdk.Failure {
	if f, ok := errors.AsType[*sdk.Failure](err); ok {
		c := *f
		return &c
	}
	d := socketDecision(err, phase)
	f := sdk.NewFailure(d.code, "socket:"+d.rule, err.Error())
	f.Cause = d.cause
	if d.scope != "" {
		f.Scope = d.scope
	}
	return f
}

func socketDecision(err error, phase sdk.Phase) decision {
	unreachable := func(c sdk.Cause) decision {
		return decision{verdict: verdict{code: sdk.CodeTransport, scope: sdk.ScopeVendor}, cause: c, rule: string(c)}
	}
	lost := func(c sdk.Cause) decision {
		return decision{verdict: verdict{code: sdk.CodeTransport}, cause: c, rule: string(c)}
	}
	op, _ := errors.AsType[*net.OpError](err)
	dialing := op != nil && op.Op == "dial"

	switch {
	case errors.Is(err, context.Canceled):
		return decision{verdict: verdict{code: sdk.CodeAborted}, rule: "canceled"}
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE): // no vendor can help that
		return decision{verdict: verdict{code: sdk.CodeLocalNetwork, scope: sdk.ScopeNone}, rule: "open-files"}
	case isDNS(err):
		return unreachable(sdk.CauseDNS)
	case errors.Is(err, syscall.ECONNREFUSED):
		return unreachable(sdk.CauseRefused)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN):
		return unreachable(sdk.CauseNoRoute)
	case isTLS(err):
		return unreachable(sdk.CauseTLS)
	case isTimeout(err):
		d := decision{verdict: verdict{code: sdk.CodeTimeout}, rule: "timeout"}
		if dialing || strings.Contains(err.Error(), "TLS handshake timeout") {
			d.scope, d.rule = sdk.ScopeVendor, "connect-timeout"
		}
		return d
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return lost(sdk.CauseReset)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		if phase == sdk.PhaseStream {
			return lost(sdk.CauseCut)
		}
		return lost(sdk.CauseReset)
	case dialing:
		return unreachable(sdk.CauseNoRoute)
	}
	return lost(sdk.CauseReset)
}

func isDNS(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}

// isTLS reports a failed handshake. An alert or a close after the handshake is
// a lost connection, and comes as another type.
func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return true
	}
	return strings.Contains(err.Error(), "tls: handshake failure") ||
		strings.Contains(err.Error(), "HTTP response to HTTPS client")
}
