package brain

import (
	"slices"

	"spillway/sdk"
)

// candidate is a route that may serve, or one that cannot and why.
type candidate struct {
	route  sdk.Route
	reason string // "" for one that may
}

// candidates is t's list of who may serve, head first, the same from its first
// use to the end of the turn. Another way to the head's model stands before
// other models; otherwise the user's order holds.
func (b *Brain) candidates(now Instant, t *Turn) []candidate {
	if len(t.list) > 0 {
		return t.list
	}
	head := t.query.Head
	t.list = append(t.list, candidate{route: head})
	if t.query.Wants.Strict {
		return t.list
	}
	if !b.off(now, PolicyFailover) {
		t.sameModel = t.sameModel || b.off(now, PolicyFallback)
		listed := t.policy.listed(t.canary, head, t.cat)
		for _, same := range []bool{true, false} {
			for _, r := range listed {
				c := resolve(r, t.cat)
				if (c.route.Model == head.Model) == same && !contains(t.list, c.route) {
					t.list = append(t.list, c)
				}
			}
		}
	}
	// What a person has pinned may stand in no list.
	for _, p := range b.pins(now) {
		here := func(c candidate) bool {
			return c.route.Provider == p.Provider && (p.Model == "" || c.route.Model == p.Model)
		}
		if !slices.ContainsFunc(t.list, here) {
			t.list = append(t.list, resolve(sdk.Route{Provider: p.Provider, Model: p.Model}, t.cat))
		}
	}
	return t.list
}

// chain is the chain for head, the zero Chain if there is none: its own, else
// that of its vendor.
func (p *Policy) chain(canary bool, head sdk.Route) (c Chain) {
	chains := p.Chains
	if canary {
		chains = p.Canary.Chains
	}
	for i := range chains {
		switch {
		case chains[i].For == head && head.Model != "":
			return chains[i]
		case c.For.Provider == "" && chains[i].For.Provider == head.Provider && chains[i].For.Model == "":
			c = chains[i]
		}
	}
	return c
}

// listed is the user's list for head: its chain, else its vendor's chain, else
// what follows it in the priority.
func (p *Policy) listed(canary bool, head sdk.Route, cat sdk.Catalogue) []sdk.Route {
	if c := p.chain(canary, head); c.For.Provider != "" {
		return c.Routes
	}
	priority := p.Priority
	if canary {
		priority = p.Canary.Priority
	}
	first := -1
	for i, r := range priority {
		if r.Provider != head.Provider {
			continue
		}
		if resolve(r, cat).route == head {
			return priority[i+1:]
		}
		if first < 0 {
			first = i
		}
	}
	return priority[first+1:]
}

// resolve fills in the model of an entry that names none. It guesses nothing.
func resolve(r sdk.Route, cat sdk.Catalogue) candidate {
	p := provider(cat, r.Provider)
	switch {
	case p.Name == "":
		return candidate{r, "unknown provider"}
	case r.Model != "":
		return candidate{route: r}
	case len(p.Models) == 0:
		return candidate{r, "no model advertised"}
	}
	return candidate{route: sdk.Route{Provider: r.Provider, Model: p.Models[0].ID}}
}

func contains(list []candidate, r sdk.Route) bool {
	return slices.ContainsFunc(list, func(c candidate) bool { return c.route == r })
}

// provider is the named one, an empty one if there is none.
func provider(cat sdk.Catalogue, name string) *sdk.Provider {
	for i := range cat.Providers {
		if cat.Providers[i].Name == name {
			return &cat.Providers[i]
		}
	}
	return &sdk.Provider{}
}
