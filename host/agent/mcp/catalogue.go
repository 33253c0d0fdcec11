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
)

// list asks a server for its tools. One that cannot be offered to a model is
// left out; the log says why.
func (s *Server) list(ctx context.Context, conn *mcpsdk.ClientSession) ([]tool.Tool, error) {
	var all []*mcpsdk.Tool
	cursor := ""
	for page := 1; ; page++ {
		res, err := conn.ListTools(ctx, &mcpsdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, res.Tools...)
		if cursor = res.NextCursor; cursor == "" {
			break
		}
		if page == maxPages || len(all) > maxTools {
			return nil, fmt.Errorf("more than %d tools or %d pages of them", maxTools, maxPages)
		}
	}
	return s.offer(all), nil
}

// offer makes the agent's tools of a server's.
func (s *Server) offer(listed []*mcpsdk.Tool) []tool.Tool {
	unseen := maps.Clone(s.config.Tools)
	taken := map[string]bool{}
	var offered []tool.Tool
	for _, l := range listed {
		if l == nil {
			continue
		}
		k := s.config.Tools[l.Name]
		delete(unseen, l.Name)
		if k.Disabled {
			continue
		}
		t, err := s.newRemote(l, k)
		if err == nil && taken[t.spec.Name] {
			err = errors.New("its name is taken by a tool before it")
		}
		if err != nil {
			s.log.Warn("tool of an mcp server left out", "tool", s.line(l.Name, maxServersName), "reason", s.line(err.Error(), maxReason))
			continue
		}
		taken[t.spec.Name] = true
		offered = append(offered, t)
	}
	for _, name := range slices.Sorted(maps.Keys(unseen)) {
		s.log.Warn("profile knows a tool that the mcp server does not have", "tool", name)
	}
	return offered
}

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
