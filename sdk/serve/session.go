package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"google.golang.org/grpc"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// SessionOptions is what a host gives a plugin's process. Callbacks must not
// block. Nil callbacks are left out; a nil State answers ErrUnavailable.
type SessionOptions struct {
	Entry  string // the entry's id
	Epoch  uint64
	State  sdk.State
	Outbox *Outbox
	Log    *slog.Logger
	// AskAlways keeps no plan: every call asks the plugin.
	AskAlways bool

	Record func(sdk.Decision)
	Report func(sdk.Status)
	Probe  func(provider string)
	Plan   func(sdk.Plan) // hears of each that is kept
}

// Session is one plugin process as its host sees it. Methods are safe for
// concurrent use.
type Session struct {
	opts     SessionOptions
	client   wirepb.PluginClient
	manifest sdk.Manifest
	link     *link[*wirepb.ToPlugin]
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	services *stateServer
	plans    bool // both sides know plans
	standing standing

	mu      sync.Mutex
	last    uint64 // call, judge, ping and revision numbers alike
	turns   map[uint64]*hostTurn
	waiting map[uint64]chan *wirepb.ToHost
}

// Describe asks a process what it is, without opening a session.
func Describe(ctx context.Context, conn grpc.ClientConnInterface) (sdk.Manifest, error) {
	m, err := wirepb.NewPluginClient(conn).Describe(ctx, &wirepb.HostInfo{Minor: Minor})
	if err != nil {
		return sdk.Manifest{}, fmt.Errorf("describe: %w", err)
	}
	return manifestFromWire(m), nil
}

// Open opens the session of a process. The caller then sends the catalogue and
// the configuration. Close ends it; the process exits by itself then.
func Open(ctx context.Context, conn grpc.ClientConnInterface, m sdk.Manifest, opts SessionOptions) (*Session, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	life, cancel := context.WithCancel(context.Background())
	client := wirepb.NewPluginClient(conn)
	stream, err := client.Session(life)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("session: %w", err)
	}
	s := &Session{
		opts: opts, client: client, manifest: m, link: newLink[*wirepb.ToPlugin](), cancel: cancel,
		plans: m.Plan && !opts.AskAlways, turns: map[uint64]*hostTurn{}, waiting: map[uint64]chan *wirepb.ToHost{},
	}
	s.services = newStateServer(opts.State, s.link)
	s.wg.Go(func() { s.link.write(stream.Send) })
	s.wg.Go(func() {
		for {
			f, err := stream.Recv()
			if err != nil {
				s.end(err)
				return
			}
			s.handle(f)
		}
	})
	hello := &wirepb.Hello{Epoch: opts.Epoch, MaxFrame: MaxFrame, Minor: Minor}
	if s.plans {
		hello.Features = []string{featurePlan}
	}
	if err := s.link.send(ctx, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Hello{Hello: hello}}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Manifest is what the process said of itself.
func (s *Session) Manifest() sdk.Manifest { return s.manifest }

// Done is closed when the session has ended: the sign of a crash. Err says why.
func (s *Session) Done() <-chan struct{} { return s.link.ended }

// Err is nil while the session lives.
func (s *Session) Err() error { return s.link.err() }

// Close ends the session and waits for its goroutines.
func (s *Session) Close() { s.Abandon(errors.New("closed by the host")); s.wg.Wait() }

// Abandon ends the session without waiting: for a process that has stopped
// answering and is about to be killed.
func (s *Session) Abandon(cause error) { s.end(cause) }

func (s *Session) end(cause error) {
	s.link.end(cause)
	s.cancel()
	s.services.close()
}

func (s *Session) handle(f *wirepb.ToHost) {
	switch m := f.Frame.(type) {
	case *wirepb.ToHost_Attempt, *wirepb.ToHost_Finish, *wirepb.ToHost_OpenRelay, *wirepb.ToHost_NeedBody:
		s.deliver(f)
	case *wirepb.ToHost_Drop:
		s.turn(f.Call).drop(m.Drop.Attempt)
	case *wirepb.ToHost_Ack:
		if s.opts.Outbox != nil {
			s.opts.Outbox.ack(s.link, m.Ack.Seq)
		}
	case *wirepb.ToHost_Service:
		s.services.serve(m.Service)
	case *wirepb.ToHost_Decision:
		if s.opts.Record != nil {
			s.opts.Record(decisionFromWire(m.Decision))
		}
	case *wirepb.ToHost_Status:
		if s.opts.Report != nil {
			s.opts.Report(statusFromWire(m.Status))
		}
	case *wirepb.ToHost_Plan:
		if !s.plans {
			return
		}
		plan := planFromWire(m.Plan)
		if left := s.standing.set(plan); len(left) > 0 {
			s.wg.Go(func() { s.join(left) })
		}
		if s.opts.Plan != nil {
			s.opts.Plan(plan)
		}
	case *wirepb.ToHost_Probe:
		if s.opts.Probe != nil {
			s.opts.Probe(m.Probe.Provider)
		}
	case *wirepb.ToHost_Configured:
		s.answer(m.Configured.Revision, f)
	case *wirepb.ToHost_Judged:
		s.answer(m.Judged.Id, f)
	case *wirepb.ToHost_Obeyed:
		s.answer(m.Obeyed.Id, f)
	case *wirepb.ToHost_Pong:
		s.answer(m.Pong.Id, f)
	case *wirepb.ToHost_Drained:
		s.answer(drainID, f)
	}
}

