package host

import (
	"encoding/json"
	"slices"
)

// Priority is the order in which the chain's plugins are told to try providers:
// their setting "priority". Each is a provider or provider/model; without such a
// setting there is none. Do not modify it.
func (g *Graph) Priority() []string { return g.priority }

// priorityOf reads it from the units of a graph.
func priorityOf(units []*unit) []string {
	var all []string
	for _, u := range units {
		if u.plugin == nil {
			continue
		}
		var c struct {
			Priority []json.RawMessage `json:"priority"`
		}
		if json.Unmarshal(u.config, &c) != nil {
			continue // another plugin's setting of that name
		}
		for _, raw := range c.Priority {
			if t := target(raw); t != "" && !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// target reads one of a priority: "provider/model", or a mapping of the two.
func target(raw json.RawMessage) string {
	var short string
	if json.Unmarshal(raw, &short) == nil {
		return short
	}
	var long struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
	}
	switch err := json.Unmarshal(raw, &long); {
	case err != nil || long.Provider == "":
		return ""
	case long.Model == "":
		return long.Provider
	}
	return long.Provider + "/" + long.Model
}
