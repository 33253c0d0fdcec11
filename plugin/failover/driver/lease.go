package driver

import (
	"context"
	"errors"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

const (
	// leaseWait is how long a probe waits for its lease. A store that does not
	// answer in time leaves the probe to this process's own permit.
	leaseWait = 50 * time.Millisecond
	// leaseGrace is how much longer a lease lasts than its attempt may take.
	leaseGrace = 5 * time.Second
	probes     = "probe/"
)

// held is a lease of this process on the test of a target. A probe that follows
// another at once joins it. Without users it is being given back.
type held struct {
	lease sdk.Lease
	users int
}

// lease makes sure that one process alone tests a target. The error is ErrHeld if
// another one does. release gives the lease back once what was learned is stored;
// it does not block.
func (p *Plugin) lease(ctx context.Context, fl *flight, step brain.Step) (release func(), err error) {
	if step.Tested == (brain.Target{}) {
		return func() {}, nil
	}
	name := step.Tested.String()
	if release, ok := p.share(name); ok {
		return release, nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	l, err := p.host.State().Acquire(ctx, probes+name, step.Delay+step.Limits.FirstContent+leaseGrace)
	switch {
	case errors.Is(err, sdk.ErrHeld):
		return nil, err
	case err != nil:
		return func() {}, nil
	}
	p.mu.Lock()
	p.leases[name] = &held{lease: l, users: 1}
	p.mu.Unlock()
	release = p.releaser(name)
	// Whoever had it before may have found the target out once more.
	if i, err := p.host.State().Get(ctx, circuits+name); err == nil {
		p.load(i)
		stale := false
		p.think(func(brain.Instant) { stale = p.brain.Outdated(&fl.turn) })
		if stale {
			release()
			return nil, sdk.ErrHeld
		}
	}
	return release, nil
}

// share joins a lease that this process still has. While one is given back,
// this process's own permit must do.
func (p *Plugin) share(name string) (release func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.leases[name]
	switch {
	case h == nil:
		return nil, false
	case h.users == 0:
		return func() {}, true
	}
	h.users++
	return p.releaser(name), true
}

// releaser ends one use of a lease, and the lease with the last one, behind the
// calls.
func (p *Plugin) releaser(name string) func() {
	return func() {
		p.wg.Go(func() {
			ctx, cancel := context.WithTimeout(p.life, writeTimeout)
			defer cancel()
			p.store.flush(ctx)
			p.mu.Lock()
			h := p.leases[name]
			h.users--
			last := h.users == 0
			p.mu.Unlock()
			if !last {
				return
			}
			_ = p.host.State().Release(ctx, h.lease)
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.leases, name)
		})
	}
}
