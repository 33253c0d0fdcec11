package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/host/agent/tool"
)

// Options are for [Open].
type Options struct {
	ID     string          // the row's
	Config json.RawMessage // the row's, valid by the schema of module mcp; it may hold secrets
	Folder string          // the working folder, an absolute path
	// LookupEnv is [os.LookupEnv]; a program gets only some variables.
	LookupEnv func(name string) (string, bool)
	Version   string // of spillway, for the server to know
	Log       *slog.Logger
}

// Server is an MCP server and its tools. It is safe for concurrent use.
type Server struct {
	id      string
	config  config
	folder  string
	version string
	env     []string
	log     *slog.Logger
	secrets *strings.Replacer

	life context.Context // ends with Close
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // what watches sessions

	// turn is held, by having sent to it, while current and pace are used.
	turn    chan struct{}
	current *session // nil before the first, and while there is none
	pace    pace

	mu    sync.Mutex // guards tools
	tools []tool.Tool
}

var errClosed = errors.New("closed")

// Open starts the server, or connects to it, and lists its tools. It takes as
// long as the row allows at most.
func Open(ctx context.Context, o Options) (*Server, error) {
	c, err := parse(o.Config)
	if err != nil {
		return nil, fmt.Errorf("mcp server %q: %w", o.ID, err)
	}
	s := &Server{
		id:      o.ID,
		config:  c,
		folder:  o.Folder,
		version: o.Version,
		env:     environment(&c, o.LookupEnv),
		log:     o.Log.With("entry", o.ID),
		secrets: c.redactor(),
		turn:    make(chan struct{}, 1),
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	if _, err := s.session(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("mcp server %q: %w", o.ID, err)
	}
	return s, nil
}

// Tools are the server's present tools: those that it listed when it started, or
// since it said that they changed. Their names stay the same.
func (s *Server) Tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tools)
}

// Close ends the server, or the connection to it, in bounded time. Calls that are
// under way end. It may be called more than once.
func (s *Server) Close() {
	s.end(errClosed)
	s.turn <- struct{}{} // whoever has it gives it back soon
	current := s.current
	s.current = nil
	<-s.turn
	if current != nil {
		current.close()
	}
	s.wg.Wait()
}

// session is the present session, or a new one.
func (s *Server) session(ctx context.Context) (*session, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.life.Err() != nil {
		return nil, context.Cause(s.life)
	}
	if s.current != nil {
		if s.current.alive() {
			return s.current, nil
		}
		s.pace.ended(time.Now(), s.current.answered.Load())
		s.current = nil
	}
	if s.config.Command != "" && s.pace.loop() {
		return nil, fmt.Errorf("off: it ended %d times in a row without an answer", maxFailures)
	}
	if err := s.pause(ctx); err != nil {
		return nil, err
	}
	current, err := s.connect(ctx)
	if err != nil {
		s.pace.ended(time.Now(), false)
		if s.config.Command != "" && s.pace.loop() {
			s.log.Error("mcp server is off: it ended again and again without an answer", "times", maxFailures)
		}
		return nil, err
	}
	s.current = current
	return current, nil
}

func (s *Server) pause(ctx context.Context) error {
	t := time.NewTimer(s.pace.pause(time.Now()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// line is a stranger's text as it may stand in an error or a log entry: one line
// of bounded length, without secrets. What is not seen goes first: between the
// letters of a secret it would hide it.
func (s *Server) line(text string, limit int) string {
	return short(s.secrets.Replace(clean(text, false)), limit)
}

// publish makes tools the present ones.
func (s *Server) publish(tools []tool.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}
