package profile

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Annotations of a mapping whose keys are names that other settings may give.
const (
	definesMark = "x-defines" // the kind of the names
	definedMark = "x-defined" // those that are always there
)

// Defined returns the names that an evaluated config defines, by kind, as its
// module's schema says. A kind of which there is no name has an empty list. The
// error is about the schema.
func Defined(config *Value, schema json.RawMessage) (map[string][]string, error) {
	found := make(map[string][]string)
	_, compiled, err := compile(schema, &jsonschema.Vocabulary{
		URL: "https://schema.invalid/names",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			kind, ok := schema[definesMark].(string)
			if !ok {
				return nil, nil
			}
			found[kind] = append([]string{}, found[kind]...)
			always, _ := schema[definedMark].([]any)
			for _, name := range always {
				if name, ok := name.(string); ok {
					found[kind] = append(found[kind], name)
				}
			}
			return definer{kind: kind, found: found}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	_ = compiled.Validate(config.plain()) // whether it is valid is not asked here
	return found, nil
}

// definer notes the keys of the mappings that it is asked to validate.
type definer struct {
	kind  string
	found map[string][]string
}

// Validate implements jsonschema.SchemaExt.
func (d definer) Validate(_ *jsonschema.ValidatorContext, v any) {
	mapping, _ := v.(map[string]any)
	for name := range mapping {
		d.found[d.kind] = append(d.found[d.kind], name)
	}
}
