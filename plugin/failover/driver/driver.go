package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

// Version of the plugin.
const Version = "0.1.0"

// Plugin is the failover plugin. A host calls its methods concurrently.
type Plugin struct {
	settings sdk.Live[settings]
	host     sdk.Host
	born     time.Time
	store    writer
	life     context.Context
	end      context.CancelFunc
	wg       sync.WaitGroup
	unread   atomic.Bool // the store could not be read, and that was said

	mu      sync.Mutex // guards what follows
	brain   *brain.Brain
	plan    plan
	waiting map[*flight]bool // attempts that have shown nothing yet
	orders  map[string]sdk.Order
	leases  map[string]*held        // by the tested target's name
	proved  map[string][]sdk.Change // by tag: what the begin of a probe's answer moved, for the record of its end
}

var (
	_ sdk.Plugin            = (*Plugin)(nil)
	_ sdk.Configurer        = (*Plugin)(nil)
	_ sdk.SettingsObserver  = (*Plugin)(nil)
	_ sdk.OutcomeObserver   = (*Plugin)(nil)
	_ sdk.CatalogueObserver = (*Plugin)(nil)
	_ sdk.Judge             = (*Plugin)(nil)
	_ sdk.Operator          = (*Plugin)(nil)
	_ sdk.Drainer           = (*Plugin)(nil)
)

// New returns the plugin, not yet configured.
func New() *Plugin {
	p := &Plugin{born: time.Now(), waiting: map[*flight]bool{}, orders: map[string]sdk.Order{}, leases: map[string]*held{}, proved: map[string][]sdk.Change{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// Manifest implements sdk.Plugin. Calls that the plugin itself re-enters pass
// it by.
func (p *Plugin) Manifest() sdk.Manifest {
	return sdk.Manifest{
		Name: "failover", Version: Version, Schema: schema, Judge: true, Operator: true, Plan: true,
		Hook: sdk.HookSpec{OnDown: sdk.OnDownWait, Wait: 500 * time.Millisecond, Decide: 500 * time.Millisecond},
	}
}

// Configure implements sdk.Configurer.
func (p *Plugin) Configure(ctx context.Context, host sdk.Host, c sdk.Config) error {
	s, warnings, err := read(c)
	if err != nil {
		return err
	}
	p.host = host
	p.wg.Go(s.classifier.Prepare) // the host need not wait for it
	p.adopt(s, warnings)
	p.brain = brain.New(p.now(), s.policy)
	p.store.init(host.State())
	p.wg.Go(func() { p.store.run(p.life, host.Log()) })
	if !p.restore(ctx) {
		p.wg.Go(p.follow)
	}
	p.wg.Go(p.renew)
	if s.probeEvery > 0 {
		p.wg.Go(func() { p.probe(s.probeEvery) })
	}
	p.report()
	return nil
}

// Settings implements sdk.SettingsObserver.
func (p *Plugin) Settings(c sdk.Config, _ []string) error {
	s, warnings, err := read(c)
	if err != nil {
		return err
	}
	s.classifier.Prepare() // before calls have it
	p.adopt(s, warnings)
	var changes []sdk.Change
	p.think(func(now brain.Instant) { changes = p.brain.SetPolicy(now, s.policy) })
	p.moved(changes)
	p.replan(false)
	return nil
}

// adopt makes settings those of calls that begin from now on.
func (p *Plugin) adopt(s *settings, warnings []sdk.Fault) {
	log := p.host.Log()
	for _, w := range warnings {
		log.Warn("setting ignored", "fault", w.String())
	}
	s.classifier.OnFault = func(f sdk.Fault) { log.Warn("pattern ignored", "fault", f.String()) }
	known := p.host.Catalogue()
	for _, r := range s.policy.Priority {
		if _, ok := known.Provider(r.Provider); !ok {
			log.Info("route skipped: no such provider runs", "route", r.String())
		}
	}
	p.settings.Store(s)
}

// Drain implements sdk.Drainer: what the brain has learned is written.
func (p *Plugin) Drain(ctx context.Context) {
	p.changed()
	p.store.flush(ctx)
	p.mu.Lock() // a turn that is not quite over may be about to spawn something
	p.end()
	p.mu.Unlock()
	p.wg.Wait()
}

// spawn runs f behind the calls, unless the plugin is drained, which waits for it.
// p.mu is held.
func (p *Plugin) spawn(f func()) {
	if p.life.Err() == nil {
		p.wg.Go(f)
	}
}

// now reads both clocks together.
func (p *Plugin) now() brain.Instant {
	t := time.Now()
	return brain.Instant{Mono: t.Sub(p.born), Wall: t.Round(0)}
}

// think runs f with the brain to itself, also if f panics.
func (p *Plugin) think(f func(now brain.Instant)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.now())
}

// Outcome implements sdk.OutcomeObserver.
func (p *Plugin) Outcome(o sdk.Outcome) {
	if o.Failure != nil {
		f := p.settings.Load().classifier.Refine(o.Route.Provider, *o.Failure)
		o.Failure = &f
	}
	var changes []sdk.Change
	repaced := false
	p.think(func(now brain.Instant) {
		changes = p.brain.Settled(now, o, p.host.Catalogue())
		repaced = p.brain.Repaced()
	})
	d := sdk.Decision{Call: o.Call, Attempt: o.Attempt, Changes: append(p.proof(o.Tag), changes...)}
	if f := o.Failure; f != nil {
		d.Code, d.Scope, d.Rule = f.Code, f.Scope, f.Rule
		d.Action, d.Reason = sdk.ActionStop, "the answer had begun"
		if !o.Committed { // the plugin was away then, or the caller
			d.Reason = brain.Unwaited
		}
	}
	if o.Attempt > 0 && (d.Action != "" || len(d.Changes) > 0) {
		p.host.Record(d)
	}
	p.moved(changes)
	if repaced {
		p.replan(false)
	}
}

// Judge implements sdk.Judge.
func (p *Plugin) Judge(_ context.Context, provider string, f sdk.Failure) sdk.Failure {
	return p.settings.Load().classifier.Refine(provider, f)
}

// moved publishes circuits that moved, and frees the requests that wait for a
// target which has just gone out.
func (p *Plugin) moved(changes []sdk.Change) {
	p.moveOn(changes)
	for _, c := range changes {
		p.host.Log().Info("circuit moved", "target", c.Target, "from", string(c.From), "to", string(c.To), "until", until(c.Until))
	}
	if p.changed() {
		p.replan(false)
	}
	if len(changes) > 0 {
		p.report()
	}
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func (p *Plugin) report() {
	var status sdk.Status
	p.think(func(now brain.Instant) {
		status = sdk.Status{Targets: p.brain.Snapshot(now), Orders: p.standing(now)}
	})
	p.host.Report(status)
}

// probe asks for the model lists of the providers in the list, now and then.
func (p *Plugin) probe(every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			for _, c := range p.host.Catalogue().Providers {
				p.host.Probe(c.Name)
			}
		case <-p.life.Done():
			return
		}
	}
}
