package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// Server is the plugin's side of the wire.
type Server struct {
	wirepb.UnimplementedPluginServer
	plugin sdk.Plugin
	log    *slog.Logger

	session atomic.Pointer[guest]
	ended   chan struct{}
	once    sync.Once
}

// NewServer returns the gRPC service of p. One session at a time is served.
func NewServer(p sdk.Plugin, log *slog.Logger) *Server {
	return &Server{plugin: p, log: log, ended: make(chan struct{})}
}

// Ended is closed when the first session is over.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Describe implements the service.
func (s *Server) Describe(context.Context, *wirepb.HostInfo) (*wirepb.Manifest, error) {
	return manifestToWire(s.plugin.Manifest()), nil
}

// Session implements the service: it runs until the host closes the stream.
func (s *Server) Session(stream grpc.BidiStreamingServer[wirepb.ToPlugin, wirepb.ToHost]) error {
	g := newGuest(s.plugin, s.log)
	if !s.session.CompareAndSwap(nil, g) {
		return status.Error(codes.FailedPrecondition, "a session is open already")
	}
	defer s.session.Store(nil)
	defer s.once.Do(func() { close(s.ended) })

	var wg sync.WaitGroup
	wg.Go(func() { g.link.write(stream.Send) })
	wg.Go(g.observe)
	wg.Go(g.publish)
	for {
		f, err := stream.Recv()
		if err != nil {
			g.end(err)
			break
		}
		g.handle(f)
	}
	wg.Wait()
	return nil
}

// guest is one session as the plugin lives it.
type guest struct {
	plugin sdk.Plugin
	log    *slog.Logger
	link   *link[*wirepb.ToHost]
	state  stateClient

	catalogue atomic.Pointer[sdk.Catalogue]
	acked     uint64 // highest outcome seen; observer goroutine only

	plans   atomic.Bool              // the host keeps them
	plan    atomic.Pointer[sdk.Plan] // to be sent; a newer one takes its place
	planned chan struct{}            // capacity 1

	mu    sync.Mutex
	turns map[uint64]*turn
	tasks []func()      // for observe, in order
	busy  bool          // observe runs some
	wake  chan struct{} // capacity 1
}

func newGuest(p sdk.Plugin, log *slog.Logger) *guest {
	g := &guest{
		plugin: p, log: log, link: newLink[*wirepb.ToHost](),
		turns: map[uint64]*turn{}, wake: make(chan struct{}, 1), planned: make(chan struct{}, 1),
	}
	g.catalogue.Store(&sdk.Catalogue{})
	g.state.init(g.link)
	return g
}

// handle reads one frame. It never waits and never runs an author's code.
func (g *guest) handle(f *wirepb.ToPlugin) {
	switch m := f.Frame.(type) {
	case *wirepb.ToPlugin_Open:
		g.open(f.Call, m.Open)
	case *wirepb.ToPlugin_Ended:
		g.turn(f.Call).decided(m.Ended.Attempt, failureFromWire(m.Ended.Failure))
	case *wirepb.ToPlugin_Committed:
		g.turn(f.Call).decided(m.Committed.Attempt, nil)
	case *wirepb.ToPlugin_Cancel:
		g.turn(f.Call).cancelled(m.Cancel.Reason)
	case *wirepb.ToPlugin_Outcome:
		o := outcomeFromWire(m.Outcome)
		g.later(func() { g.outcome(o) })
	case *wirepb.ToPlugin_Outcomes:
		g.later(func() {
			for _, o := range m.Outcomes.Outcomes {
				_ = g.protect("observer", func() { g.outcome(outcomeFromWire(o)) }) // costs nobody else his
			}
		})
	case *wirepb.ToPlugin_Reply:
		g.state.reply(m.Reply)
	case *wirepb.ToPlugin_Change:
		g.state.change(m.Change)
	case *wirepb.ToPlugin_Ping:
		g.link.offer(&wirepb.ToHost{Frame: &wirepb.ToHost_Pong{Pong: &wirepb.Pong{Id: m.Ping.Id}}})
	case *wirepb.ToPlugin_Catalogue:
		c := catalogueFromWire(m.Catalogue)
		g.catalogue.Store(&c)
		if o, ok := g.plugin.(sdk.CatalogueObserver); ok {
			g.later(func() { o.Catalogue(c) })
		}
	case *wirepb.ToPlugin_Configure:
		c := sdk.Config{Entry: m.Configure.Entry, Revision: m.Configure.Revision, JSON: m.Configure.Config}
		g.later(func() { g.configured(c.Revision, func() error { return g.configure(c) }) })
	case *wirepb.ToPlugin_Settings:
		c := sdk.Config{Revision: m.Settings.Revision, JSON: m.Settings.Config}
		g.later(func() { g.configured(c.Revision, func() error { return g.settings(c, m.Settings.Changed) }) })
	case *wirepb.ToPlugin_Judge:
		go g.judge(m.Judge)
	case *wirepb.ToPlugin_Order:
		go g.obey(m.Order)
	case *wirepb.ToPlugin_Drain:
		g.later(g.drain)
	case *wirepb.ToPlugin_Hello:
		g.plans.Store(slices.Contains(m.Hello.Features, featurePlan))
	}
}