func (s *Session) turn(id uint64) *hostTurn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[id]
}

// deliver hands a frame to the turn it belongs to. Plugin and host alternate,
// so a turn that has frames waiting is a peer that breaks the protocol.
func (s *Session) deliver(f *wirepb.ToHost) {
	t := s.turn(f.Call)
	if t == nil {
		return
	}
	select {
	case t.inbox <- f:
	default:
		s.end(fmt.Errorf("call %d: frames out of turn", f.Call))
	}
}

func (s *Session) answer(id uint64, f *wirepb.ToHost) {
	s.mu.Lock()
	ch := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if ch != nil {
		ch <- f
	}
}

// drainID is the number under which Drained is awaited; others start at 1.
const drainID = 0

// ask sends the frame that build makes for a new number and waits for its
// answer.
func (s *Session) ask(ctx context.Context, id uint64, f *wirepb.ToPlugin) (*wirepb.ToHost, error) {
	ch := make(chan *wirepb.ToHost, 1)
	s.mu.Lock()
	s.waiting[id] = ch
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	if err := s.link.send(ctx, f); err != nil {
		return nil, err
	}
	select {
	case r := <-ch:
		return r, nil
	case <-s.link.ended:
		return nil, s.link.err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Session) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last
}

// Configure gives the plugin its settings. Faults come back as sdk.Faults.
// Outcomes that no earlier process acknowledged follow.
func (s *Session) Configure(ctx context.Context, c sdk.Config) error {
	id := s.number()
	f := &wirepb.Configure{Entry: c.Entry, Revision: id, Config: c.JSON}
	err := s.configured(s.ask(ctx, id, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Configure{Configure: f}}))
	if err == nil && s.opts.Outbox != nil {
		s.opts.Outbox.attach(s.link, s.plans)
	}
	return err
}

// Settings gives the plugin changed volatile settings.
func (s *Session) Settings(ctx context.Context, c sdk.Config, changed []string) error {
	id := s.number()
	f := &wirepb.Settings{Revision: id, Config: c.JSON, Changed: changed}
	return s.configured(s.ask(ctx, id, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Settings{Settings: f}}))
}

func (s *Session) configured(f *wirepb.ToHost, err error) error {
	if err != nil {
		return err
	}
	if faults := convert(f.GetConfigured().GetFaults(), faultFromWire); faults != nil {
		return sdk.Faults(faults)
	}
	return nil
}

// SetCatalogue tells the plugin which providers and models there are.
func (s *Session) SetCatalogue(ctx context.Context, c sdk.Catalogue) error {
	return s.link.send(ctx, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Catalogue{Catalogue: catalogueToWire(c)}})
}

// Judge asks the plugin to refine a failure.
func (s *Session) Judge(ctx context.Context, provider string, f sdk.Failure) (sdk.Failure, error) {
	if !s.manifest.Judge {
		return f, nil
	}
	id := s.number()
	j := &wirepb.Judge{Id: id, Provider: provider, Failure: failureToWire(&f)}
	r, err := s.ask(ctx, id, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Judge{Judge: j}})
	if err != nil {
		return f, fmt.Errorf("judge: %w", err)
	}
	if got := failureFromWire(r.GetJudged().GetFailure()); got != nil {
		return *got, nil
	}
	return f, errors.New("judge: no failure in the answer")
}

// Operate gives the plugin a person's order. An error without a local cause is
// the plugin's own word on what is wrong with it.
func (s *Session) Operate(ctx context.Context, o sdk.Order) error {
	if !s.manifest.Operator {
		return errors.New("this plugin takes no orders")
	}
	id := s.number()
	frame := orderToWire(o)
	frame.Id = id
	r, err := s.ask(ctx, id, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Order{Order: frame}})
	if err != nil {
		return fmt.Errorf("order: %w", err)
	}
	if text := r.GetObeyed().GetError(); text != "" {
		return errors.New(text)
	}
	return nil
}

// Ping returns nil if the process answers in time.
func (s *Session) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pingTimeout, errors.New("no answer to a ping"))
	defer cancel()
	id := s.number()
	_, err := s.ask(ctx, id, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Ping{Ping: &wirepb.Ping{Id: id}}})
	return err
}

// Drain tells the plugin that no call follows and waits until it has written
// what it has to. Its plan ends.
func (s *Session) Drain(ctx context.Context) error {
	s.standing.set(sdk.Plan{})
	if s.opts.Outbox != nil {
		s.opts.Outbox.send()
	}
	_, err := s.ask(ctx, drainID, &wirepb.ToPlugin{Frame: &wirepb.ToPlugin_Drain{Drain: &wirepb.Drain{}}})
	return err
}
