package brain

import "time"

// Instant is one moment on both clocks, read together by the caller.
type Instant struct {
	Mono time.Duration // since a fixed moment of this process; never negative
	Wall time.Time
}

// after is the moment d from now, never early by the rounding.
func (now Instant) after(d time.Duration) deadline {
	wall := now.Wall.Add(d + time.Millisecond - 1)
	return deadline{mono: now.Mono + d, wall: wall.UnixMilli()}
}

// offset is the wall time at which the monotonic clock began, in milliseconds.
// It moves when the machine was suspended or the wall clock was set.
func (now Instant) offset() int64 { return now.Wall.UnixMilli() - now.Mono.Milliseconds() }

// deadline is a moment that is over once either clock has reached it. The zero
// value has always been over.
type deadline struct {
	mono time.Duration
	wall int64 // Unix milliseconds: the part that is stored
}

// left is how long until d, 0 once it is over.
func (d deadline) left(now Instant) time.Duration {
	wall := time.UnixMilli(d.wall).Sub(now.Wall)
	return max(0, min(d.mono-now.Mono, wall))
}

func (d deadline) over(now Instant) bool { return d.left(now) == 0 }

// at is d as people read it, zero for the zero value.
func (d deadline) at() time.Time {
	if d.wall == 0 {
		return time.Time{}
	}
	return time.UnixMilli(d.wall).UTC()
}

// stored makes a deadline of a stored wall time. One further away than longest
// was written under another clock and is cut.
func stored(now Instant, wall int64, longest time.Duration) deadline {
	if wall == 0 {
		return deadline{}
	}
	d := deadline{mono: now.Mono, wall: wall}
	if ahead := time.UnixMilli(wall).Sub(now.Wall); ahead > longest {
		return now.after(longest)
	} else if ahead > 0 {
		d.mono += ahead
	}
	return d
}

// double is first doubled n times, at most limit.
func double(first time.Duration, n int, limit time.Duration) time.Duration {
	for ; n > 0 && first < limit; n-- {
		first *= 2
	}
	return min(first, limit)
}
