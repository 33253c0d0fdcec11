package brain

import (
	"time"

	"spillway/sdk"
)

// circuit is the health of one target. A target without one is healthy.
type circuit struct {
	target Target

	// Epochs of the brain's counter. A failure older than counted adds nothing;
	// a success older than tripped proves nothing; version is the last change
	// that other processes must learn, and orders what they write.
	counted, tripped, version uint64

	fails   int // consecutive counted failures; stays up after a trip, so the next one trips again
	ladders [rungs]ladder
	belief  belief

	permit permit   // the probe under way, if any
	trial  permitID // the probe that has shown content but not ended: traffic is admitted, nothing is forgotten

	noKeyLeft bool // of a vendor: it is out because its last key was refused; a new key is not

	code   sdk.Code // of the last charge, with its rule
	rule   string
	since  int64 // when the circuit left closed, Unix milliseconds
	before view  // while listed in Brain.touched: what the call found
	listed bool
	unsent bool // listed in Brain.unsent
}

// permitID names one permit among those of all processes.
type permitID struct {
	origin int64 // of the brain that gave it
	n      uint64
}

type permit struct {
	id   permitID
	ends deadline
}

// held reports whether a probe is under way.
func (c *circuit) held(now Instant) bool {
	return c != nil && c.permit.id.n != 0 && !c.permit.ends.over(now)
}

// climbed reports whether c has tripped and nothing has proved it healthy since.
func (c *circuit) climbed() bool {
	if c == nil {
		return false
	}
	for i := range c.ladders {
		if c.ladders[i].trips > 0 {
			return true
		}
	}
	return false
}

// gate is the moment from which one request may test c.
func (c *circuit) gate(now Instant) deadline {
	g := c.belief.retry
	for i := range c.ladders {
		if u := c.ladders[i].until; u.left(now) > g.left(now) {
			g = u
		}
	}
	return g
}

// state is whether c admits requests now.
func (c *circuit) state(now Instant) sdk.CircuitState {
	switch {
	case c == nil:
		return sdk.CircuitClosed
	case c.held(now):
		return sdk.CircuitHalfOpen
	case c.trial.n != 0:
		return sdk.CircuitClosed
	case !c.gate(now).over(now):
		return sdk.CircuitOpen
	case c.climbed() || !c.belief.until.over(now):
		return sdk.CircuitHalfOpen
	}
	return sdk.CircuitClosed
}

// onlyTransient reports whether nothing but a transient trip stands against c,
// and when that ends.
func (c *circuit) onlyTransient(now Instant) (time.Duration, bool) {
	if c == nil || c.ladders[rungTransient].trips == 0 || c.trial.n != 0 ||
		!c.belief.until.over(now) {
		return 0, false
	}
	for i := range c.ladders {
		if rung(i) != rungTransient && !c.ladders[i].until.over(now) {
			return 0, false
		}
	}
	return c.ladders[rungTransient].until.left(now), true
}

// limited reports whether c is out for a vendor's rate limit alone.
func (c *circuit) limited(now Instant) bool {
	return c != nil && c.code == sdk.CodeRateLimit && !c.climbed() && c.state(now) == sdk.CircuitOpen
}

// free reports whether c has a target with no trip that is free after d: what a
// second attempt on it needs.
func (c *circuit) free(now Instant, d time.Duration) bool {
	return c == nil || !c.climbed() && c.belief.until.left(now) <= d && !c.held(now)
}

// story reports whether there is anything to tell about c.
func (c *circuit) story(now Instant) bool {
	return c.fails > 0 || c.climbed() || c.held(now) || !c.belief.until.over(now)
}

// giveBack ends the permit id if c has it out, and reports whether an attempt
// with that permit still speaks for c: its permit is not yet replaced.
func (c *circuit) giveBack(id permitID, committed bool) bool {
	switch {
	case c.permit.id == id:
		c.permit = permit{}
		if committed {
			c.trial = id
		}
		return true
	case c.trial == id:
		return true
	}
	return false
}

// heal forgets everything against c. Epochs stay: older results stay older.
func (c *circuit) heal() {
	c.fails, c.ladders, c.belief = 0, [rungs]ladder{}, belief{}
	c.permit, c.trial, c.noKeyLeft = permit{}, permitID{}, false
	c.code, c.rule, c.since = "", "", 0
}

// view is what a change is told by.
type view struct {
	state sdk.CircuitState
	until time.Time
}

func (c *circuit) view(now Instant) view {
	v := view{state: c.state(now)}
	if v.state == sdk.CircuitOpen {
		v.until = c.gate(now).at()
	}
	return v
}
