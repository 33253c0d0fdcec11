package supervisor

import (
	"slices"
	"time"
)

// Numbers of restarts.
const (
	// maxFailedStarts in a row are a crash loop.
	maxFailedStarts = 5
	firstPause      = 100 * time.Millisecond
	maxPause        = 5 * time.Second
	// shortLife is the life of a process that dies of its start. One that lived
	// longer and nobody asked is given the benefit of the doubt.
	shortLife = 250 * time.Millisecond
	// maxRestarts in restartWindow are six a second, at some 20 ms each: more
	// than a machine under stress causes, and a tenth of a core at most.
	maxRestarts   = 60
	restartWindow = 10 * time.Second
)

// backoff decides when the next process of a plugin may start. Nothing in it
// reads a clock.
type backoff struct {
	failed  int         // processes in a row that died of their start
	quiet   int         // processes in a row that lived longer, but never answered
	lately  []time.Time // ends within the last restartWindow, at most maxRestarts
	unasked bool        // the last process is one of quiet
}

// ended notes the end of a process that was configured life ago. answered tells
// whether it ever did its work.
func (b *backoff) ended(now time.Time, life time.Duration, answered bool) {
	b.lately = slices.DeleteFunc(b.lately, func(t time.Time) bool { return now.Sub(t) >= restartWindow })
	if len(b.lately) == maxRestarts {
		b.lately = b.lately[1:]
	}
	b.lately = append(b.lately, now)
	b.unasked = false
	switch {
	case answered:
		b.failed, b.quiet = 0, 0
	case life > shortLife:
		b.failed, b.quiet, b.unasked = 0, b.quiet+1, true
	default:
		b.failed++
	}
}

// startFailed notes a process that did not come to be configured.
func (b *backoff) startFailed() { b.failed++ }

// loop reports a crash loop: the plugin stays off.
func (b *backoff) loop() bool { return b.failed >= maxFailedStarts }

// pause is how long the next start waits: not at all after a process that had
// answered, unless there were too many of them lately.
func (b *backoff) pause(now time.Time) time.Duration {
	if len(b.lately) == maxRestarts {
		if wait := restartWindow - now.Sub(b.lately[0]); wait > 0 {
			return wait
		}
	}
	switch {
	case b.failed > 0:
		return doubled(b.failed)
	case b.unasked:
		return doubled(b.quiet)
	}
	return 0
}

// doubled is the pause after n ends in a row.
func doubled(n int) time.Duration {
	pause := firstPause
	for range n - 1 {
		if pause *= 2; pause >= maxPause {
			return maxPause
		}
	}
	return pause
}
