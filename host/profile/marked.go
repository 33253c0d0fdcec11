package profile

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Mark is a text of a config that its module's schema says something about.
type Mark struct {
	Path  string // as in sdk.Fault
	Pos   Pos
	Text  string
	Shown string // Text as messages may show it: one from the environment may be a secret
}

// Marked returns the texts of an evaluated config where its module's schema has
// an annotation, a keyword of a certain value, in the order of the file. The
// error is about the schema.
func Marked(config *Value, schema json.RawMessage, keyword string, value any) ([]Mark, error) {
	found := make(map[string]Mark) // by path: alternatives look at the same text
	_, compiled, err := compile(schema, &jsonschema.Vocabulary{
		URL: "https://schema.invalid/marks",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			if schema[keyword] != value {
				return nil, nil
			}
			return marker{config: config, hidden: schema["writeOnly"] == true, found: found}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	// Whether the config is valid is not asked here: a fault elsewhere in it
	// does not unsay what stands at a mark.
	_ = compiled.Validate(config.plain())
	return slices.SortedFunc(maps.Values(found), func(a, b Mark) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Path, b.Path))
	}), nil
}

// marker is the annotation as the library knows it: it notes the texts that it
// is asked to validate, and finds no fault with them.
type marker struct {
	config *Value
	hidden bool
	found  map[string]Mark
}

// Validate implements jsonschema.SchemaExt.
func (m marker) Validate(ctx *jsonschema.ValidatorContext, v any) {
	text, ok := v.(string)
	if !ok {
		return
	}
	steps := ctx.ValueLocation()
	path := m.config.path(steps)
	m.found[path] = Mark{
		Path: path, Pos: m.config.locate(steps), Text: text,
		Shown: m.config.find(steps).show(steps, m.hidden),
	}
}
