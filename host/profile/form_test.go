package profile

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

// formSchema is that of the cases, as they describe it.
const formSchema = `{"type": "object", "properties": {
	"priority": {"type": "array", "items": {"type": "object"}, "x-volatile": true},
	"failureThreshold": {"type": "number", "x-volatile": true},
	"cooldownMs": {"type": "number", "x-volatile": true},
	"patterns": {"type": "array"},
	"probe": {"type": "object", "properties": {"enabled": {"type": "boolean"}, "intervalMs": {"type": "number", "x-volatile": true}}}}}`

// formCalls are the calls of the original behind the cases, which name them
// only. An update merges what it is given; a replace begins by resetting all.
var formCalls = map[string]string{
	"update merges, ordinary and unknown keys kept":                         `[{"path": "", "value": {"failureThreshold": 5}}]`,
	"update array replaces whole array":                                     `[{"path": "", "value": {"priority": [{"provider": "b", "model": "m"}]}}]`,
	"update nested volatile keeps sibling ordinary field":                   `[{"path": "", "value": {"probe": {"intervalMs": 5}}}]`,
	"update ordinary field refused":                                         `[{"path": "", "value": {"patterns": []}}]`,
	"update ordinary nested field refused":                                  `[{"path": "", "value": {"probe": {"enabled": false}}}]`,
	"update unknown key refused":                                            `[{"path": "", "value": {"zzz": 1}}]`,
	"replace({}) resets live fields to the inherited values, ordinary kept": `[{"path": ""}]`,
	"replace with one field":                                                `[{"path": ""}, {"path": "", "value": {"cooldownMs": 1}}]`,
	"mutate set":                                                            `[{"path": "failureThreshold", "value": 9}]`,
	"mutate unset goes back to inherited value":                             `[{"path": "failureThreshold"}]`,
	"mutate unset of a field with no inherited value deletes it":            `[{"path": "cooldownMs"}]`,
	"mutate set array element field":                                        `[{"path": "priority[0].model", "value": "m"}]`,
	"mutate append array element":                                           `[{"path": "priority[1]", "value": {"provider": "z"}}]`,
	"mutate array index out of range":                                       `[{"path": "priority[5]", "value": {"provider": "z"}}]`,
	"mutate unset array element removes it":                                 `[{"path": "priority[0]"}]`,
	"mutate ordinary path refused":                                          `[{"path": "patterns", "value": []}]`,
	"schema without volatile fields refused":                                ``,
	"form of S (keys only)":                                                 ``,
}

func TestOriginalForms(t *testing.T) {
	data, err := os.ReadFile("testdata/settings-form-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name           string
			Raw, Inherited json.RawMessage
			Expect         struct {
				Raw             json.RawMessage
				EqualsInherited bool
				Error           string
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != len(formCalls) {
		t.Fatalf("got %d cases, know the calls of %d", len(file.Cases), len(formCalls))
	}
	form := openForm(t, formSchema)
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			calls, ok := formCalls[c.Name]
			switch {
			case !ok:
				t.Fatal("the calls of this case are not known")
			case strings.HasPrefix(c.Expect.Error, "Plugin entry"): // the host has the words
				if form, err := OpenForm([]byte(`{"properties": {"a": {"type": "string"}}}`)); form != nil || err != nil {
					t.Errorf("got form %v, %v, want none", form, err)
				}
				return
			case strings.HasPrefix(c.Expect.Error, "FORM "):
				want := decode(t, []byte(strings.TrimPrefix(c.Expect.Error, "FORM ")))
				if diff := cmp.Diff(want, kinds(form.Schema())); diff != "" {
					t.Errorf("form (-want +got):\n%s", diff)
				}
				return
			}
			var changes []Change
			if err := json.Unmarshal([]byte(calls), &changes); err != nil {
				t.Fatal(err)
			}
			x := &Editable{Config: value(t, c.Raw), Inherited: value(t, c.Inherited)}
			next, err := form.Apply(x, changes)
			if c.Expect.Error != "" {
				if err == nil || !strings.Contains(err.Error(), c.Expect.Error) {
					t.Errorf("got error %v, want %s", err, c.Expect.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, c.Expect.Raw), decode(t, next.appendJSON(nil))); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			if got := sameConfig(next, x.Inherited); got != c.Expect.EqualsInherited {
				t.Errorf("equals what is inherited: got %v", got)
			}
		})
	}
}

func openForm(t *testing.T, schema string) *Form {
	t.Helper()
	form, err := OpenForm([]byte(schema))
	if err != nil || form == nil {
		t.Fatalf("form %v, %v", form, err)
	}
	return form
}

