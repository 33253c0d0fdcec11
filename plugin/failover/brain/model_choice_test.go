package brain

import (
	"slices"
	"time"

	"spillway/sdk"
)

// candidates are the head and its chain, the same model first.
func (m *oracle) candidates(head sdk.Route) []sdk.Route {
	rest := m.priority
	if i := slices.Index(m.priority, head); i >= 0 {
		rest = m.priority[i+1:]
	} else if i := slices.IndexFunc(m.priority, func(r sdk.Route) bool { return r.Provider == head.Provider }); i >= 0 {
		rest = m.priority[i+1:]
	}
	list := []sdk.Route{head}
	for _, same := range []bool{true, false} {
		for _, r := range rest {
			if (r.Model == head.Model) == same && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

// standings is how each target stands now.
func (m *oracle) standings() func(Target) *standing {
	all := m.account()
	return func(t Target) *standing {
		if s := all[t]; s != nil {
			return s
		}
		return &standing{}
	}
}

// next is the attempt that r makes now, nil if it stops.
func (m *oracle) next(r *request, now time.Duration) *attempt {
	at := m.standings()
	asked := func(route sdk.Route) bool {
		return slices.ContainsFunc(r.attempts, func(a *attempt) bool { return a.route == route })
	}
	routes := map[sdk.Route]bool{}
	for _, a := range r.attempts {
		routes[a.route] = true
	}
	if len(routes) >= 4 {
		return nil
	}
	var early *attempt
	var soonest time.Duration
	for _, route := range m.candidates(r.head) {
		if asked(route) {
			continue
		}
		rs, vs := at(routeTarget(route)), at(vendorTarget(route.Provider))
		if vs.state(now) == sdk.CircuitOpen {
			continue
		}
		key, ok := m.pick(at, route, nil, now)
		a := &attempt{request: r, route: route, key: key}
		if ok && !rs.probed(now) && !vs.probed(now) && rs.state(now) != sdk.CircuitOpen {
			return m.testing(at, a, now)
		}
		// Only a blip stands against it?
		_, blip := rs.trips["transient"]
		for ladder, until := range rs.until {
			blip = blip && (ladder == "transient" || now >= until)
		}
		if left := rs.until["transient"] - now; ok && blip && rs.trial == nil && now >= rs.hint && (early == nil || max(left, 0) < soonest) {
			early, soonest = a, max(left, 0)
		}
	}
	if early == nil || at(routeTarget(early.route)).probed(now) || at(vendorTarget(early.route.Provider)).probed(now) {
		return nil
	}
	return m.testing(at, early, now)
}

// testing notes which permits a takes along.
func (m *oracle) testing(at func(Target) *standing, a *attempt, now time.Duration) *attempt {
	for _, t := range m.passed(a) {
		if at(t).state(now) != sdk.CircuitClosed {
			a.tests = append(a.tests, t)
		}
	}
	return a
}

// pick is the key whose turn it is among those that may be used.
func (m *oracle) pick(at func(Target) *standing, route sdk.Route, tried []string, now time.Duration) (string, bool) {
	p, _ := m.cat.Provider(route.Provider)
	if len(p.Keys) == 0 {
		return "", true
	}
	turns := 0
	for _, h := range m.history {
		if h.kind == hBegin && !h.a.nextKey && h.a.route.Provider == p.Name {
			turns++
		}
	}
	for i := range p.Keys {
		k := p.Keys[(turns+i)%len(p.Keys)]
		ks, ls := at(keyTarget(p.Name, k)), at(limitTarget(route, k))
		if !slices.Contains(tried, k) && !ks.probed(now) && !ls.probed(now) && ks.state(now) != sdk.CircuitOpen && ls.state(now) != sdk.CircuitOpen {
			return k, true
		}
	}
	return "", false
}

// rotates reports whether a failure is one after which another key is tried.
func rotates(f *sdk.Failure) bool {
	switch f.Code {
	case sdk.CodeQuota, sdk.CodeAuth, sdk.CodeInvalidCredential:
		return f.Scope == sdk.ScopeKey
	case sdk.CodeRateLimit, sdk.CodeServer:
		return true
	case sdk.CodeTransport:
		return !f.Cause.Unreachable()
	default:
		return false
	}
}

// failed is what follows the failure of a: another key, another route, or nil.
func (m *oracle) failed(a *attempt, f *sdk.Failure, now time.Duration) *attempt {
	m.history = append(m.history, happening{now, hFail, a, f})
	if f.Class() != sdk.ClassDeterministic && f.Class() != sdk.ClassTransient {
		return nil // the caller's fault, or this machine's
	}
	at := m.standings()
	p, _ := m.cat.Provider(a.route.Provider)
	rs, vs := at(routeTarget(a.route)), at(vendorTarget(p.Name))
	free := !rs.probed(now) && !vs.probed(now) && rs.state(now) != sdk.CircuitOpen && vs.state(now) != sdk.CircuitOpen
	if rotates(f) && len(p.Keys) > 1 && free {
		var tried []string
		for _, b := range a.request.attempts {
			if b.route == a.route {
				tried = append(tried, b.key)
			}
		}
		if k, ok := m.pick(at, a.route, tried, now); ok {
			next := &attempt{request: a.request, route: a.route, key: k, nextKey: true, counted: m.counted(a)}
			return m.testing(at, next, now)
		}
	}
	m.history = append(m.history, happening{now, hLeave, a, f})
	return m.next(a.request, now)
}

// counted reports whether a's request has counted on its route: one request adds
// one.
func (m *oracle) counted(a *attempt) bool {
	if a.counted {
		return true
	}
	without := *m
	without.history = m.history[:len(m.history)-1]
	before, after := without.account()[routeTarget(a.route)], m.account()[routeTarget(a.route)]
	return after != nil && (before == nil || after.fails > before.fails)
}
