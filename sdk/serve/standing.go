package serve

import (
	"context"
	"sync"
	"time"

	"spillway/sdk"
)

// standing is the plan that a session's plugin has published last, and the
// attempts that plans have ordered and that show nothing yet. It ends with its
// session: without the process that would learn from them nobody decides in its
// place. All methods are safe for concurrent use and none waits.
type standing struct {
	mu      sync.Mutex
	rules   map[sdk.RequestClass]*sdk.Rule
	ttl     time.Duration
	since   time.Time         // of the plan, on both clocks
	spins   map[string]uint64 // by provider: requests without a conversation, which take its keys in turn
	waiting map[*planned]struct{}
}

// planned is an attempt that a rule has ordered.
type planned struct {
	class   sdk.RequestClass
	request sdk.Request // as it was dispatched
	started time.Time
	call    *sdk.Call
	ctx     context.Context // the call's
	run     context.Context // the attempt's; the plugin ends it by cancel, nobody else does
	cancel  context.CancelFunc

	// Guarded by standing.mu.
	over   bool          // nobody awaits it any more
	shown  bool          // it is over with visible content
	turn   *hostTurn     // of the plugin that was told while it ran, nil before
	told   chan struct{} // closed when the plugin was, or could not be
	failed bool          // it could not be
}

// set replaces the plan. It returns the attempts under way whose class is not in
// it: the plugin is to be told of them.
func (s *standing) set(p sdk.Plan) (left []*planned) {
	rules := make(map[sdk.RequestClass]*sdk.Rule, min(len(p.Rules), sdk.MaxRules))
	spins := map[string]uint64{}
	for i := range p.Rules {
		if r := &p.Rules[i]; len(rules) < sdk.MaxRules && r.Sound() {
			rules[r.Class] = r
			spins[r.Class.Route.Provider] = 0
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for provider := range spins {
		spins[provider] = s.spins[provider]
	}
	s.rules, s.spins, s.ttl, s.since = rules, spins, min(p.TTL, sdk.MaxPlanTTL), time.Now()
	for w := range s.waiting {
		if rules[w.class] == nil {
			delete(s.waiting, w)
			left = append(left, w)
		}
	}
	return left
}

// clockSlip is how far the two clocks may part while a plan stands. Beyond it the
// machine slept, or somebody has set the clock: what the plugin knew is old.
const clockSlip = time.Second

// stands reports whether a plan still holds after so long on each of the clocks.
func stands(ttl, mono, wall time.Duration) bool {
	return mono < ttl && (wall-mono).Abs() <= clockSlip
}

// order completes w, whose request is as it came, as the rule of its class says,
// and counts it among those that wait. It reports whether there is such a rule.
func (s *standing) order(w *planned) bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.rules[w.class]
	if u == nil || !stands(s.ttl, now.Sub(s.since), now.Round(0).Sub(s.since.Round(0))) {
		return false
	}
	r := &w.request
	d, ok := u.Order(r, s.spins[r.Provider])
	if !ok {
		return false
	}
	if r.Conversation == "" && len(u.Keys) > 1 {
		s.spins[r.Provider]++
	}
	r.Dispatch, w.started = d, now
	if s.waiting == nil {
		s.waiting = map[*planned]struct{}{}
	}
	s.waiting[w] = struct{}{}
	return true
}

// enter makes t the turn of w, unless that is over.
func (s *standing) enter(w *planned, t *hostTurn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.over {
		return false
	}
	w.turn, w.told = t, make(chan struct{})
	return true
}

// tell notes that the plugin knows of w's turn, or that it could not be told. It
// reports whether w has shown content meanwhile, which the plugin is then to hear.
func (s *standing) tell(w *planned, failed bool) (shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.failed = failed
	close(w.told)
	return w.shown && !failed
}

// finish ends the wait of w with the visible content that has come, if any. shown
// is false, too, if the plugin has given the attempt up; it cannot any more.
func (s *standing) finish(w *planned, content bool) (shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, w)
	w.over = true
	if w.turn != nil {
		w.turn.running(0, nil)
	}
	w.shown = content && (w.run.Err() == nil || w.ctx.Err() != nil)
	return w.shown
}

// heard is the turn in which the plugin hears how w, which is over, has ended; nil
// if it was given none, or will hear of content from whoever is telling it.
func (s *standing) heard(w *planned) *hostTurn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.turn == nil || w.failed {
		return nil
	}
	select {
	case <-w.told:
		return w.turn
	default:
		return nil
	}
}
