package profile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditorSchema(t *testing.T) {
	schema, err := EditorSchema([]Module{
		{Name: "provider", Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"key": {"type": "string"}}}`), IDs: []string{"claude", "kimi"}},
		{Name: "provider-x", Schema: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"key": {"type": "string"}}}`)},
		{Name: "a~b%", Schema: json.RawMessage(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/x",
			"$defs": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/$defs/n"}, "again": {"$ref": "#"}}}`)},
		{Name: "unknown"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, rows string
		want       []string
	}{
		{"sound", `
- {id: claude, name: provider, config: {key: k}, mine: 1}
- {id: n, name: a~b%, config: {n: 1, again: {n: 2}}}
- {id: u, name: unknown, config: [anything]}
- {id: claude, config: {key: !env K}, disabled: true}
- {id: new, config: {anything: 1}}
- {id: g, group: true, config: [{id: p, name: provider-x}]}
- {insert: [{id: p, name: provider, config: {}}]}
- {insert: null, id: 5}`, nil},
		{"modules", `
- {id: a, name: provder}
- {id: a, name: provider, config: {kye: 1}}
- {id: a, name: provider-x, config: {kye: 1}}
- {id: a, name: a~b%, config: {again: {n: x}}}`, []string{
			`f:2:11: [0].name: not one of the possible values, got "provder" (allowed: "provider", "provider-x", "a~b%", "unknown", "cordis:group")`,
			`f:3:36: [1].config.kye: unknown key (allowed: key); nearest known: key`,
			`f:4:38: [2].config.kye: unknown key (allowed: key); nearest known: key`,
			`f:5:40: [3].config.again.n: wrong type, got "x" (allowed: integer)`,
		}},
		{"patches know the rows' modules", `
- {id: kimi, config: {kye: 1}}
- {id: kimi, name: unknown, config: {kye: 1}}
- {id: g, insert: [{id: x, name: provider, config: {kye: 1}}]}`, []string{
			`f:2:23: [0].config.kye: unknown key (allowed: key); nearest known: key`,
			`f:4:53: [2].insert[0].config.kye: unknown key (allowed: key); nearest known: key`,
		}},
		{"rows", `
- text
- {id: [a], disabled: 1, insert: {}, group: yes}
- {group: true, config: {}}`, []string{
			`f:2:3: [0]: wrong type, got "text" (allowed: object)`,
			`f:3:4: [1].id: wrong type, got a list (allowed: number or string)`,
			`f:3:13: [1].disabled: wrong type, got 1 (allowed: null or boolean or string)`,
			`f:3:26: [1].insert: wrong type, got a mapping (allowed: null or array)`,
			`f:3:38: [1].group: wrong type, got "yes" (allowed: boolean)`,
			`f:4:17: [2].config: wrong type, got a mapping (allowed: array)`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := parseYAML(Layer{File: "f", Data: []byte(tt.rows)})
			if err != nil {
				t.Fatal(err)
			}
			faults, err := Validate(root, schema)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range faults {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}