// kinds tells a form as the cases do: each field with its type, a mapping with
// its keys.
func kinds(schema json.RawMessage) any {
	var s struct {
		Properties map[string]struct {
			Type       string
			Properties map[string]any
		}
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	all := map[string]any{}
	for key, p := range s.Properties {
		all[key] = p.Type
		if p.Properties != nil {
			var keys []any
			for k := range p.Properties {
				keys = append(keys, k)
			}
			all[key] = keys
		}
	}
	return all
}

// TestSecretsStayHidden follows secrets through a form: they are not shown, are
// kept where they stand or move, and no new one is taken as text.
func TestSecretsStayHidden(t *testing.T) {
	form := openForm(t, `{"properties": {"hooks": {"x-volatile": true, "type": "array", "items": {"type": "object", "properties": {
		"url": {"type": "string"}, "pass": {"type": "string", "writeOnly": true}, "apiKey": {"type": "string"}}}}}}`)
	list, err := ParsePatch(Layer{Data: []byte("- id: f\n  config: {other: x, hooks: [{url: u, pass: hidden-1, apiKey: hidden-2}, {url: !env URL}, {url: !!js 'process.env.X ?? \"hidden-3\"'}]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	config := list.rows[0].get("config")
	shown, err := form.Shown(config)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"hooks":[{"url":"u","pass":{"__kept":"hooks[0].pass"},"apiKey":{"__kept":"hooks[0].apiKey"}},{"url":{"__kept":"hooks[1].url"}},{"url":{"__kept":"hooks[2].url"}}]}`
	if diff := cmp.Diff(want, string(shown)); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
	x := &Editable{Config: config, Inherited: orEmpty(nil)}
	next, err := form.Apply(x, []Change{{Path: "hooks", Value: json.RawMessage(`[{"url":{"__kept":"hooks[1].url"}},{"url":"v","pass":{"__kept":"hooks[0].pass"},"apiKey":{"__jsExpr":"process.env.K"}}]`)}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (renderer{}).flow(next), `{other: x, hooks: [{url: !env URL}, {url: v, pass: hidden-1, apiKey: !env K}]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if faults, err := form.CheckSecrets(x, next); err != nil || faults != nil {
		t.Errorf("got faults %v, %v, want none", faults, err)
	}
	next, err = form.Apply(x, []Change{{Path: "hooks[0].pass", Value: json.RawMessage(`"typed"`)}})
	if err != nil {
		t.Fatal(err)
	}
	faults, err := form.CheckSecrets(x, next)
	if err != nil || len(faults) != 1 || faults[0].Path != "hooks[0].pass" || strings.Contains(faults.Error(), "typed") {
		t.Errorf("got faults %v, %v, want one of hooks[0].pass that does not tell", faults, err)
	}
	next, err = form.Apply(x, []Change{{Path: "hooks[0].url", Value: json.RawMessage(`{"__kept":"hooks[0].pass"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if faults, err = form.CheckSecrets(x, next); err != nil || len(faults) != 1 || faults[0].Path != "hooks[0].url" {
		t.Errorf("got faults %v, %v, want that a secret would be seen", faults, err)
	}
	if _, err := form.Apply(x, []Change{{Path: "hooks", Value: json.RawMessage(`[{"__kept":"hooks[9]"}]`)}}); !isFaults(err) {
		t.Errorf("got error %v, want a fault", err)
	}
}

// TestExpressionsStayHidden: no variable of the host is put where a module shows it.
func TestExpressionsStayHidden(t *testing.T) {
	form := openForm(t, `{"properties": {"label": {"x-volatile": true, "type": "string"}, "hooks": {"x-volatile": true, "type": "array", "items": {"type": "object", "properties": {
		"url": {"type": "string"}, "pass": {"type": "string", "writeOnly": true}}}}}}`)
	list, err := ParsePatch(Layer{Data: []byte("- id: f\n  config: {apiKey: !env KEY, label: x, hooks: [{url: u}, {url: !env URL}]}\n- id: f\n  config: {label: !env LABEL, apiKey: typed}\n")})
	if err != nil {
		t.Fatal(err)
	}
	x := &Editable{Config: list.rows[0].get("config"), Inherited: list.rows[1].get("config")}
	for _, tt := range []struct{ path, value, fault string }{
		{"label", `{"__jsExpr":"process.env.ANTHROPIC_API_KEY"}`, "label"},
		{"label", `{"__kept":"apiKey"}`, "label"},
		{"label", `{"__kept":"hooks[1].url"}`, "label"},
		{"hooks[0].url", `{"__jsExpr":"process.env.ANTHROPIC_API_KEY"}`, "hooks[0].url"},
		{"hooks", `[{"url":{"a":{"__jsExpr":"process.env.ANTHROPIC_API_KEY"}}}]`, "hooks[0].url.a"},
		{"label", "", ""}, // what it inherits
		{"hooks[0]", `{"__kept":"hooks[1]"}`, ""},
		{"hooks[0].pass", `{"__jsExpr":"process.env.PASS"}`, ""},
		{"hooks[0].apiKey", `{"__kept":"apiKey"}`, ""},
	} {
		next, err := form.Apply(x, []Change{{Path: tt.path, Value: valueOf(tt.value)}})
		if err != nil {
			t.Fatal(err)
		}
		faults, err := form.CheckSecrets(x, next)
		got := ""
		if len(faults) > 0 {
			got = faults[0].Path
		}
		if err != nil || got != tt.fault || len(faults) > 1 {
			t.Errorf("%s = %s: got %v, %v, want a fault of %q", tt.path, tt.value, faults, err, tt.fault)
		}
	}
}

// valueOf is a change's value, none for "".
func valueOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func isFaults(err error) bool {
	_, ok := errors.AsType[sdk.Faults](err)
	return ok
}

// TestUnsetLeavesNothing checks that a mapping that a change made goes with it.
func TestUnsetLeavesNothing(t *testing.T) {
	form := openForm(t, formSchema)
	x := &Editable{Config: orEmpty(nil), Inherited: orEmpty(nil)}
	for _, changes := range [][]Change{
		{{Path: "probe.intervalMs", Value: json.RawMessage(`5`)}, {Path: "probe.intervalMs"}},
		{{Path: "probe.intervalMs"}},
	} {
		next, err := form.Apply(x, changes)
		if err != nil || len(next.fields) != 0 {
			t.Errorf("after %v: got %s, %v, want nothing", changes, next.appendJSON(nil), err)
		}
	}
	for _, path := range []string{"priority[", "priority..x", "failureThreshold.x"} {
		if _, err := form.Apply(x, []Change{{Path: path, Value: json.RawMessage(`1`)}}); err == nil && path != "failureThreshold.x" {
			t.Errorf("path %q is taken", path)
		}
	}
}
