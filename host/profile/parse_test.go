package profile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string
	}{
		{"empty", "", "p.yml: the file holds nothing (allowed: write [] for no patches)"},
		{"spaces and a comment", "\n# nothing\n\n", "p.yml: the file holds nothing (allowed: write [] for no patches)"},
		{"only a document marker", "---\n", "p.yml:2:1: the file holds null (allowed: write [] for no patches)"},
		{"null", "# c\n~\n", "p.yml:2:1: the file holds null (allowed: write [] for no patches)"},
		{"text", "hello\n", `p.yml:1:1: the file holds text (allowed: a list of patches, each beginning with "- ")`},
		{"a mapping", "id: a\n", `p.yml:1:1: the file holds a mapping (allowed: a list of patches, each beginning with "- ")`},
		{"a text item", "- id: a\n- hello\n", "p.yml:2:3: patch 2 is text (allowed: a mapping with keys such as id, config, disabled, insert)"},
		{"a list item", "- [1]\n", "p.yml:1:3: patch 1 is a list (allowed: a mapping with keys such as id, config, disabled, insert)"},
		{"a null item", "- id: a\n-\n- id: b\n", "p.yml:2:2: patch 2 is null (allowed: a mapping with keys such as id, config, disabled, insert)"},
		{"unclosed flow", "- {id: a\n", "p.yml:2:1: not YAML: did not find expected ',' or '}' while parsing a flow mapping that begins on line 1"},
		{"unclosed quote", "- id: \"a\n", "p.yml:2:1: not YAML: found unexpected end of stream while scanning a quoted scalar that begins on line 1"},
		{"colon in plain text", "- id: a: b\n", "p.yml:1:8: not YAML: mapping values are not allowed in this context"},
		{"tab", "- id: a\n\tname: b\n", "p.yml:2:1: a tab in the indentation (allowed: spaces)"},
		{"tab after spaces", "- id: a\n  config:\n  \tx: 1\n", "p.yml:3:3: a tab in the indentation (allowed: spaces)"},
		{"two documents", "- id: a\n---\n- id: b\n", "p.yml:2: a second document begins (allowed: one document a file, so no --- or ... below the first line of it)"},
		{"an empty second document", "- id: a\n---\n", "p.yml:2: a second document begins (allowed: one document a file, so no --- or ... below the first line of it)"},
		{"double key", "- id: a\n  x: 1\n  x: 2\n", `p.yml:3:3: key "x" stands twice, first on line 2 (allowed: each key once)`},
		{"short tag", "- id: !js 1\n", "p.yml:1:7: tag !js is not known here (allowed: !!js and !env, and YAML's own !!str, !!int, !!float, !!bool, !!null, on scalars)"},
		{"binary", "- id: !!binary aGk=\n", "p.yml:1:7: tag !!binary is not known here (allowed: !!js and !env, and YAML's own !!str, !!int, !!float, !!bool, !!null, on scalars)"},
		{"expression on a mapping", "- id: !!js {x: 1}\n", "p.yml:1:7: tag !!js is not known here (allowed: !!map, or no tag, on a mapping)"},
		{"text tag on a list", "- id: !!str [1]\n", "p.yml:1:7: tag !!str is not known here (allowed: !!seq, or no tag, on a list)"},
		{"expression of nothing", "- id: !!js\n  x: 1\n", "p.yml:1:7: the value does not fit the tag !!js (allowed: " + exprForms + ")"},
		{"no number", "- id: !!int sk-secret\n", "p.yml:1:7: the value does not fit the tag !!int (allowed: a whole number such as 5, -5, 0x1F, 0o17 or 0b11)"},
		{"no boolean", "- id: !!bool yes\n", "p.yml:1:7: the value does not fit the tag !!bool (allowed: true or false)"},
		{"no float", "- id: !!float x\n", "p.yml:1:7: the value does not fit the tag !!float (allowed: a number such as 1.5, 1e3, .inf or .nan)"},
		{"no null", "- id: !!null ''\n", "p.yml:1:7: the value does not fit the tag !!null (allowed: null, ~ or nothing)"},
		{"no variable", "- id: !env 'sk-secret text'\n", "p.yml:1:7: the value does not fit the tag !env (allowed: !env NAME or !env NAME ?? text)"},
		{"a mapping as key", "- id: a\n  x: {{y}}\n", "p.yml:2:7: a mapping stands where a key belongs (allowed: text as a key; quote it if it begins with [ or {)"},
		{"unknown anchor", "- id: *x\n", "p.yml:1:7: not YAML: unknown anchor 'x' referenced"},
		{"wrong dedent", "  - id: a\n - id: b\n", "p.yml:2:2: not YAML: did not find expected <document start>"},
		{"characters count, not bytes", "- é: ö: 1\n", "p.yml:1:7: not YAML: mapping values are not allowed in this context"},
		{"not UTF-8", "- id: ä\xff\n", "p.yml:1:8: not UTF-8 text"},
		{"UTF-16", "\xff\xfe-\x00", "p.yml:1:1: not UTF-8 text"},
		{"a control character", "- id: a\n- b: \x07\n", "p.yml:2:6: character U+0007 (allowed: printable characters; in double quotes it can be written as an escape)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePatch(Layer{Name: "profile patch", File: "p.yml", Data: []byte(tt.text)})
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v, want an *Error", err)
			}
			if e.Pos.Layer != "profile patch" {
				t.Errorf("got layer %q, want the one given", e.Pos.Layer)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("- a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 8 {
		fmt.Fprintf(&bomb, "  a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 10))
	}
	tests := []struct {
		name string
		text string
		want string // part of the error, "" for none
	}{
		{"largest file", "[]" + strings.Repeat(" ", MaxFile-2), ""},
		{"one byte more", "[]" + strings.Repeat(" ", MaxFile-1), "p.yml: the file is too large (allowed: 256 KiB)"},
		{"deepest nesting", "- x: " + strings.Repeat("[", maxDepth-2) + strings.Repeat("]", maxDepth-2), ""},
		{"one level more", "- x: " + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1), "p.yml:1:1: nested too deep (allowed: 100 levels)"},
		{"far too deep", strings.Repeat("[", MaxFile), "exceeded max depth"},
		{"aliases of aliases", bomb.String(), "too large with its aliases written out (allowed: 16 MiB)"},
		{"aliases of long text", "- a: &a " + strings.Repeat("x", 100<<10) + "\n  b: [" + strings.Repeat("*a,", 10<<10) + "]", "too large with its aliases written out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParsePatch(Layer{File: "p.yml", Data: []byte(tt.text)})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// Many warnings may name one large value.
func TestWarningsAreBounded(t *testing.T) {
	composed, err := compose("- {id: a, name: "+strings.Repeat("x", 200<<10)+"}\n", strings.Repeat("- {id: a, name: q}\n", 10_000))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, w := range composed.Warnings {
		total += len(w.Text)
	}
	if limit := 10_000 * (maxCode + 100); len(composed.Warnings) != 10_000 || total > limit {
		t.Errorf("got %d warnings of %d bytes, want 10000 of at most %d", len(composed.Warnings), total, limit)
	}
}

// Patches can multiply rows as aliases do, only that no file shows it.
func TestComposeIsBounded(t *testing.T) {
	var rows, patches strings.Builder
	rows.WriteString("- insert:\n")
	for i := range 60 {
		fmt.Fprintf(&rows, "    - &g%d {id: g%d, group: true, config: []}\n", i, i)
		if i > 0 {
			fmt.Fprintf(&patches, "- {id: g%d, insert: [*g%d, *g%d]}\n", i, i-1, i-1)
		}
	}
	_, err := compose("[]", rows.String()+patches.String())
	const want = "the patches make too many rows"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
