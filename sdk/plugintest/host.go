package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"spillway/sdk"
	"spillway/sdk/serve"
	wirepb "spillway/sdk/serve/proto"
)

// maxDepth is the host's limit on re-entry.
const maxDepth = 16

// Options configure a Host. The zero value is a host without providers whose
// upstream answers "ok".
type Options struct {
	Config    string // JSON, "{}" if empty
	Catalogue sdk.Catalogue
	Upstream  Upstream
	State     sdk.State    // default: a new [Memory]
	Log       *slog.Logger // what the plugin logs; default: discarded
	AskAlways bool         // keep no plan of the plugin's

	decide time.Duration // in the place of the manifest's, if set
	outbox *serve.Outbox // default: a new one
	wire   *wire         // default: nobody meddles with it
}

// Upstream answers an attempt in the place of a vendor. attempt counts the
// dispatches of one call from 1.
type Upstream func(ctx context.Context, r sdk.Request, attempt int) sdk.Stream

// Host is a runtime with one plugin.
type Host struct {
	session  *serve.Session
	remote   *serve.Remote
	upstream Upstream
	outbox   *serve.Outbox

	mu        sync.Mutex
	drained   bool
	calls     int
	decisions []sdk.Decision
	status    sdk.Status
	probes    []string
	plans     []sdk.Plan
}

// Start runs p and configures it. It ends the test on any error; see [Open] for
// one that returns it.
func Start(tb testing.TB, p sdk.Plugin, o Options) *Host {
	tb.Helper()
	h, err := Open(tb, p, o)
	if err != nil {
		tb.Fatalf("start plugin %q: %v", p.Manifest().Name, err)
	}
	return h
}

// Open runs p and configures it. A configuration that the plugin refuses comes
// back as sdk.Faults.
func Open(tb testing.TB, p sdk.Plugin, o Options) (*Host, error) {
	tb.Helper()
	if o.Config == "" {
		o.Config = "{}"
	}
	if o.Upstream == nil {
		o.Upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream { return sdk.AnswerText(r.Model, "ok") }
	}
	if o.State == nil {
		o.State = NewMemory()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.outbox == nil {
		o.outbox = new(serve.Outbox)
	}
	if o.wire == nil {
		o.wire = new(wire)
	}

	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	wirepb.RegisterPluginServer(server, serve.NewServer(p, o.Log))
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) })
	conn, err := grpc.NewClient("passthrough:///plugin", append(serve.DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStreamInterceptor(o.wire.intercept),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))...)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { conn.Close(); server.Stop(); wg.Wait() })

	h := &Host{upstream: o.Upstream, outbox: o.outbox}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	m, err := serve.Describe(ctx, conn)
	if err != nil {
		return nil, err
	}
	h.session, err = serve.Open(ctx, conn, m, serve.SessionOptions{
		Entry: m.Name, Epoch: 1, State: o.State, Outbox: h.outbox, Log: o.Log, AskAlways: o.AskAlways,
		Record: h.record, Report: h.report, Probe: h.probe, Plan: h.plan,
	})
	if err != nil {
		return nil, err
	}
	tb.Cleanup(h.session.Close)
	if err := h.session.SetCatalogue(ctx, o.Catalogue); err != nil {
		return nil, err
	}
	if err := h.session.Configure(ctx, sdk.Config{Entry: m.Name, JSON: json.RawMessage(o.Config)}); err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.Drain(ctx)
	})
	m.Hook.Decide = cmp.Or(o.decide, m.Hook.Decide)
	h.remote = serve.NewRemote(m.Name, m.Hook, (*source)(h), h.outbox)
	return h, nil
}

// Drain tells the plugin that no call follows, and waits until it has written
// what it has to. The test's end does so if the test did not.
func (h *Host) Drain(ctx context.Context) error {
	h.mu.Lock()
	drained := h.drained
	h.drained = true
	h.mu.Unlock()
	if drained {
		return nil
	}
	return h.session.Drain(ctx)
}

// source is the one session, for ever.
type source Host

