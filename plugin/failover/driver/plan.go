package driver

import (
	"reflect"
	"slices"
	"time"

	"spillway/plugin/failover/brain"
	"spillway/sdk"
)

const (
	// planTTL is how long a plan stands without a word from here. It bounds what a
	// process that hangs can do; a third of it is when the word is given again.
	planTTL   = 30 * time.Second
	planRenew = planTTL / 3
	// crowded is for how long a class keeps its place at least when there are more
	// classes than a plan takes.
	crowded = time.Second
)

// plan is what the host has been told to do without asking: what the brain decides
// about the classes of requests that it was asked about lately. It is guarded by
// the plugin's mutex.
type plan struct {
	classes []known // the one asked for last at the end
	rules   []sdk.Rule
}

// known is a class and when it was asked for.
type known struct {
	class sdk.RequestClass
	at    time.Duration // on Instant.Mono
}

// learn takes in the class of a call, and reports whether the host was told nothing
// about it.
func (l *plan) learn(now time.Duration, c sdk.RequestClass) bool {
	i := slices.IndexFunc(l.classes, func(k known) bool { return k.class == c })
	switch {
	case i >= 0:
		l.classes = slices.Delete(l.classes, i, i+1)
	case len(l.classes) == sdk.MaxRules:
		if now-l.classes[0].at < crowded {
			return false
		}
		l.classes = slices.Delete(l.classes, 0, 1)
	}
	l.classes = append(l.classes, known{c, now})
	return !slices.ContainsFunc(l.rules, func(r sdk.Rule) bool { return r.Class == c })
}

// learn takes in a call that was asked about. Where it may be planned from now on
// the host is told so.
func (p *Plugin) learn(call *sdk.Call) {
	class, ok := sdk.RequestClassOf(&call.Request)
	if !ok || call.Depth > 0 {
		return
	}
	news := false
	p.think(func(now brain.Instant) {
		if news = p.plan.learn(now.Mono, class); news {
			_, news = p.brain.Rule(now, class, false, p.host.Catalogue())
		}
	})
	if news {
		p.replan(false)
	}
}

// replan tells the host what the brain decides now about the classes of requests
// that are known, if that has changed or is to be renewed.
func (p *Plugin) replan(renew bool) {
	s := p.settings.Load()
	p.think(func(now brain.Instant) {
		cat := p.host.Catalogue()
		var rules []sdk.Rule
		for _, k := range p.plan.classes {
			policy := s.policyOf(k.class.Wants)
			r, ok := p.brain.Rule(now, k.class, policy == streamBuffer, cat)
			if !ok || s.refuses(k.class.Wants) != nil {
				continue
			}
			r.Dispatch.Visible = s.visible
			r.Dispatch.Buffer, r.Dispatch.Resume = policy == streamBuffer, policy == streamResume
			rules = append(rules, r)
		}
		if len(rules) == 0 && len(p.plan.rules) == 0 || !renew && reflect.DeepEqual(rules, p.plan.rules) {
			return
		}
		p.plan.rules = rules
		p.host.Plan(sdk.Plan{TTL: planTTL, Rules: rules}) // does not block, and must not be overtaken
	})
}

// renew keeps the plan standing.
func (p *Plugin) renew() {
	t := time.NewTicker(planRenew)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.replan(true)
		case <-p.life.Done():
			return
		}
	}
}

// Catalogue implements sdk.CatalogueObserver: what there is decides what may be
// planned. The first one comes before the plugin is configured.
func (p *Plugin) Catalogue(sdk.Catalogue) {
	if p.host != nil {
		p.replan(false)
	}
}
