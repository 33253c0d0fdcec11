package profile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMarked(t *testing.T) {
	const schema = `{
	  "$defs": {"route": {"oneOf": [
	    {"type": "string", "x-provider": true},
	    {"type": "object", "properties": {"provider": {"type": "string", "x-provider": true}, "model": {"type": "string"}}}]}},
	  "properties": {
	    "priority": {"type": "array", "items": {"$ref": "#/$defs/route"}},
	    "one": {"x-provider": true},
	    "no": {"x-provider": false},
	    "key": {"type": "string", "x-provider": true, "writeOnly": true},
	    "n": {"type": "integer"}}}`
	composed, err := compose(`
- id: f
  config:
    one: [not text]
    no: n
    priority: [a/b, {provider: c, model: d}, 5, !env KEY]
    key: k
    n: this fault does not matter
`)
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := composed.Rows[0].Resolve(environment(map[string]string{"KEY": "sk-secret"}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Marked(config, json.RawMessage(schema), "x-provider", true)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) Pos {
		return Pos{Layer: "base", File: "cordis.yml", Line: line, Column: column}
	}
	want := []Mark{
		{Path: "priority[0]", Pos: at(6, 16), Text: "a/b", Shown: `"a/b"`},
		{Path: "priority[1].provider", Pos: at(6, 22), Text: "c", Shown: `"c"`},
		{Path: "priority[3]", Pos: at(6, 49), Text: "sk-secret", Shown: "[redacted]"},
		{Path: "key", Pos: at(7, 5), Text: "k", Shown: "[redacted]"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	if _, err := Marked(config, json.RawMessage(`{"type": 5}`), "x-provider", true); err == nil {
		t.Error("a schema that is none was taken")
	}
}
