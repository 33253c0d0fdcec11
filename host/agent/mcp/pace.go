package mcp

import "time"

const (
	// maxFailures in a row are no accident.
	maxFailures = 5
	firstPause  = 100 * time.Millisecond
	maxPause    = 5 * time.Second
)

// pace decides when a server that ended is started again. Nothing in it reads a
// clock.
type pace struct {
	failures int // sessions in a row that ended before they answered a call, or never began
	last     time.Time
}

// ended notes a session's end.
func (p *pace) ended(now time.Time, answered bool) {
	p.last = now
	p.failures++
	if answered {
		p.failures = 0
	}
}

// loop reports that starting it again would not help.
func (p *pace) loop() bool { return p.failures >= maxFailures }

// pause is how long the next start waits.
func (p *pace) pause(now time.Time) time.Duration {
	if p.failures == 0 {
		return 0
	}
	pause := firstPause
	for range p.failures - 1 {
		pause = min(2*pause, maxPause)
	}
	return max(0, pause-now.Sub(p.last))
}
