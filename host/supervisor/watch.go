package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	heartbeat = time.Second
	// lostBeats in a row mean that the process does not answer any more: a
	// busy machine loses one now and then.
	lostBeats = 3
)

// watch is the goroutine that keeps a process running until life ends.
func (p *Plugin) watch(life context.Context, in *instance) {
	var off backoff
	for {
		p.beat(life, in)
		if life.Err() != nil {
			p.giveUp(ErrDown)
			in.stop(p.drain)
			return
		}
		p.publish(nil)
		p.log.Warn("plugin lost", "pid", in.process.ID(), "err", in.session.Err())
		off.ended(time.Now(), time.Since(in.begun), in.hasAnswered())
		if off.loop() {
			in.kill() // its last words are wanted
		} else {
			p.watcher.Go(in.kill) // beside the restart, which calls are waiting for
		}
		if in = p.restart(life, &off); in == nil {
			return
		}
		p.log.Info("plugin restarted", "pid", in.process.ID())
		p.publish(in)
		p.tell(life) // the catalogue may have changed while it was configured
	}
}

// beat returns when the session has ended, when the process does not answer any
// more, or when life ends.
func (p *Plugin) beat(life context.Context, in *instance) {
	t := time.NewTicker(heartbeat)
	defer t.Stop()
	lost := 0
	for {
		select {
		case <-in.session.Done():
			return
		case <-life.Done():
			return
		case <-t.C:
			if in.session.Ping(life) == nil {
				in.answered()
				lost = 0
				continue
			}
			if lost++; lost == lostBeats {
				in.session.Abandon(errors.New("does not answer"))
				return
			}
		}
	}
}

// restart starts a process anew, when off lets it. It returns nil when life ends,
// or when the plugin is in a crash loop.
func (p *Plugin) restart(life context.Context, off *backoff) *instance {
	err := fmt.Errorf("it ended before it answered%s", p.out.lastWord())
	for !off.loop() {
		t := time.NewTimer(off.pause(time.Now()))
		select {
		case <-t.C:
		case <-life.Done():
			t.Stop()
			p.giveUp(ErrDown)
			return nil
		}
		var in *instance
		if in, err = p.again(life); err == nil {
			return in
		}
		off.startFailed()
		p.log.Error("plugin does not start", "err", err, "try", off.failed)
	}
	p.log.Error("plugin is off: crash loop", "tries", off.failed, "err", err)
	p.giveUp(fmt.Errorf("%w: crash loop: %w", ErrDown, err))
	return nil
}

func (p *Plugin) again(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	opts := p.opts
	p.mu.Unlock()
	in, m, err := launch(ctx, opts, p.out)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.epoch++
	epoch := p.epoch
	opts = p.opts // the newest catalogue and settings
	p.restarts++
	p.mu.Unlock()
	if err := in.configure(ctx, m, opts, epoch, &p.outbox, p.out); err != nil {
		return nil, err
	}
	return in, nil
}
