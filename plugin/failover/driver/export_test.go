package driver

import "time"

// Suspend lets the machine sleep for d: the wall clock goes on, which in a bubble
// takes the timers along, and the monotonic clock of the plugin does not.
func (p *Plugin) Suspend(d time.Duration) {
	time.Sleep(d)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.born = p.born.Add(d)
}
