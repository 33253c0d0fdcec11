package driver

import (
	"context"
	"errors"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

const (
	// leaseWait is how long a probe waits for its lease: a little longer than the
	// host waits for its store, so that its answer is heard. Without one in time
	// this process's own permit must do.
	leaseWait = 150 * time.Millisecond
	// leaseGrace is how much longer a lease lasts than its attempt may take.
	leaseGrace = 5 * time.Second
	probes     = "probe/"
)

// held is a lease of this process on the test of a target, asked for or granted. A
// probe that follows another at once joins it. Without users it is being given
// back.
type held struct {
	known chan struct{} // closed when the store has answered
	lease sdk.Lease     // of a store that has granted it
	err   error
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
	h, joined := p.hold(name, step.Delay+step.Limits.FirstContent+leaseGrace)
	if h == nil {
		return func() {}, nil
	}
	release = p.releaser(name, h)
	if joined {
		return release, nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseWait)
	defer cancel()
	select {
	case <-h.known:
	case <-ctx.Done(): // what is granted later is given back all the same
		return release, nil
	}
	switch {
	case errors.Is(h.err, sdk.ErrHeld):
		return nil, h.err
	case h.err != nil:
		return func() {}, nil
	}
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

// hold joins a lease that this process has, or asks for one. While one is given
// back, and when the plugin is drained, there is none, and this process's own permit
// must do.
func (p *Plugin) hold(name string, lasts time.Duration) (h *held, joined bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.leases[name]; h != nil {
		if h.users == 0 {
			return nil, false
		}
		h.users++
		return h, true
	}
	if p.life.Err() != nil {
		return nil, false
	}
	h = &held{known: make(chan struct{}), users: 1}
	p.leases[name] = h
	p.spawn(func() {
		ctx, cancel := context.WithTimeout(p.life, writeTimeout)
		defer cancel()
		l, err := p.host.State().Acquire(ctx, probes+name, lasts)
		p.mu.Lock()
		defer p.mu.Unlock()
		if h.lease, h.err = l, err; err != nil {
			delete(p.leases, name)
		}
		close(h.known)
	})
	return h, false
}

// releaser ends one use of a lease, and the lease with the last one, behind the
// calls.
func (p *Plugin) releaser(name string, h *held) func() {
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.spawn(func() {
			<-h.known
			if h.err != nil {
				return
			}
			ctx, cancel := context.WithTimeout(p.life, writeTimeout)
			defer cancel()
			p.store.flush(ctx)
			p.mu.Lock()
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
