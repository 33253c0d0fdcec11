package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// version is the protocol's that is asked for; see the package comment.
const version = "2025-11-25"

// session is one life of a server, or one connection to it.
type session struct {
	*mcpsdk.ClientSession
	proc     *process      // nil of a server on the network
	ended    chan struct{} // closed when the connection is
	changed  chan struct{} // has one element if the tools changed
	answered atomic.Bool   // a call
}

func (s *session) alive() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// close ends the session in bounded time. The calls under way must have been
// cancelled.
func (s *session) close() {
	if s.proc != nil {
		s.proc.stop(stopPatience)
	}
	_ = s.ClientSession.Close()
}

// connect begins a session and publishes its tools.
func (s *Server) connect(ctx context.Context) (*session, error) {
	limit := time.Duration(s.config.Start)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not started within %s", limit))
	defer cancel()
	current := &session{ended: make(chan struct{}), changed: make(chan struct{}, 1)}
	var err error
	if s.config.URL != "" {
		err = s.reach(ctx, current)
	} else {
		err = s.start(ctx, current)
	}
	if err != nil {
		return nil, err
	}
	return current, nil
}

// reach begins a session with a server on the network.
func (s *Server) reach(ctx context.Context, current *session) error {
	transport := streamable(&s.config)
	free := transport.HTTPClient.CloseIdleConnections
	if err := s.begin(ctx, current, transport); err != nil {
		free()
		return s.reason(ctx, err)
	}
	s.watch(current, free)
	return nil
}

// start begins a session with a program.
func (s *Server) start(ctx context.Context, current *session) error {
	said := &stderr{log: s.log, clean: s.line, left: maxStderr}
	cmd := exec.Command(s.config.Command, s.config.Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.folder, s.env, said
	transport := &stdio{cmd: cmd}
	err := s.begin(ctx, current, transport)
	current.proc = transport.proc
	if err == nil {
		s.watch(current, func() { current.proc.stop(stopPatience) })
		return nil
	}
	err = s.reason(ctx, err)
	if current.proc == nil { // there is no such program
		return err
	}
	current.proc.stop(stopPatience)
	if last := said.lastLine(); last != "" {
		return fmt.Errorf("%w (%s; its last words: %s)", err, current.proc.exit(), last)
	}
	return fmt.Errorf("%w (%s)", err, current.proc.exit())
}

// reason is why a session did not begin.
func (s *Server) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.New(s.line(err.Error(), maxReason))
}

// begin shakes hands and lists the tools.
func (s *Server) begin(ctx context.Context, current *session, transport mcpsdk.Transport) error {
	client := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "spillway", Version: s.version}, &mcpsdk.ClientOptions{
		//lint:ignore SA1019 the protocol's version that is spoken has roots
		Capabilities: &mcpsdk.ClientCapabilities{RootsV2: &mcpsdk.RootCapabilities{}},
		// It would send a call again.
		MultiRoundTrip: &mcpsdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcpsdk.ToolListChangedRequest) {
			select {
			case current.changed <- struct{}{}:
			default: // they will be listed anyway
			}
		},
	})
	root := url.URL{Scheme: "file", Path: filepath.ToSlash(s.folder)}
	//lint:ignore SA1019 as above
	client.AddRoots(&mcpsdk.Root{URI: root.String(), Name: filepath.Base(s.folder)})
	conn, err := client.Connect(ctx, transport, &mcpsdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	tools, err := s.list(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("its tools: %w", err)
	}
	current.ClientSession = conn
	s.publish(tools)
	return nil
}

// watch lists the tools again when they change, until the session has ended, and
// then frees what it held.
func (s *Server) watch(current *session, free func()) {
	s.wg.Go(func() {
		err := current.Wait()
		close(current.ended)
		free()
		if s.life.Err() != nil {
			return
		}
		how := "connection ended"
		switch {
		case current.proc != nil:
			how = current.proc.exit()
		case err != nil:
			how = s.line(err.Error(), maxReason)
		}
		s.log.Warn("mcp server ended; the next call starts it again", "reason", how)
	})
	s.wg.Go(func() {
		for {
			select {
			case <-current.ended:
				return
			case <-current.changed:
				s.refresh(current)
				current.rest(refreshPause)
			}
		}
	})
}

// refreshPause is how long the tools are left alone after they were listed: a server
// may say all the time that they changed.
const refreshPause = time.Second

// rest waits, but not longer than the session lasts.
func (s *session) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ended:
	}
}

// refresh lists the tools again. The old list stays if that fails.
func (s *Server) refresh(current *session) {
	ctx, cancel := context.WithTimeout(s.life, time.Duration(s.config.Start))
	defer cancel()
	tools, err := s.list(ctx, current.ClientSession)
	if err != nil {
		s.log.Warn("changed tools of an mcp server are not listed", "reason", s.line(err.Error(), maxReason))
		return
	}
	if current.alive() { // else the next session has its own
		s.publish(tools)
	}
}
