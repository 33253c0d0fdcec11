package profile

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

//go:embed rows.schema.json
var rowsSchema []byte

// groupModule is the original's own module of groups.
const groupModule = "cordis:group"

// Module is a module as an editor needs to know it.
type Module struct {
	Name   string
	Schema json.RawMessage // of its config; nil: nothing is known of it
	IDs    []string        // of the rows that have it, for patches that do not name it
}

// EditorSchema returns the JSON Schema of profile files, for editors. It is
// stricter than composition: a name must be one of the modules.
func EditorSchema(modules []Module) (json.RawMessage, error) {
	var doc struct {
		Schema      string         `json:"$schema"`
		Title       string         `json:"title"`
		Description string         `json:"description"`
		Type        string         `json:"type"`
		Items       any            `json:"items"`
		Defs        map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(rowsSchema, &doc); err != nil {
		return nil, err
	}
	row := doc.Defs["row"].(map[string]any)
	cases := row["allOf"].([]any)
	names := make([]string, 0, len(modules)+1)
	for i, m := range modules {
		names = append(names, m.Name)
		if m.Schema == nil {
			continue
		}
		key := "module." + m.Name
		def, err := definition(modules[:i], m, key)
		if err != nil {
			return nil, fmt.Errorf("module %q: %w", m.Name, err)
		}
		doc.Defs[key] = def
		then := map[string]any{"properties": map[string]any{"config": reference(key)}}
		cases = append(cases, map[string]any{"if": has("name", m.Name), "then": then})
		if m.IDs != nil {
			unnamed := has("id", m.IDs...)
			unnamed["not"] = map[string]any{"required": []string{"name"}}
			cases = append(cases, map[string]any{"if": unnamed, "then": then})
		}
	}
	row["allOf"] = cases
	row["properties"].(map[string]any)["name"].(map[string]any)["enum"] = append(names, groupModule)
	return json.MarshalIndent(doc, "", "  ")
}

// has is the schema of a row that has one of the values.
func has(key string, values ...string) map[string]any {
	return map[string]any{
		"properties": map[string]any{key: map[string]any{"enum": values}},
		"required":   []string{key},
	}
}

// definition is m's schema as it stands under key of the whole one. What equals
// that of an earlier module refers to it.
func definition(earlier []Module, m Module, key string) (any, error) {
	for _, e := range earlier {
		if bytes.Equal(e.Schema, m.Schema) {
			return reference("module." + e.Name), nil
		}
	}
	d := json.NewDecoder(bytes.NewReader(m.Schema))
	d.UseNumber()
	var def any
	if err := d.Decode(&def); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if object, ok := def.(map[string]any); ok {
		delete(object, "$schema")
		delete(object, "$id")
	}
	moveReferences(def, pointer(key))
	return def, nil
}

// moveReferences makes a schema's references to itself right for a place
// inside another one. Editors do not agree about embedded schemas with a $id,
// which would need none of this.
func moveReferences(v any, to string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			moveReferences(item, to)
		}
	case map[string]any:
		for key, item := range v {
			if ref, ok := item.(string); ok && key == "$ref" && (ref == "#" || strings.HasPrefix(ref, "#/")) {
				v[key] = to + ref[1:]
				continue
			}
			moveReferences(item, to)
		}
	}
}

func reference(key string) map[string]any { return map[string]any{"$ref": pointer(key)} }

func pointer(key string) string {
	return "#/$defs/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
}
