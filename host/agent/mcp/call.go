package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/agent/tool"
)

const (
	// metaKey is where a server finds the key of the user's action.
	metaKey = "spillway/key"
	// maxReason bounds a stranger's text in an error or a log entry.
	maxReason = 300
	// maxArguments bounds them in the question to a person.
	maxArguments = 4 << 10
)

// remote is a tool of a server. It outlives connections, and lists that lack it.
type remote struct {
	server *Server
	name   string // at the server
	spec   tool.Spec
	key    string // name of the argument that takes the key
	ask    bool
}

var _ tool.Confirmer = (*remote)(nil)

// Spec implements tool.Tool.
func (r *remote) Spec() tool.Spec { return r.spec }

// Confirm implements tool.Confirmer.
func (r *remote) Confirm(input json.RawMessage) (what string, ask bool) {
	return fmt.Sprintf("%s: %s %s", r.server.id, short(clean(r.name, false), maxName), asked(input)), r.ask
}

// asked are the arguments of a call as a person sees them: how much is not shown
// is told, since the harm may stand there.
func asked(input json.RawMessage) string {
	text := clean(string(input), false)
	if len(text) <= maxArguments {
		return text
	}
	shown := prefix(text, maxArguments)
	return fmt.Sprintf("%s […%d more bytes]", shown, len(text)-len(shown))
}

// Run implements tool.Tool.
func (r *remote) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	args, err := r.arguments(c)
	if err != nil {
		return tool.Failed("the input of %s is no object: nothing was done", r.spec.Name), nil
	}
	params := &mcpsdk.CallToolParams{Name: r.name, Arguments: args}
	if c.Key != "" {
		params.Meta = mcpsdk.Meta{metaKey: c.Key}
	}
	return r.server.call(ctx, params)
}

func (r *remote) arguments(c tool.Call) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(c.Input) > 0 {
		if err := json.Unmarshal(c.Input, &args); err != nil {
			return nil, err
		}
		if args == nil {
			return nil, errors.New("null")
		}
	}
	if r.key != "" {
		delete(args, r.key) // it is not the model's to give
		if c.Key != "" {
			key, err := json.Marshal(c.Key)
			if err != nil {
				return nil, err
			}
			args[r.key] = key
		}
	}
	return args, nil
}

// call makes one call, at most once. See the package comment for what its error
// means.
func (s *Server) call(ctx context.Context, params *mcpsdk.CallToolParams) (tool.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })()
	conn, err := s.session(ctx)
	if err != nil {
		return tool.Result{}, fmt.Errorf("mcp server %q: %w: %w", s.id, tool.ErrNotRun, err)
	}
	limit := time.Duration(s.config.Timeout)
	ctx, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no reply within %s", limit))
	defer stop()
	ctx, delivery := withDelivery(ctx)
	res, err := conn.CallTool(ctx, params)
	if err == nil {
		conn.answered.Store(true)
		return result(res), nil
	}
	if reply, ok := errors.AsType[*jsonrpc.Error](err); ok && tells(reply.Code) {
		conn.answered.Store(true)
		return s.failed(params.Name, reply), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		err = errors.New(s.line(err.Error(), maxReason))
	}
	if !delivery.begun() {
		return tool.Result{}, fmt.Errorf("mcp server %q: %s: %w: %w", s.id, params.Name, tool.ErrNotRun, err)
	}
	return tool.Result{}, fmt.Errorf("mcp server %q: %s: sent, but its outcome is not known: %w", s.id, params.Name, err)
}

// Codes of errors that JSON-RPC leaves to servers.
const (
	serverCodeFirst = -32099
	serverCodeLast  = -32000
)

// tells reports whether an error with this code is the tool's own end. JSON-RPC's
// codes say that a request was refused or failed; in the range that it leaves to
// servers, SDKs have "connection closed" and "request timed out", which those that
// stand before another server pass on, and ours has its own troubles.
func tells(code int64) bool {
	return code < serverCodeFirst || code > serverCodeLast || code == mcpsdk.CodeURLElicitationRequired
}

func (s *Server) failed(name string, reply *jsonrpc.Error) tool.Result {
	message := s.line(reply.Message, maxReason)
	switch reply.Code {
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams:
		return tool.Failed("%s was refused, nothing was done: %s", name, message)
	case mcpsdk.CodeURLElicitationRequired:
		return tool.Failed("%s wants a person at an address first, nothing was done: %s", name, message)
	}
	return tool.Failed("%s failed: %s", name, message)
}
