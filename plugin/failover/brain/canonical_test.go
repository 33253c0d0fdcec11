package brain

import (
	"slices"

	"spillway/sdk"
)

// Two states of the world are the same when they differ only in absolute time, in
// the size of counters, and in the names of vendors, of models, and of a vendor's
// keys. A state's key is the least among those of its sixteen renamings.

// Where the targets of a vendor stand in worldTargets.
const (
	atVendor  = 0
	atRoutes  = 1 // by model
	atKeys    = 3 // by key
	atLimits  = 5 // by key, then model
	perVendor = 9
)

var worldTargets = func() (list [2 * perVendor]Target) {
	for v, p := range worldCat.Providers {
		at := v * perVendor
		list[at+atVendor] = vendorTarget(p.Name)
		for m := range 2 {
			r := worldRoutes[2*v+m]
			list[at+atRoutes+m] = routeTarget(r)
			list[at+atKeys+m] = keyTarget(p.Name, p.Keys[m])
			for k := range 2 {
				list[at+atLimits+2*k+m] = limitTarget(r, p.Keys[k])
			}
		}
	}
	return list
}()

// renaming says which vendors, models and keys exchange their names.
type renaming struct {
	vendor, model int
	key           [2]int                   // by the vendor's old name
	source        [len(worldTargets)]uint8 // which old target has the new name of each place
}

var renamings = func() (list [16]renaming) {
	for i := range list {
		g := renaming{vendor: i & 1, model: i >> 1 & 1, key: [2]int{i >> 2 & 1, i >> 3 & 1}}
		for place := range g.source {
			v, at := place/perVendor^g.vendor, place%perVendor
			switch {
			case at >= atLimits:
				at = atLimits + ((at - atLimits) ^ g.key[v]<<1 ^ g.model)
			case at >= atKeys:
				at = atKeys + ((at - atKeys) ^ g.key[v])
			case at >= atRoutes:
				at = atRoutes + ((at - atRoutes) ^ g.model)
			}
			g.source[place] = uint8(v*perVendor + at)
		}
		list[i] = g
	}
	return list
}()

func (g *renaming) route(r sdk.Route) uint64 {
	return uint64(vendorAt(r.Provider)^g.vendor)<<1 | uint64(modelAt(r.Model)^g.model)
}

func (g *renaming) keyName(provider, key string) uint64 {
	return uint64(keyAt(key) ^ g.key[vendorAt(provider)])
}

func vendorAt(name string) int { return int(name[0] - 'a') }
func modelAt(name string) int  { return int(name[0] - '1') }
func keyAt(name string) int    { return int(name[1] - '1') }

// digest takes in numbers one after the other.
type digest uint64

func (d *digest) add(values ...uint64) {
	for _, v := range values {
		*d = digest(mix(uint64(*d)*0x9e3779b97f4a7c15 ^ v + 1))
	}
}

func (d *digest) flag(values ...bool) {
	bits := uint64(0)
	for i, v := range values {
		if v {
			bits |= 1 << i
		}
	}
	d.add(bits)
}

// health is what is known against each of worldTargets, permits and epochs left
// aside. Steps beyond a ladder's cap, and failures beyond the threshold, make no
// difference.
func (w *world) health() (list [len(worldTargets)]digest) {
	for i, t := range worldTargets {
		c := w.b.get(t)
		if c == nil || c.fails == 0 && !c.climbed() && c.belief.until.over(w.now) {
			continue
		}
		d := &list[i]
		d.add(uint64(min(c.fails, 2)))
		for _, l := range c.ladders {
			d.add(uint64(min(l.trips, 2)), uint64(l.until.left(w.now)))
		}
		d.add(uint64(c.belief.until.left(w.now)))
		d.flag(c.noKeyLeft, c.code == sdk.CodeRateLimit, c.code == sdk.CodeModelUnavailable)
	}
	return list
}

