package drill

import (
	"encoding/json"
	"fmt"
	"strings"

	"spillway/host/profile"
	"spillway/sdk"
)

// listed is a route that the failover plugin's settings name.
type listed struct {
	entry string
	path  string
	route sdk.Route // without a model: the provider's first
	head  bool      // requests to it have a list of their own
	place string    // file:line:column
}

// lists are the failover settings that a rehearsal looks at.
type lists struct {
	Priority []named `json:"priority"`
	Chains   []struct {
		Provider string  `json:"provider"`
		Model    string  `json:"model"`
		Routes   []named `json:"routes"`
		Budget   string  `json:"budget"`
	} `json:"chains"`
	Budget  bounds            `json:"budget"`
	Budgets map[string]bounds `json:"budgets"`
}

// bounds are those of a budget that a rehearsal looks at.
type bounds struct {
	Like         string `json:"like"`
	MaxPerVendor int    `json:"maxPerVendor"`
}

// named reads {provider, model?} and the short form provider/model.
type named sdk.Route

func (n *named) UnmarshalJSON(b []byte) error {
	var short string
	if json.Unmarshal(b, &short) == nil {
		n.Provider, n.Model, _ = strings.Cut(short, "/")
		return nil
	}
	return json.Unmarshal(b, (*sdk.Route)(n))
}

// failoverModule is the plugin whose settings have the lists.
const failoverModule = "failover"

// maxPerVendor is how many attempts of one request reach one vendor, where the
// settings do not say; maxPerVendorBatch in the budget "batch".
const (
	maxPerVendor      = 6
	maxPerVendorBatch = 12
)

// perVendor is how many attempts of one request a budget that ships with the plugin
// has for one vendor.
func perVendor(budget string) int {
	if budget == "batch" {
		return maxPerVendorBatch
	}
	return maxPerVendor
}

// readLists finds the routes that entries list, and how many attempts the most
// patient of their budgets has for one vendor. What cannot be read lists nothing:
// the check has said why.
func readLists(entries []profile.Entry) (all []listed, most int) {
	most = maxPerVendor
	for _, e := range failoverEntries(entries) {
		var l lists
		raw, err := json.Marshal(e.Config)
		if err != nil || json.Unmarshal(raw, &l) != nil {
			continue
		}
		add := func(path string, r named, head bool) {
			if r.Provider == "" {
				return
			}
			at := profile.Place(e.Config, sdk.Faults{{Path: path}})[0].Pos
			all = append(all, listed{entry: e.ID, path: path, route: sdk.Route(r), head: head, place: at.String()})
		}
		for i, c := range l.Chains {
			add(fmt.Sprintf("chains[%d]", i), named{c.Provider, c.Model}, true)
			most = max(most, perVendor(c.Budget))
			for j, r := range c.Routes {
				add(fmt.Sprintf("chains[%d].routes[%d]", i, j), r, false)
			}
		}
		for i, r := range l.Priority {
			add(fmt.Sprintf("priority[%d]", i), r, false)
		}
		for _, b := range l.Budgets {
			most = max(most, b.MaxPerVendor, perVendor(b.Like))
		}
		most = max(most, l.Budget.MaxPerVendor, perVendor(l.Budget.Like))
	}
	return all, most
}
