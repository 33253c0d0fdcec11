package host

import (
	"context"
	"encoding/json"
	"strings"

	"spillway/host/profile"
)

// ConfigSchema returns the JSON Schema of a module's config, nil if the module
// has none. A plugin is started for it as Check does.
func ConfigSchema(ctx context.Context, o Options, module string) (json.RawMessage, error) {
	return newCatalogue(o).schema(ctx, module)
}

// EditorSchema returns the JSON Schema of a profile's files, for editors, and
// a line for each plugin that does not tell its own.
func EditorSchema(ctx context.Context, o Options) (schema json.RawMessage, lacking []string, err error) {
	c := newCatalogue(o)
	ids := map[string][]string{}
	// A profile that cannot be read has no rows yet.
	if p, _ := profile.Survey(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays}); p != nil {
		collectIDs(ids, p.Rows)
	}
	var all []profile.Module
	for _, name := range c.names {
		schema, err := c.schema(ctx, name)
		if err != nil {
			lacking = append(lacking, strings.Join(strings.Fields(err.Error()), " "))
		}
		all = append(all, profile.Module{Name: name, Schema: schema, IDs: ids[name]})
	}
	schema, err = profile.EditorSchema(all)
	return schema, lacking, err
}

// collectIDs adds the ids of rows by their module.
func collectIDs(ids map[string][]string, rows []profile.Row) {
	for _, r := range rows {
		if r.ID() != "" && r.Name() != "" {
			ids[r.Name()] = append(ids[r.Name()], r.ID())
		}
		collectIDs(ids, r.Children())
	}
}