// key names the state.
func (w *world) key() [2]uint64 {
	circuits := w.health()
	var all [len(worldTargets)]*circuit
	for i, t := range worldTargets {
		c := w.b.get(t)
		if all[i] = c; c == nil {
			continue
		}
		d := &circuits[i]
		d.add(uint64(c.belief.retry.left(w.now)))
		d.flag(c.held(w.now), c.trial.n != 0)
		if c.held(w.now) {
			d.add(uint64(c.permit.ends.left(w.now)))
		}
	}
	var leases [2]passed
	for i, r := range w.runs {
		leases[i] = passedSince(&r.turn.lease, &all)
	}
	var least [2]uint64
	for i := range renamings {
		k := w.renamed(&renamings[i], &circuits, &leases)
		if i == 0 || k[0] < least[0] || k[0] == least[0] && k[1] < least[1] {
			least = k
		}
	}
	return least
}

func (w *world) renamed(g *renaming, circuits *[len(worldTargets)]digest, leases *[2]passed) [2]uint64 {
	d, e := digest(0), digest(1)
	for _, from := range g.source {
		v := uint64(circuits[from])
		d.add(v)
		e.add(v)
	}
	var rest digest
	for v := range 2 {
		p := &worldCat.Providers[v^g.vendor]
		rest.add((w.b.spins[p.Name] & 1) ^ uint64(g.key[v^g.vendor]))
		for _, a := range w.b.answers {
			if a.provider == p.Name {
				rest.add(uint64(a.until.left(w.now)))
			}
		}
	}
	if w.order != 0 {
		target, _ := ParseTarget(worldOrders[w.order].Target)
		for _, from := range g.source {
			rest.flag(worldTargets[from] == target)
		}
	}
	var runs [2]digest
	for i, r := range w.runs {
		runs[i] = w.run(g, r, &leases[i])
	}
	slices.Sort(runs[:])
	rest.add(uint64(runs[0]), uint64(runs[1]))
	d.add(uint64(rest))
	e.add(uint64(rest))
	return [2]uint64{uint64(d), uint64(e)}
}

// run is what matters of a request under way.
func (w *world) run(g *renaming, r *run, l *passed) (d digest) {
	t := &r.turn
	d.add(g.route(r.head), uint64(t.left(w.now)), uint64(t.attempts), uint64(t.window))
	d.flag(r.committed, t.loopback)
	d.add(g.visit(&t.now), l.renamed(g))
	sum := uint64(0)
	for i := range t.gone {
		sum += mix(g.visit(&t.gone[i]))
	}
	for _, p := range t.pending {
		var q digest
		q.add(g.route(p.route), boolBit(p.failure == t.first))
		sum += uint64(q)
	}
	d.add(sum)
	if t.first != nil {
		d.add(sdk.ConversationHash(string(t.first.Code) + "\x00" + string(t.first.Scope)))
	}
	return d
}

func boolBit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// passed is what an attempt's end will be judged by: what has happened to each
// target since it was decided, and which of its permits it still has.
type passed struct {
	since [len(worldTargets)]uint8
	rest  digest
}

func passedSince(l *lease, all *[len(worldTargets)]*circuit) (p passed) {
	p.rest.flag(l.counted, l.short)
	for i, c := range all {
		if c == nil {
			continue
		}
		p.since[i] = uint8(boolBit(l.epoch < c.counted) | boolBit(l.epoch < c.tripped)<<1 |
			boolBit(c.permit.id == l.id())<<2 | boolBit(c.trial == l.id())<<3)
	}
	for _, on := range l.on {
		p.rest.flag(on)
	}
	return p
}

func (p *passed) renamed(g *renaming) uint64 {
	d, words := p.rest, [2]uint64{}
	for i, from := range g.source {
		words[i/perVendor] = words[i/perVendor]<<4 | uint64(p.since[from])
	}
	d.add(words[:]...)
	return uint64(d)
}

func (g *renaming) visit(v *visit) uint64 {
	if v.attempts == 0 {
		return 0
	}
	var d digest
	tried := uint64(0)
	for _, k := range v.tried {
		tried |= 1 << g.keyName(v.route.Provider, k)
	}
	d.add(g.route(v.route), g.keyName(v.route.Provider, v.key), tried, uint64(v.attempts), uint64(v.onKey), uint64(v.waits))
	d.flag(v.waited, v.counted, v.answered)
	return uint64(d)
}

// mix spreads the difference of two numbers over all their bits.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	return h ^ h>>33
}
