package provider

import (
	"context"
	"sync"
	"time"
)

// limiter is the one timer of an attempt. It cancels with the cause of the
// limit in force, and counts only the time spent waiting for the vendor: a slow
// consumer is not a silent vendor.
//
// A new limit mostly ends later than the one before, with every frame a little
// later, so the timer is left as it is: when it fires too early it goes on to the
// end that is in force by then. Only an earlier end moves it.
type limiter struct {
	cancel context.CancelCauseFunc
	period time.Duration
	quiet  time.Duration // waited since the last meaningful event

	mu    sync.Mutex // guards what follows against the timer
	timer *time.Timer
	fires time.Time // when the timer does, zero once it has
	end   time.Time // of the limit in force, zero if there is none
	cause error
}

// start begins with the limit on the first content, which runs without pause.
func (l *limiter) start(cancel context.CancelCauseFunc, now time.Time, d time.Duration, cause error) {
	l.cancel, l.period = cancel, d
	l.mu.Lock() // the timer may be there first
	defer l.mu.Unlock()
	l.cause, l.end = cause, now.Add(d)
	l.fires = l.end
	l.timer = time.AfterFunc(d, l.fired)
}

// fired is the timer's function.
func (l *limiter) fired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fires = time.Time{}
	switch now := time.Now(); {
	case l.end.IsZero():
	case now.Before(l.end):
		l.fires = l.end
		l.timer.Reset(l.end.Sub(now))
	default:
		l.cancel(l.cause)
	}
}

// set puts another limit in force, which ends d after now.
func (l *limiter) set(now time.Time, d time.Duration, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause, l.end = cause, now.Add(max(d, 0))
	if l.fires.IsZero() || l.end.Before(l.fires) {
		l.fires = l.end
		l.timer.Reset(max(d, 0))
	}
}

// pause lifts the limit until the next set.
func (l *limiter) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = time.Time{}
}

// stop ends the limiter, if it was started. A set starts it again.
func (l *limiter) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = time.Time{}
	if l.timer != nil {
		l.timer.Stop()
		l.fires = time.Time{}
	}
}
