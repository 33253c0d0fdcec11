package profile

import (
	"encoding/json"
	"errors"
	"testing"
)

// FuzzCompose feeds files to everything that reads them. Whatever they hold,
// it ends without a panic, refuses with an *Error, and what it accepts prints
// as JSON.
func FuzzCompose(f *testing.F) {
	for _, c := range composeCases {
		patch := ""
		if len(c.patches) > 0 {
			patch = c.patches[0]
		}
		f.Add(c.base, patch)
	}
	env := environment(map[string]string{"KEY": "k"})
	f.Fuzz(func(t *testing.T, base, patch string) {
		composed, err := compose(base, patch)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("got %T %v, want an *Error", err, err)
			}
			return
		}
		data, err := composed.MarshalJSON()
		if err != nil || !json.Valid(data) {
			t.Fatalf("entries are no JSON: %v, %s", err, data)
		}
		entries, warnings := composed.Entries(env)
		ids := make(map[string]bool)
		for _, e := range entries {
			if ids[e.ID] {
				t.Errorf("two entries have the id %q", e.ID)
			}
			ids[e.ID] = true
			if e.Err != nil {
				continue
			}
			config, err := json.Marshal(e.Config)
			if err != nil {
				t.Errorf("config of %q: %v", e.ID, err)
			}
			if _, err := Validate(e.Config, json.RawMessage(testSchema)); err != nil {
				t.Errorf("validating %s: %v", config, err)
			}
		}
		for _, w := range append(composed.Warnings, warnings...) {
			if w.String() == "" {
				t.Error("a warning says nothing")
			}
		}
	})
}

// FuzzPath checks that the path of a fault leads back to the value.
func FuzzPath(f *testing.F) {
	f.Add("a", "b.c")
	f.Add("x y", "[0]")
	f.Add("", `"`)
	f.Add("故障", "\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		inner := &Value{kind: kindMap}
		inner.set(field{key: second, value: &Value{}})
		list := &Value{kind: kindList, items: []*Value{{}, inner}}
		root := &Value{kind: kindMap}
		root.set(field{key: first, value: list})
		path := root.path([]string{first, "1", second})
		if root.find(splitPath(path)) != inner.fields[0].value {
			t.Errorf("path %q of %q and %q leads elsewhere", path, first, second)
		}
	})
}

// FuzzSchema: a plugin's schema is a stranger's. It is refused or used, fetches
// nothing, and an editor's schema with it in is JSON.
func FuzzSchema(f *testing.F) {
	f.Add(testSchema, `{"priority":["a"]}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"$ref":"file:///etc/passwd"}`, `{}`)
	f.Add(`{"$ref":"http://127.0.0.1:1/x"}`, `1`)
	f.Add(`{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, `{"x":1}`)
	f.Add(`{"pattern":"(a+)+$","patternProperties":{"(":{}}}`, `"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`)
	f.Add(`{"$schema":"https://example.invalid/other","$id":"urn:x","type":["object","null"]}`, `null`)
	f.Fuzz(func(t *testing.T, schema, config string) {
		v, err := ParseJSON([]byte(config))
		if err != nil {
			return
		}
		faults, err := Validate(v, json.RawMessage(schema))
		if err != nil {
			if len(faults) > 0 {
				t.Errorf("faults by a schema that cannot be used: %v", faults)
			}
			return
		}
		for _, fault := range faults {
			if fault.Message == "" {
				t.Errorf("a fault says nothing: %+v", fault)
			}
		}
		editor, err := EditorSchema([]Module{{Name: "m", Schema: json.RawMessage(schema)}})
		if err != nil || !json.Valid(editor) {
			t.Errorf("schema for editors: %v, %s", err, editor)
		}
	})
}
