package brain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"spillway/sdk"
)

// record is a circuit as it is stored. Times are Unix milliseconds.
type record struct {
	Version uint64       `json:"v"`
	Counted uint64       `json:"n,omitempty"`
	Tripped uint64       `json:"t,omitempty"`
	Fails   int          `json:"f,omitempty"`
	Ladders []rungRecord `json:"l,omitempty"`
	Until   int64        `json:"u,omitempty"`
	Retry   int64        `json:"r,omitempty"`
	Permit  *heldRecord  `json:"p,omitempty"`
	Trial   *heldRecord  `json:"o,omitempty"`
	Code    sdk.Code     `json:"c,omitempty"`
	Rule    string       `json:"w,omitempty"`
	Since   int64        `json:"s,omitempty"`
	NoKey   bool         `json:"k,omitempty"`
}

type rungRecord struct {
	Trips int   `json:"n"`
	Until int64 `json:"u"`
}

type heldRecord struct {
	Origin int64  `json:"b"`
	N      uint64 `json:"n"`
	Ends   int64  `json:"u,omitempty"`
}

// Bounds of what Load accepts.
const (
	maxRecord = 4 << 10
	maxEpoch  = 1 << 53 // what JSON numbers carry everywhere
	maxWord   = 256     // code and rule
	maxPermit = 2 * time.Hour
)

// Export is the stored form of t's circuit, nil if it has none: it never had one,
// or made room for another. Equal health gives equal bytes. A record is of use
// until its latest time is past and nobody can still hold an older one.
func (b *Brain) Export(t Target) []byte {
	c := b.get(t)
	if c == nil {
		return nil
	}
	return c.export()
}

func (c *circuit) export() []byte {
	r := record{
		Version: c.version, Counted: c.counted, Tripped: c.tripped, Fails: c.fails,
		Until: c.belief.until.wall, Retry: c.belief.retry.wall,
		Code: c.code, Rule: c.rule[:min(len(c.rule), maxWord)], Since: c.since, NoKey: c.noKeyLeft,
	}
	if c.climbed() {
		for _, l := range c.ladders {
			r.Ladders = append(r.Ladders, rungRecord{l.trips, l.until.wall})
		}
	}
	if id := c.permit.id; id.n != 0 {
		r.Permit = &heldRecord{Origin: id.origin, N: id.n, Ends: c.permit.ends.wall}
	}
	if id := c.trial; id.n != 0 {
		r.Trial = &heldRecord{Origin: id.origin, N: id.n}
	}
	data, err := json.Marshal(r)
	if err != nil {
		panic("brain: record of " + c.target.String() + ": " + err.Error()) // plain fields only: cannot happen
	}
	return data
}

// Load takes what another process, or an earlier one, has exported for t. Older
// health than the brain's own is ignored. Times that lie further ahead than any
// rule puts them are cut. Bytes that Export did not write are refused as a whole.
func (b *Brain) Load(now Instant, t Target, data []byte) ([]sdk.Change, error) {
	if len(data) > maxRecord {
		return nil, fmt.Errorf("state of %q: %d bytes, at most %d allowed", t, len(data), maxRecord)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("state of %q: %w", t, err)
	}
	if !r.sound() {
		return nil, fmt.Errorf("state of %q: a field is out of range", t)
	}
	c := b.circuit(now, t)
	if r.Version < c.version {
		return nil, nil
	}
	before := c.view(now)
	b.epoch = max(b.epoch, r.Version)
	c.version, c.counted, c.tripped = r.Version, r.Counted, r.Tripped
	c.fails, c.code, c.rule = r.Fails, r.Code, r.Rule
	c.since, c.noKeyLeft = min(r.Since, now.Wall.UnixMilli()), r.NoKey
	c.ladders = [rungs]ladder{}
	for i, l := range r.Ladders {
		longest := max(b.policy.MaxCooldown, b.policy.Cooldown, b.policy.MaxHaltCooldown, b.policy.MaxKeyCooldown)
		c.ladders[i] = ladder{trips: l.Trips, until: stored(now, l.Until, longest)}
	}
	c.belief = belief{until: stored(now, r.Until, maxHint), retry: stored(now, r.Retry, hintProbe)}
	c.trial = r.Trial.id()
	b.loadPermit(now, c, r.Permit)
	v := c.view(now)
	if v == before {
		return nil, nil
	}
	return []sdk.Change{{Target: t.String(), From: before.state, To: v.state, Until: v.until}}, nil
}

// loadPermit takes over another brain's permit, or its return. Of its own ones
// a brain knows better than an echo of what it wrote earlier, and so it does of
// those that came back here: a store that is slow tells of them later than the end
// of their attempt does.
func (b *Brain) loadPermit(now Instant, c *circuit, p *heldRecord) {
	mine := c.permit.id.origin == b.origin && c.held(now)
	switch {
	case mine || p != nil && p.Origin == b.origin:
	case p == nil || slices.Contains(b.ended[:], p.id()):
		c.permit = permit{}
	default:
		c.permit = permit{id: p.id(), ends: stored(now, p.Ends, maxPermit)}
	}
}

func (h *heldRecord) id() permitID {
	if h == nil {
		return permitID{}
	}
	return permitID{origin: h.Origin, n: h.N}
}

func (r *record) sound() bool {
	for _, l := range r.Ladders {
		if l.Trips < 0 || l.Trips > maxTrips || l.Until < 0 {
			return false
		}
	}
	return r.Version <= maxEpoch && r.Counted <= r.Version && r.Tripped <= r.Version &&
		r.Fails >= 0 && r.Until >= 0 && r.Retry >= 0 && r.Since >= 0 &&
		len(r.Ladders) <= int(rungs) && // an earlier version knew fewer
		len(r.Code) <= maxWord && len(r.Rule) <= maxWord
}

// Snapshot tells the health of every target that has a story, in the order of
// their names.
func (b *Brain) Snapshot(now Instant) []sdk.TargetStatus {
	var list []sdk.TargetStatus
	for _, c := range b.order {
		if !c.story(now) {
			continue
		}
		v := c.view(now)
		s := sdk.TargetStatus{
			Scope: c.target.Scope, Target: c.target.String(), State: v.state, Until: v.until,
			Code: c.code, Reason: c.rule, Failures: c.fails,
		}
		if c.since != 0 {
			s.Since = time.UnixMilli(c.since).UTC()
		}
		for _, l := range c.ladders {
			s.Trips += l.trips
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b sdk.TargetStatus) int { return cmp.Compare(a.Target, b.Target) })
	return list
}
