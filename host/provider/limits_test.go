package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"spillway/host/dialect"
	"spillway/sdk"
)

// TestLimits: they measure the vendor's silence, and nothing else.
func TestLimits(t *testing.T) {
	const ms = time.Millisecond
	limits := sdk.Limits{FirstContent: 500 * ms, Idle: time.Second, Total: time.Hour}
	at := func(first, gaps time.Duration, n int) []gap {
		frames := append([]gap{{first, hello}}, slices.Repeat([]gap{{gaps, hello}}, n)...)
		return append(frames, gap{0, finish}, gap{0, done})
	}
	tests := []struct {
		name   string
		frames []gap
		rest   time.Duration // of the consumer, between commit and reading
		pause  time.Duration // of the consumer, between pieces
		code   sdk.Code
		rule   string
	}{
		{"in time", at(400*ms, 900*ms, 3), 0, 0, "", ""},
		{"the consumer rests after the commit", at(400*ms, 0, 3), time.Minute, 0, "", ""},
		{"the consumer pauses, the answer waits", at(0, 0, 300), 0, 5 * time.Second, "", ""},
		{"both are slow", at(400*ms, 900*ms, 5), time.Minute, 2 * time.Second, "", ""},
		{"no first content", at(501*ms, 0, 3), 0, 0, sdk.CodeTimeout, "limit.first_content"},
		{"silent vendor", at(0, 1001*ms, 3), 0, 0, sdk.CodeTimeout, "limit.idle"},
		{"silent vendor after the consumer's rest", at(0, 62*time.Second, 1), time.Minute, 0, sdk.CodeTimeout, "limit.idle"},
	}
	for _, tt := range tests {
		for _, way := range readers {
			t.Run(tt.name+"/"+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := ask(t, inMemory(t, streamed(tt.frames...)), dialect.OpenAI(), true, 1, limits)
					f := sdk.AwaitVisible(t.Context(), a)
					if f == nil {
						time.Sleep(tt.rest)
						_, f = way.read(a, tt.pause)
					}
					got := sdk.Failure{}
					if f != nil {
						got = *f
					}
					if got.Code != tt.code || got.Rule != tt.rule {
						t.Errorf("got %v by %q, want %q by %q", f, got.Rule, tt.code, tt.rule)
					}
					if len(a.outcomes) != 1 || a.outcomes[0].Failure != f {
						t.Errorf("outcomes: %+v", a.outcomes)
					}
				})
			})
		}
	}
}

// TestSilenceBeforeHeaders: a connection that breaks after a long silence was
// one to a vendor that hangs, also if no byte of an answer ever came.
func TestSilenceBeforeHeaders(t *testing.T) {
	tests := []struct {
		name    string
		silence time.Duration
		code    sdk.Code
		cause   sdk.Cause
	}{
		{"soon", 4 * time.Second, sdk.CodeTransport, sdk.CauseReset},
		{"late", 6 * time.Second, sdk.CodeTimeout, sdk.CauseReset},
	}
	for _, tt := range tests {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", tt.name, stream), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := inMemory(t, nil)
					p.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
						return resetConn{tt.silence}, nil
					}
					a := ask(t, p, dialect.OpenAI(), stream, 1, sdk.Limits{})
					f := sdk.AwaitVisible(t.Context(), a)
					if f == nil || f.Code != tt.code || f.Cause != tt.cause || f.Phase != sdk.PhaseTransport {
						t.Errorf("got %+v, want %s", f, tt.code)
					}
				})
			})
		}
	}
}

// resetConn takes what is written and is reset after some silence.
type resetConn struct{ silence time.Duration }

func (c resetConn) Read([]byte) (int, error) {
	time.Sleep(c.silence)
	return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
}

func (resetConn) Write(p []byte) (int, error)      { return len(p), nil }
func (resetConn) Close() error                     { return nil }
func (resetConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (resetConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (resetConn) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (resetConn) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (resetConn) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }
