package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"spillway/host/dialect"
	"spillway/host/llm"
)

const (
	// countPatience is how long a vendor may count. An agent asks for some thirty
	// counts at once while a person waits for a picture of the context.
	countPatience = 3 * time.Second
	// countRest is how long a vendor that did not count is not asked again.
	countRest = 30 * time.Second
)

// headerTokens says who has counted: the vendor, or we, by estimate.
const headerTokens = "X-Spillway-Tokens"

// counts remembers which vendors do not count at the moment. It is apart from
// the plugins' circuits: a count that fails says nothing about generations, and
// dozens come at once.
type counts struct {
	mu    sync.Mutex
	until map[string]time.Time // by provider
}

func (c *counts) resting(provider string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.until[provider])
}

func (c *counts) rest(provider string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until[provider] = time.Now().Add(countRest)
}

// countTokens answers how many tokens a Messages request has. The vendor of the
// chosen route is asked if it counts; without its answer, which nothing depends
// on, the client gets our estimate.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	x := s.exchange(w, r, dialect.Anthropic())
	defer x.cancel()
	if f := x.inbound(r); f != nil {
		x.fail(f)
		return
	}
	reply, by := x.vendorsCount(), "vendor"
	if reply == nil {
		reply, by = &llm.Reply{Status: http.StatusOK, Type: "application/json", Body: dialect.TokenCount(x.in.Shape.PromptTokens)}, "estimate"
	}
	h := w.Header()
	h.Set(headerTokens, by)
	h.Set(headerRoute, x.in.Route.String())
	h.Set("Content-Type", reply.Type)
	h.Set("Content-Length", strconv.Itoa(len(reply.Body)))
	x.send(reply.Status, reply.Body)
	s.log.LogAttrs(x.ctx, slog.LevelInfo, "tokens counted", slog.String("id", x.id), slog.String("head", clip(x.in.Route.String())),
		slog.String("by", by), slog.Int("status", x.status), slog.String("took", brief(time.Since(x.began))))
}

// vendorsCount is the vendor's own answer, nil if there is none to be had.
func (x *exchange) vendorsCount() *llm.Reply {
	counts, provider := &x.server.counts, x.in.Route.Provider
	if counts.resting(provider) {
		return nil
	}
	ctx, cancel := context.WithTimeout(x.ctx, countPatience)
	defer cancel()
	reply, err := x.server.runtime.CountTokens(ctx, x.in.Route, x.in.Payload)
	if err != nil && x.ctx.Err() == nil {
		counts.rest(provider)
	}
	return reply
}
