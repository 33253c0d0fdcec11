package profile

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

const testSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["priority"],
  "$defs": {"duration": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"}]}},
  "properties": {
    "priority": {"type": "array", "minItems": 1, "items": {
      "type": "object", "additionalProperties": false, "required": ["provider"],
      "properties": {"provider": {"type": "string", "minLength": 1}, "model": {"type": "string"}}}},
    "failureThreshold": {"type": "integer", "minimum": 1, "maximum": 10, "x-volatile": true},
    "cooldown": {"$ref": "#/$defs/duration"},
    "mode": {"enum": ["order", "cheapest", 3]},
    "apiKey": {"type": "string", "maxLength": 8},
    "hidden": {"type": "string", "maxLength": 3, "writeOnly": true},
    "ratio": {"type": "number", "exclusiveMaximum": 0.25},
    "who": {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": false, "properties": {"name": {"type": "string"}}}]},
    "tags": {"type": "array", "uniqueItems": true, "maxItems": 3},
    "x.y": {"type": "boolean"}
  }
}`

func TestValidate(t *testing.T) {
	env := environment(map[string]string{"KEY": "sk-ant-secret"})
	tests := []struct {
		name   string
		config string
		want   []string
	}{
		{"right", "{priority: [{provider: a}], failureThreshold: 3, cooldown: 5s, mode: order, ratio: 0.2}", nil},
		{"numbers that are integers", "{priority: [{provider: a}], failureThreshold: 3.0}", nil},
		{"everything at once, in the order of the file", `
    failureTreshold: 3
    priority:
      - provider: a
      - provder: b
        model: 5
    mode: fastest
    ratio: 0.5`, []string{
			`cordis.yml:5:5: failureTreshold: unknown key (allowed: apiKey, cooldown, failureThreshold, hidden, mode, priority, ratio, tags, who, x.y); nearest known: failureThreshold`,
			`cordis.yml:8:9: priority[1].provder: unknown key (allowed: model, provider); nearest known: provider`,
			`cordis.yml:8:9: priority[1].provider: missing`,
			`cordis.yml:9:9: priority[1].model: wrong type, got 5 (allowed: string)`,
			`cordis.yml:10:5: mode: not one of the possible values, got "fastest" (allowed: "order", "cheapest", 3)`,
			`cordis.yml:11:5: ratio: too large, got 0.5 (allowed: less than 0.25)`,
		}},
		{"missing", "{}", []string{`cordis.yml:4:11: priority: missing`}},
		{"the whole", "[1]", []string{`cordis.yml:4:11: wrong type, got a list (allowed: object)`}},
		{"bounds", "{priority: [], failureThreshold: 11, tags: [1, 1]}", []string{
			`cordis.yml:4:12: priority: too few items, got a list (allowed: at least 1)`,
			`cordis.yml:4:26: failureThreshold: too large, got 11 (allowed: at most 10)`,
			`cordis.yml:4:48: tags: items 0 and 1 are equal, got a list (allowed: each item once)`,
		}},
		{"alternatives by type", "{priority: [{provider: a}], cooldown: [5]}", []string{
			`cordis.yml:4:39: cooldown: wrong type, got a list (allowed: integer or string)`}},
		{"the alternative that was meant", "{priority: [{provider: a}], cooldown: soon, who: {nam: x}}", []string{
			`cordis.yml:4:39: cooldown: does not have the right form, got "soon" (allowed: text that matches ^[0-9]+(ms|s|m|h)$)`,
			`cordis.yml:4:61: who.nam: unknown key (allowed: name); nearest known: name`}},
		{"a key with a dot", `{priority: [{provider: a}], "x.y": 1}`, []string{
			`cordis.yml:4:39: ["x.y"]: wrong type, got 1 (allowed: boolean)`}},
		{"secrets are not shown", `{priority: [{provider: !env KEY, model: 1}], apiKey: sk-literal, hidden: sesame, mode: !env KEY}`, []string{
			`cordis.yml:4:44: priority[0].model: wrong type, got 1 (allowed: string)`,
			`cordis.yml:4:56: apiKey: too long, got [redacted] (allowed: at most 8 characters)`,
			`cordis.yml:4:76: hidden: too long, got [redacted] (allowed: at most 3 characters)`,
			`cordis.yml:4:92: mode: not one of the possible values, got [redacted] (allowed: "order", "cheapest", 3)`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			composed, err := compose("# a profile\n- id: failover\n  name: m\n  config: " + tt.config + "\n")
			if err != nil {
				t.Fatal(err)
			}
			config, _, err := composed.Rows[0].Resolve(env)
			if err != nil {
				t.Fatal(err)
			}
			faults, err := Validate(config, json.RawMessage(testSchema))
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

func TestValidatePlacesFaultsInTheirLayer(t *testing.T) {
	composed, err := compose("- {id: a, config: {priority: [{provider: x}]}}\n", "- id: a\n  config:\n    priority: [{provider: x}]\n    modes: 1\n")
	if err != nil {
		t.Fatal(err)
	}
	faults, err := Validate(composed.Rows[0].Config(), json.RawMessage(testSchema))
	if err != nil || len(faults) != 1 {
		t.Fatalf("got %v, %v, want one fault", faults, err)
	}
	want := Fault{
		Fault: sdk.Fault{Path: "modes", Message: "unknown key", Allowed: faults[0].Allowed},
		Pos:   Pos{Layer: "patch", File: "p0.yml", Line: 4, Column: 5},
		Near:  []string{"mode"},
	}
	if diff := cmp.Diff(want, faults[0]); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
}

func TestValidateRefusesSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"no JSON":          `{`,
		"no schema":        `{"type": 5}`,
		"outside file":     `{"$ref": "file:///etc/hostname"}`,
		"outside address":  `{"$ref": "https://example.invalid/x.json"}`,
		"relative address": `{"$ref": "other.json"}`,
		"bad pattern":      `{"pattern": "("}`,
		"too large":        `{"description": "` + strings.Repeat("x", MaxSchema) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Validate(&Value{kind: kindMap}, json.RawMessage(schema)); err == nil {
				t.Error("got no error")
			}
		})
	}
}