func (s *source) Acquire(context.Context, time.Duration) (*serve.Session, func(), error) {
	if err := s.session.Err(); err != nil {
		return nil, nil, err
	}
	return s.session, func() {}, nil
}

// Session is the host's end of the wire, for what Host does not wrap.
func (h *Host) Session() *serve.Session { return h.session }

func (h *Host) record(d sdk.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decisions = append(h.decisions, d)
}

func (h *Host) report(s sdk.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = s
}

func (h *Host) probe(provider string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes = append(h.probes, provider)
}

func (h *Host) plan(p sdk.Plan) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans = append(h.plans, p)
}

// Plans are what the plugin has published so far; the last one stands.
func (h *Host) Plans() []sdk.Plan {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]sdk.Plan(nil), h.plans...)
}

// Decisions are what the plugin recorded so far, Status its last report.
func (h *Host) Decisions() []sdk.Decision {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]sdk.Decision(nil), h.decisions...)
}

// Status is the plugin's last report.
func (h *Host) Status() sdk.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// Probes are the providers whose model list the plugin asked for anew.
func (h *Host) Probes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.probes...)
}

// Acknowledged reports whether the plugin has heard of every outcome.
func (h *Host) Acknowledged() bool {
	pending, _ := h.outbox.Pending()
	return pending == 0
}

// Planned counts the calls that the plugin's plan served without a question.
func (h *Host) Planned() uint64 { return h.remote.Planned() }

// Call runs one model call through the plugin. Prompt, if set in r, is what the
// call says.
func (h *Host) Call(ctx context.Context, r sdk.Request) sdk.Stream { return h.callAt(ctx, r, 0) }

func (h *Host) callAt(ctx context.Context, r sdk.Request, depth int) sdk.Stream {
	h.mu.Lock()
	h.calls++
	c := &call{host: h, id: fmt.Sprintf("call-%d", h.calls), prompt: r.Prompt}
	h.mu.Unlock()
	r.Prompt = nil
	return c.run(ctx, r, depth)
}

// Ask runs one model call and returns what it said, or how it failed.
func (h *Host) Ask(ctx context.Context, r sdk.Request) (string, *sdk.Failure) {
	return Collect(h.Call(ctx, r))
}

// Collect ranges over s and joins its text.
func Collect(s sdk.Stream) (string, *sdk.Failure) {
	var text strings.Builder
	for e, err := range s.Events() {
		if err != nil {
			return text.String(), sdk.NewFailure(sdk.CodePlugin, "plugintest", err.Error())
		}
		if e.Kind == sdk.KindTextDelta {
			text.WriteString(e.Text)
		}
		if e.Kind == sdk.KindFinish {
			return text.String(), e.Failure
		}
	}
	return text.String(), sdk.NewFailure(sdk.CodeTransport, "plugintest", "no finish event")
}

// call is one call with its attempts.
type call struct {
	host   *Host
	id     string
	prompt *sdk.Prompt

	mu       sync.Mutex
	attempts int
}

// core is a call at one depth, as sdk.CallCore wants it.
type core struct {
	*call
	depth int
}

func (c core) Reenter(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
	if c.depth == maxDepth {
		return nil, sdk.ErrTooDeep
	}
	return c.run(ctx, r, c.depth+1), nil
}

func (c core) Prompt(context.Context) (*sdk.Prompt, error) {
	if c.prompt == nil {
		return &sdk.Prompt{}, nil
	}
	return c.prompt, nil
}

func (c *call) run(ctx context.Context, r sdk.Request, depth int) sdk.Stream {
	spent := false
	next := func(ctx context.Context, r sdk.Request) (sdk.Stream, error) {
		if spent {
			return nil, sdk.ErrNextSpent
		}
		spent = true
		return c.dispatch(ctx, r), nil
	}
	s, err := c.host.remote.LLMStream(ctx, sdk.NewCall(core{c, depth}, c.id, depth, r), next)
	if err != nil {
		return sdk.Fail(sdk.NewFailure(sdk.CodePlugin, "plugintest", err.Error()))
	}
	return s
}
