package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/agent/tool"
)

// Bounds of what a server may list.
const (
	maxTools       = 1024 // more than any model can choose from
	maxPages       = 64
	maxServersName = 256 // bytes of a tool's name at the server
	maxDescription = 4 << 10
	maxOffered     = 1 << 20 // bytes of all tools; each request to a model has them
)

// list asks a server for its tools. One that cannot be offered to a model is
// left out; the log says why.
func (s *Server) list(ctx context.Context, conn *mcpsdk.ClientSession) ([]tool.Tool, error) {
	o := s.newOffer()
	listed := 0
	cursor := ""
	for page := 1; ; page++ {
		res, err := conn.ListTools(ctx, &mcpsdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		if listed += len(res.Tools); listed > maxTools {
			return nil, fmt.Errorf("more than %d tools", maxTools)
		}
		o.add(res.Tools)
		if cursor = res.NextCursor; cursor == "" {
			return o.done(), nil
		}
		if page == maxPages {
			return nil, fmt.Errorf("more than %d pages of tools", maxPages)
		}
	}
}

// offer makes the agent's tools of a server's, page by page: what a page has
// besides need not be kept until the last has come.
type offer struct {
	*Server
	unseen  map[string]known
	taken   map[string]bool
	offered []tool.Tool
	size    int // bytes of these that each request to a model has
}

func (s *Server) newOffer() *offer {
	return &offer{Server: s, unseen: maps.Clone(s.config.Tools), taken: map[string]bool{}}
}

func (o *offer) add(listed []*mcpsdk.Tool) {
	for _, l := range listed {
		if l == nil {
			continue
		}
		k := o.config.Tools[l.Name]
		delete(o.unseen, l.Name)
		if k.Disabled {
			continue
		}
		t, err := o.newRemote(l, k)
		if err == nil && o.taken[t.spec.Name] {
			err = errors.New("its name is taken by a tool before it")
		}
		if err == nil && o.size+t.size() > maxOffered {
			err = fmt.Errorf("it and those before it have more than %d bytes", maxOffered)
		}
		if err != nil {
			o.log.Warn("tool of an mcp server left out", "tool", o.line(l.Name, maxServersName), "reason", o.line(err.Error(), maxReason))
			continue
		}
		o.taken[t.spec.Name] = true
		o.offered = append(o.offered, t)
		o.size += t.size()
	}
}

func (o *offer) done() []tool.Tool {
	for _, name := range slices.Sorted(maps.Keys(o.unseen)) {
		o.log.Warn("profile knows a tool that the mcp server does not have", "tool", name)
	}
	return o.offered
}

// size is how much of a request to a model the tool is, in bytes.
func (r *remote) size() int { return len(r.spec.Name) + len(r.spec.Description) + len(r.spec.Schema) }

func (s *Server) newRemote(l *mcpsdk.Tool, k known) (*remote, error) {
	if l.Name == "" || len(l.Name) > maxServersName {
		return nil, fmt.Errorf("its name has %d bytes (allowed: 1 to %d)", len(l.Name), maxServersName)
	}
	input, err := schema(l.InputSchema, k.Key)
	if err != nil {
		return nil, err
	}
	effect := effectOf(l.Annotations)
	if k.Effect != nil {
		effect = *k.Effect
	}
	return &remote{
		server: s,
		name:   l.Name,
		key:    k.Key,
		ask:    s.config.asks(k, effect),
		spec: tool.Spec{
			Name:        toolName(s.id, l.Name),
			Description: short(clean(description(l), true), maxDescription),
			Schema:      input,
			Effect:      effect,
		},
	}, nil
}

func description(l *mcpsdk.Tool) string {
	switch {
	case l.Description != "":
		return l.Description
	case l.Title != "":
		return l.Title
	case l.Annotations != nil:
		return l.Annotations.Title
	}
	return ""
}

// effectOf is what a server says that running its tool twice does. One that
// changes nothing and yet destroys is not believed.
func effectOf(a *mcpsdk.ToolAnnotations) tool.Effect {
	switch {
	case a == nil:
		return tool.Write
	case a.ReadOnlyHint && (a.DestructiveHint == nil || !*a.DestructiveHint):
		return tool.ReadOnly
	case a.IdempotentHint && !a.ReadOnlyHint:
		return tool.Idempotent
	}
	return tool.Write
}
