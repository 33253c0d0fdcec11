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
		{"unclosed flow", "- {id: a\n", "p.yml:1:3: { is never closed (allowed: } at its end)"},
		{"unclosed list", "- [a\n- b\n", "p.yml:1:3: [ is never closed (allowed: ] at its end)"},
		{"unclosed in the middle", "- {id: a\n- id: b}\n", `p.yml:2:5: this is not the next item of the { that begins on line 1 (allowed: ", " before it, or }; a space after each ":")`},
		{"no space after a colon in a flow", "- {id: a, config:{x: 1}}\n", `p.yml:1:18: this is not the next item of the { that begins on line 1 (allowed: ", " before it, or }; a space after each ":")`},
		{"JSON that ends early", "[{\"id\":", "p.yml:2:1: the file ends inside of { or [ (allowed: } or ] at its end)"},
		{"one brace too many", "- id: a\n  config: {x: 1}}\n", "p.yml:2:17: this is not the next key of the mapping that begins on line 1 (allowed: a key in column 3)"},
		{"a key too far left", "- id: a\n name: b\n", `p.yml:2:2: this is not the next item of the list that begins on line 1 (allowed: "- " in column 1)`},
		{"a key between two columns", "- id: a\n  config:\n    x: 1\n   y: 2\n", "p.yml:4:4: this is not the next key of the mapping that begins on line 1 (allowed: a key in column 3)"},
		{"an item after a key", "- a: - b\n", `p.yml:1:6: a "- " where no item can be (allowed: the items of a list on lines of their own, one below the other)`},
		{"a key alone", "- id: a\n  config:\n  x\n", "p.yml:3:3: a key without a value (allowed: KEY: VALUE)"},
		{"text that begins with a sign", "- id: @a\n", `p.yml:1:7: text cannot begin with '@' (allowed: quotes around it)`},
		{"unknown escape", "- id: \"\\d+\"\n", `p.yml:1:8: an escape that is none (allowed: \n, \t, \", \\, \x41, \u0041, \U0001F600; or single quotes, in which \ is an ordinary character)`},
		{"half a surrogate pair", "- id: \"\\ud83d\"\n", `p.yml:1:10: an escape that is none (allowed: \n, \t, \", \\, \x41, \u0041, \U0001F600; or single quotes, in which \ is an ordinary character)`},
		{"anchor without a name", "- & a\n", "p.yml:1:4: no name after & or * (allowed: letters a to z, digits, - and _; quotes around text that begins so)"},
		{"tab after a dash", "-\tid: a\n", "p.yml:1:2: a tab in the indentation (allowed: spaces)"},
		{"another fault in a line with a tab", "-\t\"\\q\"\n", `p.yml:1:4: an escape that is none (allowed: \n, \t, \", \\, \x41, \u0041, \U0001F600; or single quotes, in which \ is an ordinary character)`},
		{"a directive without ---", "%YAML 1.2\n- id: a\n", "p.yml:2:1: no --- ends the lines that begin with % (allowed: a line --- before the list)"},
		{"another YAML", "# c\n%YAML 2.0\n---\n[]\n", "p.yml:2:1: a %YAML line that cannot be read (allowed: one line %YAML 1.2, or none)"},
		{"YAML said twice", "%YAML 1.2\n%YAML 1.2\n---\n[]\n", "p.yml:2:1: a %YAML line that cannot be read (allowed: one line %YAML 1.2, or none)"},
		{"an end before the beginning", "# c\n...\n- id: a\n", "p.yml:2: a second document begins (allowed: one document a file, so no --- or ... below the first line of it)"},
		{"unclosed quote", "- id: \"a\n", "p.yml:1:7: a text in quotes is never closed (allowed: the same quote at its end)"},
		{"colon in plain text", "- id: a: b\n", `p.yml:1:8: a ":" where no key can be (allowed: quotes around text that holds ": "; the keys of a mapping one below the other)`},
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
		{"unknown anchor", "- id: *x\n", "p.yml:1:7: an alias without an anchor before it (allowed: *NAME where &NAME stands further up; quotes around text that begins with *)"},
		{"wrong dedent", "  - id: a\n - id: b\n", "p.yml:2:2: this is no part of what stands before (allowed: one list, its items one below the other)"},
		{"characters count, not bytes", "- é: ö: 1\n", `p.yml:1:7: a ":" where no key can be (allowed: quotes around text that holds ": "; the keys of a mapping one below the other)`},
		{"not UTF-8", "- id: ä\xff\n", "p.yml:1:8: not UTF-8 text (allowed: text in UTF-8)"},
		{"UTF-16", "\xff\xfe-\x00", "p.yml:1:1: not UTF-8 text (allowed: text in UTF-8)"},
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
		{"far too deep", strings.Repeat("[", MaxFile), "nested too deep (allowed: 100 levels)"},
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