// What a module says of a value that came out of the environment may quote it.
func TestPlaceTellsNoSecret(t *testing.T) {
	config := &Value{kind: kindMap}
	config.set(field{key: "label", value: &Value{kind: kindText, text: "sk-canary", secret: true}})
	got := Place(config, sdk.Faults{{Path: "label", Value: "sk-canary", Message: `no provider "sk-canary"`}})[0].Fault
	if diff := cmp.Diff(sdk.Fault{Path: "label", Value: redacted, Message: `no provider "` + redacted + `"`}, got); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
}

func TestPlace(t *testing.T) {
	composed, err := compose("- id: a\n  config:\n    priority:\n      - {provider: x}\n      - {provider: y}\n    headers: {x.y: 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{
		"":                          "cordis.yml:3:5",
		"priority":                  "cordis.yml:3:5",
		"priority[1]":               "cordis.yml:5:9",
		"priority[1].provider":      "cordis.yml:5:10",
		"priority[1].model":         "cordis.yml:5:9",
		"priority[7]":               "cordis.yml:3:5",
		`headers["x.y"]`:            "cordis.yml:6:15",
		"nothing.at.all":            "cordis.yml:3:5",
		"priority[999999999999999]": "cordis.yml:3:5",
		"][":                        "cordis.yml:3:5",
	}
	for path, want := range paths {
		placed := Place(composed.Rows[0].Config(), sdk.Faults{{Path: path, Message: "wrong"}})
		if got := placed[0].Pos.String(); got != want {
			t.Errorf("path %q: got %s, want %s", path, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"failureThreshold", "failover", "priority", "mode", "model", "models"}
	tests := []struct {
		s    string
		want []string
	}{
		{"failureTreshold", []string{"failureThreshold"}},
		{"mode1", []string{"mode", "model", "models"}},
		{"Priority", []string{"priority"}},
		{"xyzzy", nil},
		{"", nil},
		{strings.Repeat("a", 65), nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Nearest(tt.s, known)); diff != "" {
			t.Errorf("Nearest(%q) (-want +got):\n%s", tt.s, diff)
		}
	}
}
