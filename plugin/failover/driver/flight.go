package driver

import (
	"context"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

// flight is a request on its way. Its turn belongs to the goroutine that serves
// it, but while an attempt is awaited, to whoever holds the plugin's mutex.
type flight struct {
	turn   brain.Turn
	cancel context.CancelFunc // of the attempt that is awaited
	moved  *brain.Step        // what follows it, if it was ended because its target went out
}

// fly lets go of a flight for as long as its attempt is awaited.
func (p *Plugin) fly(fl *flight, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fl.cancel, fl.moved = cancel, nil
	p.waiting[fl] = true
}

// land takes a flight back. The result is not nil if it was moved on.
func (p *Plugin) land(fl *flight) *brain.Step {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, fl)
	return fl.moved
}

// moveOn ends attempts that still wait for their first content at a target which
// has just gone out, where something else can serve: nobody has to wait for what
// others have found to be dead.
func (p *Plugin) moveOn(changes []sdk.Change) {
	opened := false
	for _, c := range changes {
		opened = opened || c.To == sdk.CircuitOpen
	}
	if !opened {
		return
	}
	p.think(func(now brain.Instant) {
		for fl := range p.waiting {
			p.moveFlight(now, fl)
		}
	})
}

// moveNow moves a flight on if its target is out.
func (p *Plugin) moveNow(fl *flight) {
	p.think(func(now brain.Instant) {
		if p.waiting[fl] { // else somebody has done so
			p.moveFlight(now, fl)
		}
	})
}

// moveFlight moves a waiting flight on if it can be. The mutex is held.
func (p *Plugin) moveFlight(now brain.Instant, fl *flight) {
	step, ok := p.brain.MoveOn(now, &fl.turn)
	if !ok {
		return
	}
	step.Reason = "moved on: its target went out meanwhile"
	fl.moved = &step
	delete(p.waiting, fl)
	fl.cancel()
}
