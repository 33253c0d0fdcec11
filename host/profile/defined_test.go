package profile

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefined(t *testing.T) {
	const schema = `{"properties": {
	  "budgets": {"type": "object", "x-defines": "budget", "x-defined": ["agent", 5]},
	  "contracts": {"type": "object", "x-defines": "contract"},
	  "other": {"type": "object", "x-defines": true}}}`
	tests := []struct {
		name, config string
		want         map[string][]string
	}{
		{"none", "{}", map[string][]string{"budget": {"agent"}, "contract": {}}},
		{"some", "{budgets: {long: {}, short: 1}, contracts: {c: {}}, other: {x: 1}}", map[string][]string{"budget": {"agent", "long", "short"}, "contract": {"c"}}},
		{"wrong type", "{budgets: [long], contracts: c}", map[string][]string{"budget": {"agent"}, "contract": {}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			composed, err := compose("- {id: f, config: " + tt.config + "}\n")
			if err != nil {
				t.Fatal(err)
			}
			config, _, err := composed.Rows[0].Resolve(environment(nil))
			if err != nil {
				t.Fatal(err)
			}
			got, err := Defined(config, json.RawMessage(schema))
			if err != nil {
				t.Fatal(err)
			}
			for _, names := range got {
				slices.Sort(names)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Defined(&Value{}, json.RawMessage(`{"type": 5}`)); err == nil {
		t.Error("a schema that is none was taken")
	}
}
