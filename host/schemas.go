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
	return newCatalogue(o).schema(ctx, module, rowsByModule(o)[module]...)
}

// EditorSchema returns the JSON Schema of a profile's files, for editors, and
// a line for each plugin that does not tell its own.
func EditorSchema(ctx context.Context, o Options) (schema json.RawMessage, lacking []string, err error) {
	c := newCatalogue(o)
	rows := rowsByModule(o)
	var all []profile.Module
	for _, name := range c.names {
		m := profile.Module{Name: name}
		if m.Schema, err = c.schema(ctx, name, rows[name]...); err != nil {
			lacking = append(lacking, strings.Join(strings.Fields(err.Error()), " "))
		}
		for _, r := range rows[name] {
			if id := r.ID(); id != "" {
				m.IDs = append(m.IDs, id)
			}
		}
		all = append(all, m)
	}
	schema, err = profile.EditorSchema(all)
	return schema, lacking, err
}

// Modules are the names that a row of the profile can have: built-in modules, then
// plugins.
func Modules(o Options) []string { return newCatalogue(o).names }

// rowsByModule are the rows of a profile, as far as it can be read.
func rowsByModule(o Options) map[string][]profile.Row {
	all := map[string][]profile.Row{}
	var add func(rows []profile.Row)
	add = func(rows []profile.Row) {
		for _, r := range rows {
			all[r.Name()] = append(all[r.Name()], r)
			add(r.Children())
		}
	}
	if p, _ := profile.Survey(o.Dir, profile.Options{Home: o.Home, Overlays: o.Overlays}); p != nil {
		add(p.Rows)
	}
	return all
}
