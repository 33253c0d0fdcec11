package story

import (
	"fmt"
	"strconv"
	"time"
)

// clock tells moments and durations in words, as seen from now.
type clock struct {
	now   time.Time
	words *lexicon
}

// moment is the time of day, with the date if it is another day.
func (c clock) moment(t time.Time) string {
	t = t.In(c.now.Location())
	if t.Format(time.DateOnly) == c.now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// apart is how far t is from now: "2m ago", "in 5m".
func (c clock) apart(t time.Time) string {
	if t.After(c.now) {
		return fmt.Sprintf(c.words.ahead, c.span(t.Sub(c.now)))
	}
	return fmt.Sprintf(c.words.ago, c.span(c.now.Sub(t)))
}

// until is the end of a pause, with what is left of it.
func (c clock) until(t time.Time) string {
	if t.After(c.now) {
		return fmt.Sprintf(c.words.untilLeft, c.moment(t), c.span(t.Sub(c.now)))
	}
	return fmt.Sprintf(c.words.untilOver, c.moment(t))
}

// span is a duration in its two largest units.
func (c clock) span(d time.Duration) string {
	const day = 24 * time.Hour
	u := &c.words.units
	d = max(d, 0)
	if r := d.Round(time.Millisecond); r < time.Second {
		if d < time.Millisecond {
			return number(d.Round(100*time.Microsecond), time.Millisecond) + u.ms
		}
		return number(r, time.Millisecond) + u.ms
	}
	if r := d.Round(10 * time.Millisecond); r < 10*time.Second {
		return number(r, time.Second) + u.s
	}
	if r := d.Round(100 * time.Millisecond); r < time.Minute {
		return number(r, time.Second) + u.s
	}
	if r := d.Round(time.Second); r < time.Hour {
		return two(r, time.Minute, u.min, time.Second, u.s)
	}
	if r := d.Round(time.Minute); r < day {
		return two(r, time.Hour, u.h, time.Minute, u.min)
	}
	return two(d.Round(time.Hour), day, u.d, time.Hour, u.h)
}

// number is d in the given unit.
func number(d, unit time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(unit), 'f', -1, 64)
}

// two is d in two units, the smaller left out if it is nothing.
func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	s := strconv.FormatInt(int64(d/large), 10) + largeName
	if rest := d % large / small; rest > 0 {
		s += " " + strconv.FormatInt(int64(rest), 10) + smallName
	}
	return s
}