func (g *guest) end(cause error) {
	g.link.end(cause)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.turns {
		t.cancel(ErrSessionEnded)
	}
}

func (g *guest) send(f *wirepb.ToHost) error { return g.link.send(context.Background(), f) }

// later queues work that runs an author's observers, in order.
func (g *guest) later(task func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.tasks) == maxBacklog {
		// The author's observer is stuck. Ending the session makes the host
		// start the plugin anew, which is what helps.
		g.link.end(errors.New("observer does not keep up"))
		return
	}
	g.queue(task)
}

// heard is closed when the observers have heard what came before now; nil if they
// have. What a turn is told comes after it: an attempt's clean end must not seem
// to follow the failure of a later one.
func (g *guest) heard() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.tasks) == 0 && !g.busy || len(g.tasks) == maxBacklog {
		return nil
	}
	done := make(chan struct{})
	g.queue(func() { close(done) })
	return done
}

// queue adds to what observe has to run. The mutex is held.
func (g *guest) queue(task func()) {
	g.tasks = append(g.tasks, task)
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// observerPatience is how long a turn waits for observers: they take no time
// unless an author's is stuck, and that must not hold up every call.
const observerPatience = 100 * time.Millisecond

// await waits for what heard gave.
func (t *turn) await(heard <-chan struct{}) {
	if heard == nil {
		return
	}
	timer := time.NewTimer(observerPatience)
	defer timer.Stop()
	select {
	case <-heard:
	case <-timer.C:
	case <-t.ctx.Done():
	}
}

// observe runs queued work and acknowledges the outcomes among it, one
// acknowledgement a batch.
func (g *guest) observe() {
	acked := uint64(0)
	for {
		g.mu.Lock()
		batch := g.tasks
		g.tasks, g.busy = nil, len(batch) > 0
		g.mu.Unlock()
		for _, task := range batch {
			g.protect("observer", task)
		}
		g.mu.Lock()
		g.busy = false
		g.mu.Unlock()
		if g.acked > acked {
			acked = g.acked
			_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Ack{Ack: &wirepb.Ack{Seq: acked}}})
		}
		select {
		case <-g.wake:
		case <-g.link.ended:
			return
		}
	}
}

// publish sends plans, the newest only: one that is withdrawn must not stand
// because there was no room for the word.
func (g *guest) publish() {
	for {
		select {
		case <-g.planned:
		case <-g.link.ended:
			return
		}
		p := g.plan.Swap(nil)
		if p == nil {
			continue
		}
		err := g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Plan{Plan: planToWire(*p)}})
		if errors.Is(err, ErrFrameTooLarge) {
			g.log.Warn("plan withdrawn", "err", err.Error())
			_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Plan{Plan: &wirepb.Plan{}}})
		}
	}
}

