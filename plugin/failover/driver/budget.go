package driver

import (
	"time"

	"spillway/plugin/failover/brain"
)

// budget is a budget as users write it: what it does not name is that of the
// budget it is like.
type budget struct {
	Like          string  `json:"like"` // a shipped budget, "" interactive
	DeadlineMS    int64   `json:"deadlineMs"`
	WholeMS       int64   `json:"wholeDeadlineMs"`
	Reserve       float64 `json:"reserveForFallback"`
	MaxRoutes     int     `json:"maxRoutes"`
	MaxAttempts   int     `json:"maxAttempts"`
	MaxPerVendor  int     `json:"maxPerVendor"`
	MaxSameTarget int     `json:"maxSameTargetAttempts"`
	MaxWaits      int     `json:"maxWaits"`
	BackoffMS     int64   `json:"backoffMs"`
	MaxBackoffMS  int64   `json:"maxBackoffMs"`
	WaitUpToMS    int64   `json:"waitUpToMs"`

	ConnectMS      int64 `json:"connectMs"`
	FirstContentMS int64 `json:"firstContentMs"` // 0: by the size of the request
	IdleMS         int64 `json:"idleMs"`
	TotalMS        int64 `json:"totalMs"`
}

// over is b on top of the shipped budget that it is like.
func (b budget) over(shipped map[string]brain.Budget) brain.Budget {
	name := b.Like
	if name == "" {
		name = "interactive"
	}
	p := shipped[name]
	for _, n := range []struct {
		dst *int
		v   int
	}{
		{&p.MaxRoutes, b.MaxRoutes}, {&p.MaxAttempts, b.MaxAttempts}, {&p.MaxPerVendor, b.MaxPerVendor},
		{&p.MaxSameTarget, b.MaxSameTarget}, {&p.MaxWaits, b.MaxWaits},
	} {
		if n.v != 0 {
			*n.dst = n.v
		}
	}
	for _, d := range []struct {
		dst *time.Duration
		v   int64
	}{
		{&p.Deadline, b.DeadlineMS}, {&p.WholeDeadline, b.WholeMS}, {&p.BackoffBase, b.BackoffMS}, {&p.BackoffCap, b.MaxBackoffMS},
		{&p.WaitUpTo, b.WaitUpToMS}, {&p.Connect, b.ConnectMS}, {&p.FirstContent, b.FirstContentMS}, {&p.Idle, b.IdleMS}, {&p.Total, b.TotalMS},
	} {
		if d.v != 0 {
			*d.dst = ms(d.v)
		}
	}
	if b.Reserve != 0 {
		p.Reserve = b.Reserve
	}
	return p
}
