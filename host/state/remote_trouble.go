package state

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errReply is for an answer that our scripts do not give.
var errReply = errors.New("unexpected answer")

// explain adds to an error of the server or the way there what to do about it,
// and takes the password out, which a server that does not know a command may
// repeat.
func (r *remote) explain(err error) error {
	if errors.Is(err, redis.ErrClosed) {
		return errClosed
	}
	return fmt.Errorf("%s: %s", r.at.redact(err.Error()), advice(err))
}

// advice says what a person does about a trouble.
func advice(err error) string {
	for _, a := range []struct{ code, advice string }{
		{"WRONGPASS", "check the user and the password in the url"},
		{"NOAUTH", "put the user and the password into the url"},
		{"NOPERM", "give the user all commands and channels on keys of the prefix"},
		{"READONLY", "let the url name the primary, this is a replica"},
		{"MASTERDOWN", "let the url name the primary, this is a replica"},
		{"NOREPLICAS", "replicas are missing: see the server's min-replicas-to-write"},
		{"OOM", "raise maxmemory or make room"},
		{"MISCONF", "the server cannot save: see its log, or its disk is full"},
		{"LOADING", "wait, the server is reading its data"},
		{"BUSY", "wait, the server runs somebody's script"},
		{"WRONGTYPE", "another program uses the keys: choose another prefix"},
		{"MOVED", "a cluster is not supported: use a single server or a proxy"},
		{"CROSSSLOT", "a cluster is not supported: use a single server or a proxy"},
	} {
		if strings.Contains(err.Error(), a.code) { // Redis 6 has it within the text
			return a.advice
		}
	}
	var server redis.Error
	switch {
	case errors.As(err, &server):
		return "Redis 6 or newer, or Valkey, is needed"
	case errors.Is(err, errReply):
		return "another program uses the keys, or this is no Redis"
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "the server is slow or out of reach"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the server's certificate must be valid for the url's host, by an authority that this machine trusts"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "this port does not speak TLS: use redis:// or the TLS port"
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return "check that the server runs and that the url names it"
	}
	return "the connection was lost, or this is no Redis"
}
