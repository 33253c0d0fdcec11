package failure

import (
	"strings"

	"spillway/sdk"
)

// clientText is how a client library words an error of the connection.
type clientText struct {
	verdict
	cause sdk.Cause
	text  string // lower case
}

// clientTexts are tried in order: a library often names an error by its
// symptom and its reason, and the reason counts. Go, Node, Bun and Python.
func clientTexts() []clientText {
	var list []clientText
	add := func(code sdk.Code, scope sdk.Scope, cause sdk.Cause, texts ...string) {
		for _, t := range texts {
			list = append(list, clientText{verdict{code: code, scope: scope}, cause, t})
		}
	}
	const unreachable = sdk.ScopeVendor
	add(sdk.CodeTransport, unreachable, sdk.CauseDNS,
		"enotfound", "eai_again", "eai_nodata", "eai_noname", "getaddrinfo", "no such host", "name or service not known",
		"name resolution", "nodename nor servname", "dns error", "err_name_not_resolved", "could not resolve")
	add(sdk.CodeTransport, unreachable, sdk.CauseRefused,
		"econnrefused", "connection refused", "actively refused", "connectionrefused")
	add(sdk.CodeTransport, unreachable, sdk.CauseNoRoute,
		"ehostunreach", "enetunreach", "enetdown", "eaddrnotavail", "no route to host", "network is unreachable",
		"err_internet_disconnected", "unable to connect")
	add(sdk.CodeTransport, unreachable, sdk.CauseTLS,
		"before secure tls connection", "tls handshake failed", "tls: handshake", "handshake failure", "certificate",
		"cert_", "_cert", "self signed", "self-signed", "wrong version number", "x509:", "sslcertverification", " eproto", "unable_to_verify")
	add(sdk.CodeTimeout, unreachable, "",
		"etimedout", "connect timeout", "connection timed out", "connecttimeout", "und_err_connect_timeout", "tls handshake timeout")
	add(sdk.CodeTimeout, "", "",
		"timed out", "timeout", "esockettimedout", "deadline exceeded")
	add(sdk.CodeAborted, "", "",
		"aborterror", "useraborterror", "was aborted", "aborted by", "request aborted", "err_canceled", "context canceled", "cancelled by", "canceled by")
	add(sdk.CodeTransport, "", sdk.CauseCut,
		"premature_close", "premature close", "stream disconnected", "stream ended", "stream closed", "ended without", "ended before",
		"closed before", "incomplete chunked", "incompleteread", "unexpected eof", "unexpected end of")
	add(sdk.CodeTransport, "", sdk.CauseReset,
		"econnreset", "connection reset", "epipe", "broken pipe", "econnaborted", "socket hang up", "other side closed",
		"und_err_socket", "closed unexpectedly", "server disconnected", "remoteprotocolerror", "peer closed", "connection closed",
		"connection aborted", "err_http2", "err_connection_closed", "goaway", "stream error", "bad record mac", ": terminated", ": eof")
	add(sdk.CodeTransport, unreachable, sdk.CauseNoRoute,
		"connection error", "fetch failed", "network error", "networkerror", "failed to fetch")
	return list
}

func clientVerdict(text string) (clientText, bool) {
	text = strings.ToLower(text)
	for _, c := range clientTexts() {
		if strings.Contains(text, c.text) {
			return c, true
		}
	}
	return clientText{}, false
}

// fromClientText judges a client library's description of an error. One that
// says nothing known is a lost connection.
func fromClientText(body []byte) *sdk.Failure {
	text := string(clip(body))
	c, ok := clientVerdict(text)
	if !ok {
		c = clientText{verdict{code: sdk.CodeTransport}, sdk.CauseReset, "unknown"}
	}
	r := read(body)
	f := sdk.NewFailure(c.code, "client:"+c.text, r.message)
	f.Cause = c.cause
	if c.scope != "" {
		f.Scope = c.scope
	}
	f.VendorCode = r.vendorCode()
	return f
}
