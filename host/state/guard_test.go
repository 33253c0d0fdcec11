package state

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// logged keeps the messages of log records, and everything they say.
type logged struct {
	slog.Handler
	mu       sync.Mutex
	messages []string
	text     strings.Builder
}

func newLogged() *logged { return &logged{Handler: slog.DiscardHandler} }

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.messages = append(l.messages, r.Message)
	l.text.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		l.text.WriteString(" " + a.String())
		return true
	})
	l.text.WriteString("\n")
	return nil
}

func (l *logged) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages)
}

// said is everything that was logged.
func (l *logged) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

const (
	msgDown  = "state store unavailable, going on without it"
	msgUp    = "state store available again"
	msgAside = "state file was corrupt, it was set aside and a new one is begun"
	msgMoved = "state file was moved or removed, beginning a new one"
)

func newGuard(l *logged) *guard {
	return &guard{log: slog.New(l), limit: 100 * time.Millisecond, bulk: time.Second}
}

func TestGuardErrors(t *testing.T) {
	trouble := errors.New("disk on fire")
	for _, tt := range []struct {
		name   string
		caller time.Duration // the caller's own limit
		op     func(context.Context) error
		want   error
		took   time.Duration
		logs   []string
	}{
		{"fine", time.Minute, func(context.Context) error { return nil }, nil, 0, nil},
		{"answer", time.Minute, func(context.Context) error { return sdk.ErrHeld }, sdk.ErrHeld, 0, nil},
		{"trouble", time.Minute, func(context.Context) error { return trouble }, sdk.ErrUnavailable, 0, []string{msgDown}},
		{"slow", time.Minute, hang, sdk.ErrUnavailable, 100 * time.Millisecond, []string{msgDown}},
		{"caller in a hurry", 50 * time.Millisecond, hang, sdk.ErrUnavailable, 50 * time.Millisecond, nil},
		{"caller is late", 0, func(context.Context) error { return nil }, sdk.ErrUnavailable, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLogged()
				g := newGuard(l)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), tt.caller)
				defer cancel()
				err := g.read(ctx, g.limit, tt.op)
				if !errors.Is(err, tt.want) {
					t.Errorf("got error %v, want %v", err, tt.want)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if d := cmp.Diff(tt.logs, l.all()); d != "" {
					t.Errorf("log (-want +got):\n%s", d)
				}
			})
		})
	}
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestGuardReports: an outage is reported when it begins and when it ends,
// however many operations fail, and although some get through meanwhile.
func TestGuardReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogged()
		g := newGuard(l)
		fine := func(context.Context) error { return nil }
		trouble := func(context.Context) error { return errors.New("locked") }
		do := func(access func(context.Context, time.Duration, func(context.Context) error) error, op func(context.Context) error) {
			_ = access(t.Context(), g.limit, op)
		}
		for range 10 {
			do(g.write, trouble)
			time.Sleep(settle / 2)
			do(g.write, fine)
			do(g.read, fine)
		}
		if d := cmp.Diff([]string{msgDown}, l.all()); d != "" {
			t.Errorf("during the outage (-want +got):\n%s", d)
		}
		time.Sleep(settle)
		do(g.read, fine)
		do(g.write, fine)
		do(g.write, fine)
		do(g.write, trouble)
		if d := cmp.Diff([]string{msgDown, msgUp, msgDown}, l.all()); d != "" {
			t.Errorf("after it (-want +got):\n%s", d)
		}
	})
}
