package serve_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"spillway/sdk"
	"spillway/sdk/plugintest"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

// losable is a host of a plugin whose process can be lost and followed by
// another. It is made for a synctest bubble, where a test knows when everything
// waits. Its upstream answers "bypassed".
type losable struct {
	tb       testing.TB
	remote   *serve.Remote
	outbox   serve.Outbox
	upstream plugintest.Upstream
	planner  *planner // if the first plugin is one

	mu      sync.Mutex
	wires   []*wire      // of the processes that were started
	plugins []sdk.Plugin // whose process was not
}

var _ serve.Source = (*losable)(nil)

// newLosable starts the first of plugins; each further one is the successor of
// a process that was lost.
func newLosable(tb testing.TB, plugins ...sdk.Plugin) *losable {
	tb.Helper()
	h := &losable{tb: tb, plugins: plugins}
	h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream { return sdk.AnswerText(r.Model, "bypassed") }
	h.remote = serve.NewRemote("under-test", plugins[0].Manifest().Hook, h, &h.outbox)
	if _, _, err := h.Acquire(tb.Context(), 0); err != nil {
		tb.Fatal(err)
	}
	return h
}

// Acquire implements serve.Source.
func (h *losable) Acquire(context.Context, time.Duration) (*serve.Session, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.wires); n > 0 && h.wires[n-1].session.Err() == nil {
		return h.wires[n-1].session, func() {}, nil
	}
	if len(h.plugins) == 0 {
		return nil, nil, errors.New("no process is left")
	}
	w := newWire(h.tb, h.plugins[0], &h.outbox)
	h.wires, h.plugins = append(h.wires, w), h.plugins[1:]
	return w.session, func() {}, nil
}

// wire is the wire to the n-th process.
func (h *losable) wire(n int) *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wires[n]
}

// current is the wire to the present process.
func (h *losable) current() *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wires[len(h.wires)-1]
}

// plan publishes p for the planner.
func (h *losable) plan(p sdk.Plan) { h.planner.host.Plan(p) }

func (h *losable) ask(ctx context.Context, r sdk.Request) (string, *sdk.Failure) {
	return plugintest.Collect(h.call(ctx, r))
}

func (h *losable) call(ctx context.Context, r sdk.Request) sdk.Stream {
	c := &losableCall{host: h, prompt: r.Prompt}
	r.Prompt = nil
	s, _ := c.Reenter(ctx, r)
	return s
}

// losableCall is one call as sdk.CallCore.
type losableCall struct {
	host   *losable
	prompt *sdk.Prompt
	depth  int
	sent   *int // attempts of the call
}

func (c *losableCall) Prompt(context.Context) (*sdk.Prompt, error) { return c.prompt, nil }

func (c *losableCall) Reenter(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	deeper := &losableCall{host: c.host, prompt: c.prompt, depth: c.depth + 1, sent: c.sent}
	if deeper.sent == nil {
		deeper.depth, deeper.sent = 0, new(int)
	}
	next := func(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
		*deeper.sent++
		return c.host.upstream(ctx, r, *deeper.sent), nil
	}
	return c.host.remote.LLMStream(ctx, sdk.NewCall(deeper, "call", deeper.depth, r), next)
}

// wire is one process of a plugin and the connection to it.
type wire struct {
	session  *serve.Session
	listener *bufconn.Listener

	mu      sync.Mutex
	conn    net.Conn
	left    int    // bytes that may still cross before happens is called
	happens func() // once; nil when nothing is to happen
	frozen  bool   // what the host sends is lost
}

func newWire(tb testing.TB, p sdk.Plugin, outbox *serve.Outbox) *wire {
	tb.Helper()
	w := &wire{listener: bufconn.Listen(64 << 10)}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(serve.MaxFrame))
	wirepb.RegisterPluginServer(server, serve.NewServer(p, slog.New(slog.DiscardHandler)))
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(w.listener) })
	conn, err := grpc.NewClient("passthrough:///plugin", append(serve.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(w.dial))...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close(); server.Stop(); wg.Wait() })
	ctx := context.Background()
	m, err := serve.Describe(ctx, conn)
	if err != nil {
		tb.Fatal(err)
	}
	w.session, err = serve.Open(ctx, conn, m, serve.SessionOptions{Entry: m.Name, State: plugintest.NewMemory(), Outbox: outbox})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.session.Close)
	if err := w.session.Configure(ctx, sdk.Config{Entry: m.Name, JSON: []byte("{}")}); err != nil {
		tb.Fatal(err)
	}
	return w
}

func (w *wire) dial(ctx context.Context, _ string) (net.Conn, error) {
	c, err := w.listener.DialContext(ctx)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = c
	return &countedConn{Conn: c, wire: w}, nil
}

// cut ends the process as a kill does: nothing crosses any more, and nobody
// listens.
func (w *wire) cut() {
	w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn.Close()
}

// cutAfter cuts the wire once so many bytes more have crossed, either way.
func (w *wire) cutAfter(bytes int) { w.after(bytes, w.cut) }

// freeze keeps from the process what the host sends, so that it answers nothing
// any more.
func (w *wire) freeze() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frozen = true
}

func (w *wire) freezeAfter(bytes int) { w.after(bytes, w.freeze) }

// pauseAfter holds the bytes that follow up for d.
func (w *wire) pauseAfter(bytes int, d time.Duration) {
	w.after(bytes, func() { <-time.After(d) })
}

func (w *wire) after(bytes int, happens func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.happens = bytes, happens
}

// crossed counts bytes. It reports whether they are lost.
func (w *wire) crossed(n int) (lost bool) {
	w.mu.Lock()
	w.left -= n
	var happens func()
	if w.left < 0 {
		happens, w.happens = w.happens, nil
	}
	w.mu.Unlock()
	if happens != nil {
		happens()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.frozen
}

// countedConn is the host's end of the connection.
type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.crossed(n)
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	if c.wire.crossed(len(p)) {
		return len(p), nil
	}
	return c.Conn.Write(p)
}
