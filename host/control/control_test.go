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

func (k known) Operate(_ context.Context, o sdk.Order) error {
	if o.Verb != sdk.VerbDisable || o.Target != "a/1" {
		return errors.New("verb: got " + string(o.Verb))
	}
	return nil
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

// TestHostsOfAProfile: many begin at once, and each has a socket. While one of
// them is there, it is asked; a further one begins where another has ended.
func TestHostsOfAProfile(t *testing.T) {
	const hosts = 16
	for range 20 {
		dir := folder(t)
		servers := make([]*control.Server, hosts)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for i := range hosts {
			wg.Go(func() {
				<-begin
				var err error
				if servers[i], err = control.Serve(dir, known{"req_1"}); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		wg.Wait()
		if t.Failed() {
			t.FailNow()
		}
		paths := map[string]bool{}
		for _, s := range servers {
			paths[s.Path()] = true
		}
		if len(paths) != hosts || !paths[control.Path(dir)] {
			t.Errorf("sockets: got %v, want %d with %s", paths, hosts, control.Path(dir))
		}
		if _, err := control.Serve(dir, known{}); err == nil || !strings.Contains(err.Error(), dir+" is served by 16 processes already") {
			t.Errorf("one too many is told %v", err)
		}
		for _, s := range servers {
			if _, err := control.NewClient(dir).Status(t.Context()); err != nil {
				t.Errorf("nobody is reached: %v", err)
			}
			s.Close()
		}
		if _, err := control.NewClient(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
			t.Errorf("after the last one's end: got %v, want ErrNotRunning", err)
		}
		next, err := control.Serve(dir, known{"req_2"})
		if err != nil {
			t.Fatalf("after the last one's end: %v", err)
		}
		if got := next.Path(); got != control.Path(dir) {
			t.Errorf("after the last one's end: socket %s", got)
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
