//go:build unix

package control_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"spillway/host/control"
)

// TestForeignSocket: what answers on the socket is a server, but none of ours.
func TestForeignSocket(t *testing.T) {
	dir := folder(t)
	l, err := net.Listen("unix", control.Path(dir))
	if err != nil {
		t.Fatal(err)
	}
	foreign := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = foreign.Serve(l)
	}()
	defer func() {
		foreign.Close()
		<-served
	}()
	if _, err := control.NewClient(dir).Status(t.Context()); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("got %v, want ErrNotRunning", err)
	}
	if _, err := control.NewClient(dir).Request(t.Context(), "req_1"); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("request: got %v, want ErrNotRunning", err)
	}
}

// TestRequestIDs: an id is no path, whatever a person writes.
func TestRequestIDs(t *testing.T) {
	dir := folder(t)
	const odd = "a/../b?c=%zz d"
	s, err := control.Serve(dir, known{odd})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := control.NewClient(dir).Request(t.Context(), odd); err != nil || r.ID != odd {
		t.Errorf("got %q, %v", r.ID, err)
	}
}
