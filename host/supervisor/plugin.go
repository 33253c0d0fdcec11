package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"spillway/sdk"
	"spillway/sdk/serve"
)

// Options say what to run and what to give it. Callbacks must not block.
type Options struct {
	Entry     string // the entry's id: name in logs, namespace of the state
	Binary    Binary
	Config    []byte // JSON
	Catalogue sdk.Catalogue
	State     sdk.State
	Log       *slog.Logger

	Record func(sdk.Decision)
	Report func(sdk.Status)
	Probe  func(provider string)
	// Changed, if set, hears when a process of the plugin has come or gone.
	Changed func()
	// StartTimeout bounds each step of a start: the handshake, the manifest, the
	// configuration. Default 10 s.
	StartTimeout time.Duration
	// AskAlways keeps no plan of the plugin's: it is asked about every call.
	AskAlways bool
	// Check, if set, sees the manifest before the plugin is configured; an
	// error stops the start.
	Check func(sdk.Manifest) error
}

// ErrDown is why Acquire fails: the plugin is stopped, or in a crash loop.
var ErrDown = errors.New("plugin is down")

// Plugin is a supervised plugin. It is safe for concurrent use.
type Plugin struct {
	opts     Options
	manifest sdk.Manifest
	remote   *serve.Remote
	outbox   serve.Outbox
	telling  sync.Mutex // held while a catalogue is sent: the newest lands last
	out      *output
	copy     *os.File // held, so that a restart finds it
	log      *slog.Logger

	current atomic.Pointer[instance]
	stop    context.CancelFunc
	drain   context.Context // bounds the drain; set before stop
	watcher sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when current or down changes
	down     error         // final
	epoch    uint64
	restarts int
	since    time.Time
}

var _ serve.Source = (*Plugin)(nil)

// Start runs a plugin and returns it once it is configured. Faults of the
// configuration come back as sdk.Faults. On error nothing runs.
func Start(ctx context.Context, o Options) (*Plugin, error) {
	p, in, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("plugin %q: %w", o.Entry, err)
	}
	p.publish(in)
	life, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.watcher.Go(func() { p.watch(life, in) })
	return p, nil
}

// start is Start up to the configured process.
func start(ctx context.Context, o Options) (_ *Plugin, _ *instance, err error) {
	log := o.Log.With("plugin", o.Entry)
	p := &Plugin{opts: o, log: log, out: &output{log: log}, changed: make(chan struct{})}
	if p.copy, err = hold(o.Binary.Path); err != nil {
		return nil, nil, execFault(err, o.Binary)
	}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	in, m, err := launch(ctx, o, p.out)
	if err != nil {
		return nil, nil, err
	}
	if o.Check != nil {
		if err := o.Check(m); err != nil {
			in.kill()
			return nil, nil, err
		}
	}
	p.manifest = m
	p.epoch = 1
	if err := in.configure(ctx, m, o, p.epoch, &p.outbox, p.out); err != nil {
		return nil, nil, err
	}
	p.remote = serve.NewRemote(o.Entry, m.Hook, p, &p.outbox)
	return p, in, nil
}

// release lets go of what outlives processes.
func (p *Plugin) release() {
	p.out.end()
	p.copy.Close()
}

// Remote is the plugin as a listener of the waterfall.
func (p *Plugin) Remote() *serve.Remote { return p.remote }

// Acquire implements serve.Source.
func (p *Plugin) Acquire(ctx context.Context, wait time.Duration) (*serve.Session, func(), error) {
	if in := p.current.Load(); in != nil && in.take() {
		return in.session, in.release, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		p.mu.Lock()
		changed, down := p.changed, p.down
		p.mu.Unlock()
		if down != nil {
			return nil, nil, down
		}
		// A process may have come between the look above and now.
		if in := p.current.Load(); in != nil && in.take() {
			return in.session, in.release, nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, nil, ErrDown
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// publish makes in the current process; nil for none.
func (p *Plugin) publish(in *instance) {
	p.mu.Lock()
	p.current.Store(in)
	if in != nil {
		p.since = time.Now()
	}
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	if p.opts.Changed != nil {
		p.opts.Changed()
	}
}

func (p *Plugin) giveUp(err error) {
	p.mu.Lock()
	p.down = err
	p.mu.Unlock()
	p.publish(nil)
}

// SetCatalogue tells this and later processes which providers and models there
// are. An older catalogue than the present one is ignored.
func (p *Plugin) SetCatalogue(ctx context.Context, c sdk.Catalogue) {
	p.mu.Lock()
	if c.Revision > p.opts.Catalogue.Revision {
		p.opts.Catalogue = c
	}
	p.mu.Unlock()
	p.tell(ctx)
}

// tell sends the present catalogue to the present process.
func (p *Plugin) tell(ctx context.Context) {
	p.telling.Lock()
	defer p.telling.Unlock()
	p.mu.Lock()
	c := p.opts.Catalogue
	p.mu.Unlock()
	in := p.current.Load()
	if in == nil {
		return
	}
	if err := in.session.SetCatalogue(ctx, c); err != nil && in.session.Err() == nil {
		p.log.Warn("catalogue not sent", "err", err)
	}
}

// Stop is Retire with little patience, for the end of the host.
func (p *Plugin) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*stopPatience)
	defer cancel()
	p.Retire(ctx)
}

// Retire drains the plugin and ends its process. Turns under way, and answers
// that the plugin relays, are waited for until ctx ends; after that the end takes
// two seconds at most. It, or Stop, may be called once.
func (p *Plugin) Retire(ctx context.Context) {
	p.drain = ctx
	p.stop()
	p.watcher.Wait()
	p.release()
}

// Manifest is what the plugin said of itself.
func (p *Plugin) Manifest() sdk.Manifest { return p.manifest }

// Settings gives the plugin changed volatile settings, now and after a restart.
// Faults come back as sdk.Faults and change nothing.
func (p *Plugin) Settings(ctx context.Context, config []byte, changed []string) error {
	s, release, err := p.Acquire(ctx, startTimeout)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.Settings(ctx, sdk.Config{Entry: p.opts.Entry, JSON: config}, changed); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opts.Config = config
	return nil
}

// Judge asks the plugin to refine a failure.
func (p *Plugin) Judge(ctx context.Context, provider string, f sdk.Failure) (sdk.Failure, error) {
	s, release, err := p.Acquire(ctx, startTimeout)
	if err != nil {
		return f, err
	}
	defer release()
	return s.Judge(ctx, provider, f)
}

// Info describes a plugin for people.
type Info struct {
	Entry    string    `json:"entry"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	SHA256   string    `json:"sha256"`
	PID      string    `json:"pid,omitempty"`
	Up       bool      `json:"up"`
	Since    time.Time `json:"since,omitzero"`
	Restarts int       `json:"restarts"`
	Bypassed uint64    `json:"bypassed"` // calls that went on without it
	Planned  uint64    `json:"planned"`  // calls that its standing plan served without asking it
	Down     string    `json:"down,omitempty"`
	Output   []string  `json:"output,omitempty"` // its last lines
}

// Info returns the present facts.
func (p *Plugin) Info() Info {
	i := Info{
		Entry: p.opts.Entry, Name: p.manifest.Name, Version: p.manifest.Version, SHA256: p.opts.Binary.SHA256,
		Bypassed: p.remote.Bypassed(), Planned: p.remote.Planned(), Output: p.out.tail(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i.Restarts, i.Since = p.restarts, p.since
	if p.down != nil {
		i.Down = p.down.Error()
	}
	if in := p.current.Load(); in != nil {
		i.Up, i.PID = in.session.Err() == nil, in.process.ID()
	}
	return i
}