// protect keeps a panic of the author's code from ending the process: gRPC
// does not recover.
func (g *guest) protect(what string, f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			g.log.Error("plugin panic", "in", what, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	f()
	return nil
}

func (g *guest) outcome(o sdk.Outcome) {
	if o.Seq <= g.acked {
		return // a repetition
	}
	g.acked = o.Seq
	if obs, ok := g.plugin.(sdk.OutcomeObserver); ok {
		obs.Outcome(o)
	}
}

// configured runs an author's configuration step and answers with its faults.
func (g *guest) configured(revision uint64, step func() error) {
	var err error
	if perr := g.protect("configure", func() { err = step() }); perr != nil {
		err = perr
	}
	answer := &wirepb.Configured{Revision: revision}
	if err != nil {
		faults, ok := errors.AsType[sdk.Faults](err)
		if !ok {
			faults = sdk.Faults{{Message: err.Error()}}
		}
		answer.Faults = convert(faults, faultToWire)
	}
	_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Configured{Configured: answer}})
}

func (g *guest) configure(c sdk.Config) error {
	if p, ok := g.plugin.(sdk.Configurer); ok {
		ctx, cancel := context.WithTimeout(context.Background(), configureTimeout)
		defer cancel()
		return p.Configure(ctx, (*hostServices)(g), c)
	}
	return nil
}

// configureTimeout bounds an author's Configure: it may read its state, but the
// host waits for it before it serves.
const configureTimeout = 5 * time.Second

func (g *guest) settings(c sdk.Config, changed []string) error {
	if p, ok := g.plugin.(sdk.SettingsObserver); ok {
		return p.Settings(c, changed)
	}
	return errors.New("this plugin takes no settings while it runs")
}

func (g *guest) judge(m *wirepb.Judge) {
	f := failureFromWire(m.Failure)
	if f == nil {
		f = &sdk.Failure{}
	}
	if j, ok := g.plugin.(sdk.Judge); ok {
		_ = g.protect("judge", func() { *f = j.Judge(context.Background(), m.Provider, *f) })
	}
	_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Judged{Judged: &wirepb.Judged{Id: m.Id, Failure: failureToWire(f)}}})
}

func (g *guest) obey(m *wirepb.Order) {
	err := errors.New("this plugin takes no orders")
	if o, ok := g.plugin.(sdk.Operator); ok {
		ctx, cancel := context.WithTimeout(context.Background(), configureTimeout)
		defer cancel()
		if panicked := g.protect("order", func() { err = o.Operate(ctx, orderFromWire(m)) }); panicked != nil {
			err = panicked
		}
	}
	answer := &wirepb.Obeyed{Id: m.Id}
	if err != nil {
		answer.Error = valid(sdk.ClipMessage(err.Error()))
	}
	_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Obeyed{Obeyed: answer}})
}

func (g *guest) drain() {
	if d, ok := g.plugin.(sdk.Drainer); ok {
		ctx, cancel := context.WithTimeout(context.Background(), configureTimeout)
		defer cancel()
		d.Drain(ctx)
	}
	_ = g.send(&wirepb.ToHost{Frame: &wirepb.ToHost_Drained{Drained: &wirepb.Drained{}}})
}

// hostServices is the sdk.Host that a plugin sees.
type hostServices guest

var _ sdk.Host = (*hostServices)(nil)

func (h *hostServices) Log() *slog.Logger        { return h.log }
func (h *hostServices) State() sdk.State         { return &h.state }
func (h *hostServices) Catalogue() sdk.Catalogue { return *h.catalogue.Load() }

func (h *hostServices) Probe(provider string) {
	h.offer(&wirepb.ToHost{Frame: &wirepb.ToHost_Probe{Probe: &wirepb.Probe{Provider: valid(provider)}}})
}

func (h *hostServices) Record(d sdk.Decision) {
	h.offer(&wirepb.ToHost{Frame: &wirepb.ToHost_Decision{Decision: decisionToWire(d)}})
}

func (h *hostServices) Report(s sdk.Status) {
	h.offer(&wirepb.ToHost{Frame: &wirepb.ToHost_Status{Status: statusToWire(s)}})
}

func (h *hostServices) Plan(p sdk.Plan) {
	if !h.plans.Load() {
		return
	}
	h.plan.Store(&p)
	select {
	case h.planned <- struct{}{}:
	default:
	}
}

func (h *hostServices) offer(f *wirepb.ToHost) {
	if !h.link.offer(f) {
		h.log.Warn("host does not read; a report was dropped")
	}
}
