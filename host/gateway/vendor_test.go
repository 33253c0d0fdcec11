package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"spillway/host/dialect"
	"spillway/sdk"
)

// apis are those that have an encoder, which is how a vendor is played here.
var apis = append(dialects[:len(dialects):len(dialects)],
	api{"responses", "provider", "/v1/responses", `{"model":"p/m1","stream":%t,"input":"hi"}`})

// player is a vendor that answers every request with the same act.
type player struct {
	dialect dialect.Dialect
	url     string

	mu  sync.Mutex
	act act
}

// act is what a vendor does with a request. Returning false breaks the
// connection.
type act func(s *stage) bool

// stage is where an act writes an answer.
type stage struct {
	ctx   context.Context
	d     dialect.Dialect
	enc   dialect.Encoder
	w     http.ResponseWriter
	asked string // the request's body
	all   []byte // what was written
}

func (s *stage) write(p []byte) {
	s.all = append(s.all, p...)
	_, _ = s.w.Write(p)
	_ = http.NewResponseController(s.w).Flush()
}

// say writes events as the vendor's dialect has them.
func (s *stage) say(events ...sdk.Event) {
	for _, e := range events {
		s.write(s.enc.Encode(nil, e))
	}
}

// ping writes a frame that means nothing.
func (s *stage) ping() { s.write(dialect.EncodeKeepAlive(s.enc, nil)) }

// error writes an error event.
func (s *stage) error() {
	f := sdk.NewFailure(sdk.CodeOverloaded, "test", "overloaded")
	f.Attempt = 1
	s.write(s.d.ErrorFrame(f, "", s.enc.Sent()))
}

// wait returns when c is closed or the caller is gone.
func (s *stage) wait(c <-chan struct{}) {
	select {
	case <-c:
	case <-s.ctx.Done():
	}
}

func newPlayer(t *testing.T, a api) *player {
	t.Helper()
	p := &player{dialect: a.dialect(t)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body) // to its end, else the server does not see the caller leave
		p.mu.Lock()
		act := p.act
		p.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		o := dialect.AnswerOptions{ID: "42", Model: "m1", Created: 7, IncludeUsage: true}
		if !act(&stage{ctx: r.Context(), d: p.dialect, enc: p.dialect.NewEncoder(o), w: w, asked: string(asked)}) {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(srv.Close)
	p.url = srv.URL
	return p
}

func (p *player) play(a act) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.act = a
}

// row is the vendor's row in a profile.
func (p *player) row() string {
	return fmt.Sprintf("- {id: p, name: provider, config: {endpoints: {%s: %q}, models: [m1], vendor: anthropic, key: k}}\n", p.dialect.Name(), p.url+"/v1")
}

// Events of answers.
func start() sdk.Event         { return sdk.Event{Kind: sdk.KindStart, Model: "m1"} }
func text(s string) sdk.Event  { return sdk.Event{Kind: sdk.KindTextDelta, Text: s} }
func think(s string) sdk.Event { return sdk.Event{Kind: sdk.KindReasoningDelta, Text: s} }
func call(args string) []sdk.Event {
	return []sdk.Event{
		{Kind: sdk.KindBlockStart, Block: sdk.BlockToolCall, ID: "call_1", Name: "f"},
		{Kind: sdk.KindToolCallDelta, Text: args},
	}
}
func end() sdk.Event { return sdk.Event{Kind: sdk.KindBlockEnd} }
func tokens() sdk.Event {
	return sdk.Event{Kind: sdk.KindUsage, Usage: &sdk.Usage{Input: 11, Output: 3}}
}
func stop() sdk.Event { return sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop} }
