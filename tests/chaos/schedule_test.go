package chaos

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
)

// schedule is all that the adversary does in a run. It is data: the same one can be
// played again, and so can a part of it.
type schedule struct {
	Seed     uint64  `json:"seed"`
	Calls    int64   `json:"calls"`
	Streamed float64 `json:"streamed"` // share of the calls
	Events   []event `json:"events"`   // in the order of At
}

// event is one thing that the adversary does. The clock is the calls: what is done
// keeps its proportion whatever the machine's speed.
type event struct {
	At     int64   `json:"at"` // when that many calls have begun
	Kind   kind    `json:"kind"`
	Vendor string  `json:"vendor,omitempty"`
	Fault  string  `json:"fault,omitempty"`
	Share  float64 `json:"share,omitempty"`   // of the vendor's requests
	Calls  int64   `json:"calls,omitempty"`   // for how many calls it lasts
	Millis int     `json:"millis,omitempty"`  // for how long it lasts
	Choice int     `json:"variant,omitempty"` // among what the kind has
}

// kind is the kind of an event.
type kind string

// The kinds, by lane: the events of one lane follow each other, lanes do not wait
// for each other.
const (
	vendorFails   kind = "vendor"  // a lane for each vendor
	pluginKilled  kind = "kill"    // lane plugin: SIGKILL
	pluginStopped kind = "stop"    // SIGSTOP, later SIGCONT
	binarySwapped kind = "swap"    // lane profile: another file in the place of the failover plugin's
	edited        kind = "edit"    // another order and threshold
	spoilt        kind = "bad"     // a save that cannot be used
	rogueListens  kind = "rogue"   // a second plugin that misbehaves
	storeFails    kind = "store"   // lane store: locked or full; gone or frozen if it is a Redis
	networkCut    kind = "network" // lane machine: one vendor's address is gone, or all of them
	suspended     kind = "suspend" // the host does not run for a while
)

// lane is where the event waits for its turn.
func (e event) lane() string {
	switch e.Kind {
	case vendorFails:
		return "vendor " + e.Vendor
	case pluginKilled, pluginStopped:
		return "plugin"
	case binarySwapped, edited, spoilt, rogueListens:
		return "profile"
	case storeFails:
		return "store"
	case networkCut, suspended:
		return "machine"
	}
	return ""
}

// rates are how many calls there are for each event of a kind.
type rates struct{ kills, swaps, saves int64 }

// newSchedule makes the schedule of a run.
func newSchedule(seed uint64, calls int64, streamed float64, r rates) schedule {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0)), calls: calls}
	for _, v := range failing {
		g.windows(v)
	}
	g.spread(pluginKilled, r.kills, nil)
	g.spread(binarySwapped, r.swaps, nil)
	g.spread(spoilt, r.saves, func(e *event) { e.Choice = g.rng.IntN(len(badSaves)) })
	g.spread(edited, max(10, calls/2500), func(e *event) { e.Choice = g.rng.IntN(1 << 16) })
	g.spread(pluginStopped, max(2, calls/10_000), func(e *event) { e.Millis = 100 + g.rng.IntN(1400) })
	turn := 0
	g.spread(rogueListens, max(int64(len(rogueModes)), calls/10_000), func(e *event) {
		e.Choice, e.Millis = turn%len(rogueModes), 500+g.rng.IntN(1500)
		turn++
	})
	g.spread(storeFails, max(6, calls/8000), func(e *event) { e.Choice, e.Millis = g.rng.IntN(2), 200+g.rng.IntN(1800) })
	g.spread(networkCut, max(4, calls/12_000), func(e *event) { e.Choice, e.Millis = g.rng.IntN(len(failing)+1), 100+g.rng.IntN(500) })
	g.spread(suspended, max(4, calls/12_000), func(e *event) { e.Millis = 50 + g.rng.IntN(350) })
	slices.SortStableFunc(g.events, func(a, b event) int { return cmp.Compare(a.At, b.At) })
	return schedule{Seed: seed, Calls: calls, Streamed: streamed, Events: g.events}
}

// generator makes events.
type generator struct {
	rng    *rand.Rand
	calls  int64
	events []event
	busy   []event // vendors with a slow fault
}

// spread makes n events of a kind, each somewhere in its own nth of the run.
func (g *generator) spread(k kind, n int64, set func(*event)) {
	for i := range n {
		e := event{Kind: k, At: i*g.calls/n + g.rng.Int64N(max(1, g.calls/n))}
		if set != nil {
			set(&e)
		}
		g.events = append(g.events, e)
	}
}

// windows makes a vendor fail in all ways, with pauses in which it is sound. Of slow
// faults there is one at a time, as a call has only so much time.
func (g *generator) windows(vendor string) {
	names := append(slices.Sorted(maps.Keys(faults)), refuse)
	unit := max(20, min(600, g.calls/60))
	for at := g.rng.Int64N(unit); at < g.calls; {
		e := event{At: at, Kind: vendorFails, Vendor: vendor, Fault: names[g.rng.IntN(len(names))], Calls: unit/2 + g.rng.Int64N(unit)}
		at += e.Calls + g.rng.Int64N(unit)
		e.Share = []float64{1, 0.5, 0.2}[g.rng.IntN(3)]
		if faults[e.Fault].slow {
			e.Share = 0.03
			overlaps := func(o event) bool { return o.At < e.At+e.Calls+unit && e.At < o.At+o.Calls+unit }
			if slices.ContainsFunc(g.busy, overlaps) {
				continue
			}
			g.busy = append(g.busy, e)
		}
		g.events = append(g.events, e)
	}
}

// until is the part of a schedule that ends with a call, which a run shows that
// found something there.
func (s schedule) until(call int64) schedule {
	s.Calls = min(s.Calls, call)
	s.Events = slices.DeleteFunc(slices.Clone(s.Events), func(e event) bool { return e.At > call })
	return s
}

// halves are parts of a schedule that are smaller: each has all calls and about half
// of the events. First by kind, for a finding mostly needs one or two of them.
func (s schedule) halves() []schedule {
	kinds := map[kind]bool{}
	for _, e := range s.Events {
		kinds[e.Kind] = true
	}
	all := slices.Sorted(maps.Keys(kinds))
	half := func(keep func(i int, e event) bool) schedule {
		part := s
		part.Events = nil
		for i, e := range s.Events {
			if keep(i, e) {
				part.Events = append(part.Events, e)
			}
		}
		return part
	}
	if len(all) > 1 {
		first := all[:len(all)/2]
		return []schedule{
			half(func(_ int, e event) bool { return slices.Contains(first, e.Kind) }),
			half(func(_ int, e event) bool { return !slices.Contains(first, e.Kind) }),
		}
	}
	if len(s.Events) > 1 {
		return []schedule{
			half(func(i int, _ event) bool { return i < len(s.Events)/2 }),
			half(func(i int, _ event) bool { return i >= len(s.Events)/2 }),
		}
	}
	return nil
}

// shrunk is the smallest schedule that is reached by playing halves of s as long as
// one of them finds something, too, in at most so many runs. play says by which call
// the first finding of a run was seen.
func shrunk(s schedule, runs int, play func(schedule) (first int64, found bool)) schedule {
	for found := true; found; {
		found = false
		for _, half := range s.halves() {
			if runs == 0 {
				return s
			}
			runs--
			first, ok := play(half)
			if ok {
				s, found = half.until(first), true
				break
			}
		}
	}
	return s
}

// write puts the schedule into a file.
func (s schedule) write(path string) error {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// readSchedule reads what write wrote.
func readSchedule(path string) (s schedule, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("schedule %s: %w", path, err)
	}
	return s, nil
}
