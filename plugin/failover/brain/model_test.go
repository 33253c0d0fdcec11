package brain

import (
	"slices"
	"time"

	"spillway/sdk"
)

// The model says the same as the brain in the plainest way: who is out until when,
// and who is tried next. It keeps nothing but the history of what has happened and
// works everything out from its beginning, each time it is asked. It knows no
// second attempts on a target, no waits and no limits of time.

// happening is one entry of the history.
type happening struct {
	at   time.Duration
	kind happeningKind
	a    *attempt
	f    *sdk.Failure
}

type happeningKind uint8

const (
	hBegin  happeningKind = iota
	hFail                 // before or after visible content
	hLeave                // the request asks this route no more
	hCommit               // visible content
	hOK                   // the clean end
)

// attempt is one of a request.
type attempt struct {
	request *request
	route   sdk.Route
	key     string
	tests   []Target // of which it has the permits
	nextKey bool     // it follows one with another key
	counted bool     // the request had counted on the route before
}

// request is what the model knows of one.
type request struct {
	head     sdk.Route
	attempts []*attempt
}

// standing is all that can be said of one target.
type standing struct {
	fails    int // in a row
	trips    map[string]int
	until    map[string]time.Duration
	hint     time.Duration // the vendor's word
	look     time.Duration // when somebody may look although the word says no
	probe    *attempt
	ends     time.Duration // of the probe's permit
	trial    *attempt
	last     int // the happening that was counted last
	tripped  int // the one that last put it out
	keysGone bool
}

func (s *standing) reset() {
	*s = standing{trips: map[string]int{}, until: map[string]time.Duration{}, last: s.last, tripped: s.tripped}
}

func (s *standing) climbed() bool { return len(s.trips) > 0 }

// gate is until when nobody may pass, by ladder or word.
func (s *standing) gate() time.Duration {
	g := s.look
	for _, u := range s.until {
		g = max(g, u)
	}
	return g
}

func (s *standing) probed(now time.Duration) bool { return s.probe != nil && now < s.ends }

func (s *standing) state(now time.Duration) sdk.CircuitState {
	switch {
	case s.probed(now):
		return sdk.CircuitHalfOpen
	case s.trial != nil:
		return sdk.CircuitClosed
	case now < s.gate():
		return sdk.CircuitOpen
	case s.climbed() || now < s.hint:
		return sdk.CircuitHalfOpen
	}
	return sdk.CircuitClosed
}

// oracle is the model: the history and what the user has written.
type oracle struct {
	history  []happening
	priority []sdk.Route
	cat      sdk.Catalogue
}

// account goes through the history and tells how each target stands.
func (m *oracle) account() map[Target]*standing {
	all := map[Target]*standing{}
	of := func(t Target) *standing {
		if all[t] == nil {
			all[t] = &standing{}
			all[t].reset()
		}
		return all[t]
	}
	began := map[*attempt]int{}
	for i, h := range m.history {
		i++ // 0 is before all that has happened
		a := h.a
		// owns reports whether a may still speak for t: nobody has taken its
		// permit's place.
		owns := func(t Target) bool {
			return !slices.Contains(a.tests, t) || of(t).probe == a || of(t).trial == a
		}
		switch h.kind {
		case hBegin:
			began[a] = i
			for _, t := range a.tests {
				s := of(t)
				s.probe, s.ends, s.trial = a, h.at+contentBase+permitGrace, nil
			}
		case hCommit:
			for _, t := range a.tests {
				if s := of(t); s.probe == a {
					s.probe, s.trial = nil, a
				}
			}
		case hOK:
			for _, t := range m.passed(a) {
				if owns(t) && began[a] > of(t).tripped {
					of(t).reset()
				}
			}
		case hFail:
			m.blame(of, i, h, began[a], owns)
		case hLeave:
			m.halt(of, i, h, began[a])
		}
	}
	return all
}

// passed are the targets that an attempt goes through.
func (m *oracle) passed(a *attempt) []Target {
	list := []Target{routeTarget(a.route), vendorTarget(a.route.Provider)}
	if a.key != "" {
		list = append(list, keyTarget(a.route.Provider, a.key), limitTarget(a.route, a.key))
	}
	return list
}

