package host

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"spillway/host/profile"
	"spillway/sdk"
)

// settled is an entry whose settings may refer to other entries.
type settled struct {
	profile.Entry
	schema []byte
}

// namesMark is the annotation of a text that is a name which some entry defines.
const namesMark = "x-names"

// references tells what settings refer to and no entry has: names that no plugin
// defines, and models that no provider lists. It looks when every entry was seen.
// Which names there are the plugins' schemas say; of a kind that none of them
// defines nothing is known.
func (c *checker) references() {
	defined := map[string][]string{}
	for _, s := range c.settled {
		names, err := profile.Defined(s.Config, s.schema)
		if err != nil {
			continue // as faults has said
		}
		for kind, all := range names {
			defined[kind] = append(defined[kind], all...)
		}
	}
	for _, s := range c.settled {
		for _, kind := range slices.Sorted(maps.Keys(defined)) {
			c.names(s, kind, slices.Compact(slices.Sorted(slices.Values(defined[kind]))))
		}
		c.listed(s)
	}
}

// names finds names that nobody defines: whoever reads them refuses the request.
func (c *checker) names(s settled, kind string, known []string) {
	marks, err := profile.Marked(s.Config, s.schema, namesMark, kind)
	if err != nil {
		return // as faults has said
	}
	allowed := strings.Join(known, ", ")
	if allowed == "" {
		allowed = "none: the profile defines no " + kind
	}
	for _, m := range marks {
		if m.Text != "" && !slices.Contains(known, m.Text) {
			c.add(finding(SeverityError, s.ID, m.Pos, sdk.Fault{
				Path: m.Path, Value: m.Shown, Message: "unknown " + kind, Allowed: allowed,
			}, profile.Nearest(m.Text, known)...))
		}
	}
}

// listed warns of routes to models that their providers do not list.
func (c *checker) listed(s settled) {
	marks, err := profile.Marked(s.Config, s.schema, providerMark, true)
	if err != nil {
		return // as faults has said
	}
	for _, m := range marks {
		name, model, _ := strings.Cut(m.Text, "/")
		models := c.models[name]
		if model == "" || len(models) == 0 || slices.Contains(models, model) {
			continue
		}
		c.add(finding(SeverityWarning, s.ID, m.Pos, sdk.Fault{
			Path: m.Path, Value: m.Shown, Message: "provider " + strconv.Quote(name) + " lists no such model",
			Allowed: strings.Join(models, ", ") + "; another one in models of that provider's row",
		}, profile.Nearest(model, models)...))
	}
}
