package brain

import (
	"slices"

	"spillway/sdk"
)

// keyless stands for the key of a provider that needs none.
const keyless = ""

// way is how a route may be used now: whether, and with which key.
type way struct {
	at  reachability
	key string
}

// way finds out how t may use r, a route of p. tried are the keys that this
// request has used there already; goesOn says that r serves the loop that the
// request is part of.
func (b *Brain) way(now Instant, t *Turn, p *sdk.Provider, r sdk.Route, tried []string, goesOn bool) way {
	at := b.above(now, p, r)
	if at == shut || at == shutAbove || at == busy || len(p.Keys) == 0 {
		return way{at: at, key: keyless}
	}
	w := b.pick(now, t, p, r, tried, goesOn)
	w.at = min(w.at, at)
	return w
}

// pick chooses a key among those that may be used: the conversation's own, for
// its cache is there; without a conversation one after the other. A key whose
// cooldown is over is among them, else nobody would ever test it.
func (b *Brain) pick(now Instant, t *Turn, p *sdk.Provider, r sdk.Route, tried []string, goesOn bool) way {
	v := b.vendors[p.Name]
	best := way{at: noKey}
	var lowest, turn uint64
	if t.conversation == 0 && len(p.Keys) > 1 {
		turn = b.spins[p.Name]
	}
	for i, key := range p.Keys {
		if slices.Contains(tried, key) || len(b.orders) > 0 && b.forbidden(now, r, key, goesOn) != "" {
			continue
		}
		at := v.keyState(now, r.Model, key)
		if at < testable {
			best.at = max(best.at, at)
			continue
		}
		if rank := sdk.KeyRank(i, len(p.Keys), key, t.conversation, turn); best.at < testable || rank < lowest {
			best, lowest = way{at: at, key: key}, rank
		}
	}
	return best
}

// keyState is whether a key may be used for a model.
func (v *vendor) keyState(now Instant, model, key string) reachability {
	k, l := v.key(key), v.limit(key, model)
	if k == nil && l == nil {
		return open
	}
	ks, ls := k.state(now), l.state(now)
	switch {
	case k.held(now) || l.held(now):
		return keyBusy
	case ls == sdk.CircuitOpen || k.limited(now):
		return limited
	case ks == sdk.CircuitOpen:
		return noKey
	case ks == sdk.CircuitHalfOpen || ls == sdk.CircuitHalfOpen:
		return testable
	}
	return open
}

// above is what the route's own circuit and its vendor's say.
func (b *Brain) above(now Instant, p *sdk.Provider, r sdk.Route) reachability {
	v := b.vendors[r.Provider]
	if v == nil {
		return open
	}
	route := v.routes[r.Model]
	rs, vs := route.state(now), v.state(now, p)
	switch {
	case vs == sdk.CircuitOpen:
		return shutAbove
	case route.held(now) || v.own.held(now):
		return busy
	case rs == sdk.CircuitOpen:
		return shut
	case rs == sdk.CircuitHalfOpen || vs == sdk.CircuitHalfOpen:
		return testable
	}
	return open
}

// state is that of the vendor itself. One that is out because its last key was
// refused may be tested as soon as it has a key against which nothing stands: a
// changed secret is a new key.
func (v *vendor) state(now Instant, p *sdk.Provider) sdk.CircuitState {
	s := v.own.state(now)
	if s == sdk.CircuitOpen && v.own.noKeyLeft && slices.ContainsFunc(p.Keys, func(key string) bool { return !v.key(key).climbed() }) {
		return sdk.CircuitHalfOpen
	}
	return s
}

// spent reports whether every key of the provider is out for r, be it for a limit
// or for good.
func (b *Brain) spent(now Instant, p *sdk.Provider, r sdk.Route) bool {
	v := b.vendors[p.Name]
	for _, key := range p.Keys {
		if k := v.keyState(now, r.Model, key); k != limited && k != noKey {
			return false
		}
	}
	return true
}

// dead reports whether no key of the provider is usable any more.
func (b *Brain) dead(now Instant, p *sdk.Provider) bool {
	v := b.vendors[p.Name]
	for _, key := range p.Keys {
		k := v.key(key)
		if k.state(now) != sdk.CircuitOpen || k.limited(now) {
			return false
		}
	}
	return true
}

// reachability of a route through its own circuit, its vendor's and its keys',
// worst first.
type reachability uint8

const (
	shut      reachability = iota // the route's circuit is open
	shutAbove                     // the vendor's is
	noKey                         // no key is usable
	limited                       // every key has reached a limit
	keyBusy                       // a probe of the key is under way
	busy                          // one of the route or the vendor is
	testable                      // a probe may go
	open                          // anybody may
)

func (r reachability) String() string {
	switch r {
	case shut:
		return "circuit open"
	case shutAbove:
		return "vendor out"
	case noKey:
		return "no usable key"
	case limited:
		return "rate limited"
	case keyBusy, busy:
		return "probe under way"
	case testable:
		return "half-open"
	case open:
		return "open"
	}
	return "unknown"
}