// blame is section 2's table and section 6's, for one failure.
func (m *oracle) blame(of func(Target) *standing, i int, h happening, began int, owns func(Target) bool) {
	a, f := h.a, h.f
	owned := map[Target]bool{}
	for _, t := range m.passed(a) {
		owned[t] = owns(t)
	}
	for _, t := range a.tests { // a permit comes back, whatever the end
		if s := of(t); s.probe == a {
			s.probe = nil
		}
	}
	if class := f.Class(); f.Scope == sdk.ScopeNone || class != sdk.ClassDeterministic && class != sdk.ClassTransient {
		return
	}
	vendor, route := vendorTarget(a.route.Provider), routeTarget(a.route)
	key, limit := vendor, route // what a provider without keys has instead
	if a.key != "" {
		key, limit = keyTarget(a.route.Provider, a.key), limitTarget(a.route, a.key)
	}
	t, ladder := route, "transient"
	switch {
	case f.Code == sdk.CodeTransport && f.Cause.Unreachable():
		t, ladder = vendor, "halt"
	case f.Code == sdk.CodeRateLimit && f.Scope == sdk.ScopeRoute:
		t, ladder = limit, ""
	case f.Code == sdk.CodeRateLimit:
		t, ladder = key, ""
	case f.Code == sdk.CodeModelUnavailable:
		ladder = "deterministic"
	case f.Code == sdk.CodeQuota && f.Billing:
		t, ladder = vendor, "halt"
	case f.Class() == sdk.ClassDeterministic:
		t, ladder = map[sdk.Scope]Target{sdk.ScopeRoute: route, sdk.ScopeKey: key, sdk.ScopeVendor: vendor}[f.Scope], "deterministic"
	}
	if !owned[t] {
		return
	}
	for _, other := range a.tests { // it was a look all the same
		if s := of(other); owned[other] && other != t && h.at < s.hint {
			s.look = min(s.hint, h.at+30*time.Minute)
		}
	}
	s := of(t)
	window := s.last
	if f.Rule == sdk.RuleFirstContent { // a wait of its own, no echo
		window = s.tripped
	}
	if began < window {
		return
	}
	hint := f.RetryAfter
	if ladder == "" && hint == 0 {
		hint = 30 * time.Second
	}
	if ladder == "transient" && a.counted && hint == 0 {
		return
	}
	s.last = i
	s.keysGone = false
	trips := ladder != "" && ladder != "transient"
	if ladder == "transient" && !a.counted {
		s.fails++
		trips = s.fails >= 2 || s.climbed()
	}
	if trips {
		m.trip(s, t, ladder, h)
	}
	if hint > 0 {
		s.hint = max(s.hint, h.at+hint)
	}
	s.look = min(s.hint, h.at+30*time.Minute)
	if h.at < s.gate() {
		s.tripped, s.trial = i, nil
	}
	refused := f.Code == sdk.CodeAuth || f.Code == sdk.CodeInvalidCredential
	if v := of(vendor); refused && t.Scope == sdk.ScopeKey && m.keysGone(of, a.route.Provider, h.at) && v.state(h.at) != sdk.CircuitOpen && began >= v.last {
		v.last, v.tripped, v.trial, v.keysGone = i, i, nil, true
		m.trip(v, vendor, "deterministic", h)
		v.look = min(v.hint, h.at+30*time.Minute)
	}
}

// trip opens a ladder for its next cooldown.
func (m *oracle) trip(s *standing, t Target, ladder string, h happening) {
	first, most := 5*time.Minute, time.Hour
	switch {
	case t.Scope == sdk.ScopeKey:
		first, most = 30*time.Second, 15*time.Minute
	case ladder == "halt":
		first, most = time.Minute, 5*time.Minute
	case ladder == "rate":
		first, most = 30*time.Second, 30*time.Second
	case ladder == "transient" && h.f.Code == sdk.CodeTimeout:
		first, most = time.Minute, 5*time.Minute
	case ladder == "transient":
		first, most = 5*time.Second, 15*time.Second
	}
	for range s.trips[ladder] {
		first = min(2*first, most)
	}
	s.trips[ladder]++
	s.until[ladder] = h.at + first
}

// keysGone reports whether every key of a provider is refused.
func (m *oracle) keysGone(of func(Target) *standing, name string, now time.Duration) bool {
	p, _ := m.cat.Provider(name)
	for _, k := range p.Keys {
		if s := of(keyTarget(name, k)); s.state(now) != sdk.CircuitOpen || !s.climbed() {
			return false
		}
	}
	return true
}

// halt is section 5.4.
func (m *oracle) halt(of func(Target) *standing, i int, h happening, began int) {
	if h.f.Code != sdk.CodeRateLimit {
		return
	}
	p, _ := m.cat.Provider(h.a.route.Provider)
	for _, k := range p.Keys {
		ks, ls := of(keyTarget(p.Name, k)), of(limitTarget(h.a.route, k))
		if ks.probed(h.at) || ls.probed(h.at) || ks.state(h.at) != sdk.CircuitOpen && ls.state(h.at) != sdk.CircuitOpen {
			return
		}
	}
	t := routeTarget(h.a.route)
	if h.f.Scope == sdk.ScopeVendor {
		t = vendorTarget(p.Name)
	}
	s := of(t)
	if h.at < s.until["rate"] || len(p.Keys) > 0 && began < s.last {
		return
	}
	s.last, s.tripped, s.trial, s.keysGone = i, i, nil, false
	m.trip(s, t, "rate", h)
}
