package provider

import (
	"context"
	"sync"
	"time"
)

// limiter is the one timer of an attempt. It cancels with the cause of the
// limit in force, and counts only the time spent waiting for the vendor: a slow
// consumer is not a silent vendor.
type limiter struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	cause  error
	period time.Duration
	quiet  time.Duration // waited since the last meaningful event

	mu sync.Mutex // guards cause against the timer
}

// start begins with the limit on the first content, which runs without pause.
func (l *limiter) start(cancel context.CancelCauseFunc, d time.Duration, cause error) {
	l.cancel, l.cause, l.period = cancel, cause, d
	l.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		cause := l.cause
		l.mu.Unlock()
		l.cancel(cause)
	})
}

// set puts another limit in force, from now.
func (l *limiter) set(d time.Duration, cause error) {
	l.mu.Lock()
	l.cause = cause
	l.mu.Unlock()
	l.timer.Reset(max(d, 0))
}

func (l *limiter) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}
