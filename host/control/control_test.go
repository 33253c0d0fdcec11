//go:build unix

package control_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"spillway/host/control"
	"spillway/host/profile"
	"spillway/host/state/record"
	"spillway/host/story"
	"spillway/sdk"
)

// known is a host that knows one request.
type known struct{ id string }

func (k known) Status(context.Context) (story.StatusView, error) { return story.StatusView{}, nil }

func (k known) Request(_ context.Context, id string) (record.Request, error) {
	switch id {
	case "", k.id:
		return record.Request{ID: k.id}, nil
	case "broken":
		return record.Request{}, errors.New("store is broken")
	}
	return record.Request{}, sdk.ErrNotFound
}

// folder is an empty profile.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, profile.StateDir), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOneHostAProfile: of many that begin at once one serves, and it is the one
// who is asked, whatever becomes of the others.
func TestOneHostAProfile(t *testing.T) {
	for range 20 {
		dir := folder(t)
		const hosts = 16
		servers := make([]*control.Server, hosts)
		errs := make([]error, hosts)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for i := range hosts {
			wg.Go(func() {
				<-begin
				servers[i], errs[i] = control.Serve(dir, known{"req_1"})
			})
		}
		close(begin)
		wg.Wait()
		var winner *control.Server
		for i, s := range servers {
			switch {
			case s != nil && winner != nil:
				s.Close()
				t.Error("two serve")
			case s != nil:
				winner = s
			case !strings.Contains(errs[i].Error(), dir+" is served already"):
				t.Errorf("a loser is told %v", errs[i])
			}
		}
		if winner == nil {
			t.Fatalf("nobody serves: %v", errs)
		}
		if _, err := control.NewClient(dir).Status(t.Context()); err != nil {
			t.Errorf("the winner is not reached: %v", err)
		}
		winner.Close()
		if _, err := control.NewClient(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
			t.Errorf("after its end: got %v, want ErrNotRunning", err)
		}
		next, err := control.Serve(dir, known{"req_2"})
		if err != nil {
			t.Fatalf("after its end: %v", err)
		}
		next.Close()
	}
}

// TestSocketOfDeadHost: what a process that was killed left behind is in
// nobody's way.
func TestSocketOfDeadHost(t *testing.T) {
	dir := folder(t)
	path := control.Path(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := control.Serve(dir, known{"req_1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.NewClient(dir).Status(t.Context()); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("socket: got mode %o, want 600", got)
	}
	s.Close()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestRequests(t *testing.T) {
	dir := folder(t)
	s, err := control.Serve(dir, known{"req_1"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := control.NewClient(dir)
	for _, id := range []string{"", "req_1"} {
		if r, err := c.Request(t.Context(), id); err != nil || r.ID != "req_1" {
			t.Errorf("%q: got %q, %v", id, r.ID, err)
		}
	}
	if _, err := c.Request(t.Context(), "req_9"); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("unknown: got %v, want ErrNotFound", err)
	}
	if _, err := c.Request(t.Context(), "broken"); err == nil || errors.Is(err, sdk.ErrNotFound) || errors.Is(err, control.ErrNotRunning) {
		t.Errorf("broken: got %v", err)
	}
}
