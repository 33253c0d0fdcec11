package brain

import "spillway/sdk"

// candidate is a route that may serve, or one that cannot and why.
type candidate struct {
	route  sdk.Route
	reason string // "" for one that may
}

// candidates lists who may serve a request for head, head first. Another way to
// the head's model stands before other models; otherwise the user's order holds.
func (p *Policy) candidates(head sdk.Route, cat sdk.Catalogue) []candidate {
	listed := p.listed(head, cat)
	list := make([]candidate, 1, 1+len(listed))
	list[0] = candidate{route: head}
	for _, same := range []bool{true, false} {
		for _, r := range listed {
			c := resolve(r, cat)
			if (c.route.Model == head.Model) == same && !contains(list, c.route) {
				list = append(list, c)
			}
		}
	}
	return list
}

// listed is the user's list for head: its chain, else its vendor's chain, else
// what follows it in the priority.
func (p *Policy) listed(head sdk.Route, cat sdk.Catalogue) []sdk.Route {
	var vendors *Chain
	for i := range p.Chains {
		c := &p.Chains[i]
		if c.For == head && head.Model != "" {
			return c.Routes
		}
		if vendors == nil && c.For.Provider == head.Provider && c.For.Model == "" {
			vendors = c
		}
	}
	if vendors != nil {
		return vendors.Routes
	}
	first := -1
	for i, r := range p.Priority {
		if r.Provider != head.Provider {
			continue
		}
		if resolve(r, cat).route == head {
			return p.Priority[i+1:]
		}
		if first < 0 {
			first = i
		}
	}
	return p.Priority[first+1:]
}

// resolve fills in the model of an entry that names none. It guesses nothing.
func resolve(r sdk.Route, cat sdk.Catalogue) candidate {
	p, ok := cat.Provider(r.Provider)
	switch {
	case !ok:
		return candidate{r, "unknown provider"}
	case r.Model != "":
		return candidate{route: r}
	case len(p.Models) == 0:
		return candidate{r, "no model advertised"}
	}
	return candidate{route: sdk.Route{Provider: r.Provider, Model: p.Models[0].ID}}
}

func contains(list []candidate, r sdk.Route) bool {
	for _, c := range list {
		if c.route == r {
			return true
		}
	}
	return false
}

// window is the declared context window of r, 0 if unknown.
func window(r sdk.Route, cat sdk.Catalogue) int {
	p, _ := cat.Provider(r.Provider)
	for _, m := range p.Models {
		if m.ID == r.Model {
			return m.Context
		}
	}
	return 0
}
