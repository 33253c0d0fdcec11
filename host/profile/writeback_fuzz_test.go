package profile

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// FuzzSave edits whatever file. Then the composed config is the one that was
// asked for, each other row says what it said, and the comments that stood
// outside of the config are still there; or it was refused, and nothing was
// written.
func FuzzSave(f *testing.F) {
	data, err := os.ReadFile("testdata/writeback-cases.json")
	if err != nil {
		f.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Input struct{ ProfilePatch string }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		f.Fatal(err)
	}
	for _, c := range file.Cases {
		f.Add(strings.ReplaceAll(c.Input.ProfilePatch, "llm-failover", "f"), `{"a":{"b":["x",1]},"failureThreshold":9}`)
	}
	f.Add("- id: f # 1\n  config: # 2\n    # 3\n    p: &a\n    - |+\n      # text\n\n    - \"x\n      # text\" # 4\n    # 5\n    - {a: [1, # 6\n      2]}\n- *a\n", `{"p":["x # text",null]}`)
	f.Add("---\n- ? id\n  : f\n  config:\n  - !!js a # 1\n", `{}`)
	f.Add("%YAML 1.2\n---\n- {id: f, # 1\n   config: {a: , b: !!str}, # 2\n  }\n# 3\n...\n", `{"a":null,"b":"é\u2028"}`)
	f.Fuzz(func(t *testing.T, patch, config string) {
		next, err := ParseJSON([]byte(config))
		if err != nil || next.kind != kindMap {
			return
		}
		dir, path := folder(t, &patch)
		o := Options{Bundle: []byte(failoverRow)}
		old, err := openEdition(dir, o)
		if err != nil {
			return
		}
		_, err = Save(t.Context(), dir, o, Edit{ID: "f", Next: func(*Editable) (*Value, error) { return next, nil }})
		after := text(t, path)
		if err != nil {
			if after != patch {
				t.Fatalf("refused with %v, and written:\n%s", err, after)
			}
			return
		}
		x, err := ReadEditable(dir, o, "f")
		if err != nil || !sameConfig(x.Config, next) {
			t.Fatalf("%v: config is not %s in\n%s", err, config, after)
		}
		others := func(rows []*Value) (all []string) {
			tg := target{id: &Value{kind: kindText, text: "f"}, name: x.Row.v.get("name")}
			for _, r := range rows {
				if !tg.overrides(r) {
					all = append(all, string(r.appendJSON(nil)))
				}
			}
			return all
		}
		now, err := openEdition(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := others(old.rows()), others(now.rows()); strings.Join(a, "\n") != strings.Join(b, "\n") {
			t.Fatalf("other rows were\n%s\nand are\n%s", a, b)
		}
		doc, err := (&parser{layer: old.own}).document()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range libraryComments(doc) {
			// The library is given a directive as a comment.
			if !strings.Contains(strings.NewReplacer("\r", "\n", "%", "#").Replace(after), strings.ReplaceAll(c, "%", "#")) {
				t.Fatalf("comment %q is lost in\n%q\nwhich was\n%q", c, after, patch)
			}
		}
	})
}

// libraryComments are the comments that the YAML library sees outside of
// configs, line by line.
func libraryComments(n *yaml.Node) []string {
	var all []string
	for _, block := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		for line := range strings.Lines(showBreaks.Replace(block)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "config" {
			continue
		}
		all = append(all, libraryComments(c)...)
	}
	return all
}
