package driver

import "time"

// Suspend makes the d that have just passed a sleep of the machine: the plugin's
// monotonic clock did not go on.
func (p *Plugin) Suspend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.born = p.born.Add(d)
}
