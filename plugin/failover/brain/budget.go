package brain

import (
	"time"

	"spillway/sdk"
)

// Budget bounds one request. Zero stands for the default, a negative time for
// none.
type Budget struct {
	Deadline      time.Duration // to the first visible content of a stream
	WholeDeadline time.Duration // to the whole of an answer that is not streamed
	Reserve       float64       // share of the deadline kept back for the next candidate

	MaxRoutes     int // different routes
	MaxAttempts   int // all attempts together
	MaxPerVendor  int // attempts that reach one vendor
	MaxSameTarget int // attempts on one route with one key, the first included; 1 means to move on at once
	MaxWaits      int // unstated waits for a limit to pass when nothing else can serve

	BackoffBase time.Duration // before a second attempt on the same target, with full jitter
	BackoffCap  time.Duration
	WaitUpTo    time.Duration // the longest stated wait that is preferred to a switch

	Connect      time.Duration // TCP and TLS
	FirstContent time.Duration // 0: by the size of the request and the route's own pace
	Idle         time.Duration // between meaningful events
	Total        time.Duration // of a committed stream
}

// Shipped are the budgets that are there without a word of configuration. An agent works
// unwatched and rather waits; a batch has all the time there is.
func Shipped() map[string]Budget {
	return map[string]Budget{
		"interactive": Budget{}.withDefaults(),
		"agent": Budget{
			Deadline: 5 * time.Minute, WholeDeadline: 15 * time.Minute, WaitUpTo: 15 * time.Second,
		}.withDefaults(),
		"batch": Budget{
			Deadline: 30 * time.Minute, WholeDeadline: time.Hour, WaitUpTo: 2 * time.Minute,
			MaxAttempts: 24, MaxPerVendor: 12, MaxWaits: 6, Idle: time.Minute, Total: 2 * time.Hour,
		}.withDefaults(),
	}
}

func (b Budget) withDefaults() Budget {
	def(&b.Deadline, 2*time.Minute)
	def(&b.WholeDeadline, 10*time.Minute)
	def(&b.Reserve, 0.25)
	def(&b.MaxRoutes, 4)
	def(&b.MaxAttempts, 12)
	def(&b.MaxPerVendor, 6)
	def(&b.MaxSameTarget, 2)
	def(&b.MaxWaits, 3)
	def(&b.BackoffBase, 250*time.Millisecond)
	def(&b.BackoffCap, 4*time.Second)
	def(&b.WaitUpTo, 5*time.Second)
	def(&b.Connect, 5*time.Second)
	def(&b.Idle, 20*time.Second)
	def(&b.Total, 30*time.Minute)
	return b
}

// backoff is the wait after the given number of attempts on one target: anything
// from nothing to a bound that doubles.
func (b *Budget) backoff(attempts int, rnd float64) time.Duration {
	bound := double(b.BackoffBase, attempts-1, b.BackoffCap)
	return time.Duration(min(max(rnd, 0), 1) * float64(bound))
}

// What a first content may take: that of a vendor that is busy, not dead.
const (
	contentBase     = 10 * time.Second
	contentPer8K    = time.Second // of the prompt's tokens; twice that where no cache of them can be
	reasoningFactor = 4
	wholePer20      = time.Second // of the tokens that a whole answer may have
	wholeLeast      = time.Minute
	assumedOutput   = 4096 // tokens of an answer whose length the caller does not limit
)

// content is how long an attempt on r may take to its first visible content, or
// to its whole answer if it is not streamed, with all the time in the world.
func (b *Brain) content(now Instant, t *Turn, r sdk.Route) time.Duration {
	first := t.budget.FirstContent
	if first == 0 {
		first = b.auto(now, t, r)
	}
	if t.query.Stream {
		return first
	}
	tokens := t.query.MaxTokens
	if tokens <= 0 {
		tokens = assumedOutput
	}
	return max(first+time.Duration(tokens)*wholePer20/20, wholeLeast)
}

// auto is what a first content may take on r by the size of the request and by
// the route's own pace.
func (b *Brain) auto(now Instant, t *Turn, r sdk.Route) time.Duration {
	prompt := time.Duration(t.query.Shape.PromptTokens) * contentPer8K / 8000
	if !b.warm(now, t, r) {
		prompt *= 2
	}
	d := contentBase + prompt
	if t.query.Shape.Reasoning {
		d *= reasoningFactor
	}
	return max(d, min(paced(b.pace(r)), 2*d))
}

// limits are those of an attempt on r that begins after delay. short says that
// the deadline, not the vendor, sets the one on the content: when it fires nobody
// is to blame.
func (b *Brain) limits(now Instant, t *Turn, r sdk.Route, delay time.Duration) (l sdk.Limits, short bool) {
	l = sdk.Limits{Connect: t.budget.Connect, FirstContent: b.content(now, t, r), Idle: t.budget.Idle, Total: t.budget.Total}
	if t.deadline == 0 {
		return l, false
	}
	// The reserve is the next candidate's, until it has begun to be used.
	left := t.left(now) - delay
	if spare := left - t.reserve; spare >= t.meaningful {
		left = spare
	}
	if l.FirstContent > left {
		l.FirstContent, short = left, true
	}
	return l, short
}

// left is what the request has of its time; without a deadline a year.
func (t *Turn) left(now Instant) time.Duration {
	if t.deadline == 0 {
		return 365 * 24 * time.Hour
	}
	return t.deadline - now.Mono
}

// told is left for the record: 0 when there is no bound.
func (t *Turn) told(now Instant) time.Duration {
	if t.deadline == 0 {
		return 0
	}
	return max(t.left(now), 0)
}

// late reports whether an attempt that begins after d would have no time for
// anything.
func (t *Turn) late(now Instant, d time.Duration) bool { return t.left(now)-d < t.meaningful }

// meaningfulShare of the deadline is the least that an attempt needs: a second
// of two minutes.
const meaningfulShare = 120

// bound sets the turn's deadline: its budget's, or the caller's own if that is
// sooner.
func (t *Turn) bound() {
	d := t.budget.Deadline
	if !t.query.Stream || t.query.Buffer {
		d = t.budget.WholeDeadline
	}
	if t.query.Deadline != 0 {
		if own := max(t.query.Deadline-t.query.Began, 1); d <= 0 || own < d {
			d = own
		}
	}
	if d > 0 {
		t.deadline = t.query.Began + d
		t.reserve = time.Duration(float64(d) * t.budget.Reserve)
		t.meaningful = d / meaningfulShare
	}
}
