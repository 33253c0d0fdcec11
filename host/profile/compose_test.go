package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ab is a base of two rows, grp one with a group in a group.
const (
	ab  = "- {id: a, name: m}\n- {id: b, name: n, config: {x: 1}}\n"
	grp = "- id: g\n  group: true\n  config:\n    - {id: c, name: m}\n    - id: i\n      group: true\n      config: [{id: d, name: n}]\n"
)

type composeCase struct {
	name    string
	base    string
	patches []string
	want    string   // the entries as JSON
	warn    []string // the texts of the warnings
	refuse  string   // part of the error, instead of the above
}

var composeCases = []composeCase{
	// Aliases: one object in several places.
	{name: "aliased rows of one insert are one object", base: ab, patches: []string{"- insert: [&r {id: r, config: 1}, *r]\n- {id: r, config: 2}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}},{"id":"r","config":2},{"id":"r","config":2}]`},
	{name: "aliased base rows are one object", base: "- &r {id: r}\n- *r\n", patches: []string{"- {id: r, disabled: true}\n"},
		want: `[{"id":"r","disabled":true},{"id":"r","disabled":true}]`},
	{name: "an aliased insert list is inserted twice as the same rows", base: grp, patches: []string{"- insert: &l [{id: h}]\n- {id: g, insert: *l}\n- {id: h, config: 2}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"c","name":"m"},{"id":"i","group":true,"config":[{"id":"d","name":"n"}]},{"id":"h","config":2}]},{"id":"h","config":2}]`},
	{name: "inserting into a group whose list is aliased shows in both", base: "- {id: g, group: true, config: &l [{id: c}]}\n- {id: h, config: *l}\n", patches: []string{"- {id: g, insert: [{id: z}]}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"c"},{"id":"z"}]},{"id":"h","config":[{"id":"c"},{"id":"z"}]}]`},
	{name: "an override's value is shared by alias across patches", base: ab, patches: []string{"- {id: a, group: true, config: &l []}\n- {id: b, config: *l}\n- {id: a, insert: [{id: z}]}\n"},
		want: `[{"id":"a","name":"m","group":true,"config":[{"id":"z"}]},{"id":"b","name":"n","config":[{"id":"z"}]}]`},
	{name: "an alias to an earlier anchor of the same name takes the last", base: ab, patches: []string{"- {id: a, config: &x 1}\n- {id: b, config: &x 2}\n- {id: a, config: *x}\n"},
		want: `[{"id":"a","name":"m","config":2},{"id":"b","name":"n","config":2}]`},
	{name: "anchors do not reach into another file", base: "- {id: a, config: &x 1}\n", patches: []string{"- {id: a, config: *x}\n"},
		refuse: "p0.yml:1:19: an alias without an anchor before it"},
	{name: "a row that becomes its own config is refused", base: ab, patches: []string{"- insert: [&r {id: r}]\n- {id: r, config: *r}\n"},
		refuse: "p0.yml:1:12: a value contains itself"},
	{name: "a group that is inserted into itself is refused", base: ab, patches: []string{"- insert: &l [{id: r, group: true}]\n- {id: r, insert: *l}\n"},
		refuse: "p0.yml:1:"},
	{name: "an alias inside its own anchor is refused", base: "- &a [*a]\n",
		refuse: "cordis.yml:1:3: a value contains itself"},

	// Ids.
	{name: "an id of 1 and an id of text 1 differ", base: "- {id: 1}\n- {id: '1'}\n", patches: []string{"- {id: 1, x: number}\n- {id: '1', x: text}\n"},
		want: `[{"id":1,"x":"number"},{"id":"1","x":"text"}]`},
	{name: "numbers match by value, however written", base: "- {id: 0x10}\n", patches: []string{"- {id: 16.0, x: 1}\n- {id: 1.6e1, y: 2}\n"},
		want: `[{"id":16,"x":1,"y":2}]`},
	{name: "an id of zero is not an id", base: "- {id: 0}\n", patches: []string{"- {id: 0, x: 1}\n"},
		want: `[{"id":0}]`, warn: []string{"patch: id is required for non-insert patches"}},
	{name: "an empty id inserts at the top", base: ab, patches: []string{"- {id: '', insert: [{id: z}]}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}},{"id":"z"}]`},
	{name: "true is an id and not the text true", base: "- {id: true}\n- {id: 'true'}\n", patches: []string{"- {id: true, x: 1}\n- {id: yes, x: 2}\n"},
		want: `[{"id":true,"x":1},{"id":"true"}]`, warn: []string{`patch: entry "yes" not found`}},
	{name: "a list as an id is found by nobody", base: "- {id: [1]}\n", patches: []string{"- {id: [1], x: 1}\n"},
		want: `[{"id":[1]}]`, warn: []string{"patch: entry [1] not found"}},
	{name: "an expression as an id is found by nobody", base: "- {id: !!js x}\n", patches: []string{"- {id: !!js x, y: 1}\n"},
		want: `[{"id":{"__jsExpr":"x"}}]`, warn: []string{`patch: entry {"__jsExpr":"x"} not found`}},
	{name: "a number unknown to JSON is null in a warning", base: ab, patches: []string{"- {id: .inf}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}}]`, warn: []string{"patch: entry null not found"}},
	{name: "the last of equal ids is patched", base: "- {id: a, x: 1}\n- {id: a, x: 2}\n", patches: []string{"- {id: a, y: 3}\n"},
		want: `[{"id":"a","x":1},{"id":"a","x":2,"y":3}]`},
	{name: "a child counts after its group", base: "- {id: g, group: true, config: [{id: g, x: 1}]}\n", patches: []string{"- {id: g, y: 2}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"g","x":1,"y":2}]}]`},
	{name: "an id cannot be changed", base: ab, patches: []string{"- {id: a, config: {id: z}}\n- {id: z}\n"},
		want: `[{"id":"a","name":"m","config":{"id":"z"}},{"id":"b","name":"n","config":{"x":1}}]`, warn: []string{`patch: entry "z" not found`}},

	// The guard.
	{name: "an equal name lets the patch through", base: ab, patches: []string{"- {id: a, name: m, config: 1}\n"},
		want: `[{"id":"a","name":"m","config":1},{"id":"b","name":"n","config":{"x":1}}]`},
	{name: "another name skips the patch", base: ab, patches: []string{"- {id: a, name: q, config: 1}\n- {id: a, disabled: true}\n"},
		want: `[{"id":"a","name":"m","disabled":true},{"id":"b","name":"n","config":{"x":1}}]`,
		warn: []string{`patch: name mismatch for "a" (expected "m", got "q"), skipping`}},
	{name: "a row without name has none that could match", base: "- {id: a}\n", patches: []string{"- {id: a, name: m}\n"},
		want: `[{"id":"a"}]`, warn: []string{`patch: name mismatch for "a" (expected undefined, got "m"), skipping`}},
	{name: "a name of another type does not match", base: "- {id: a, name: 5}\n", patches: []string{"- {id: a, name: '5', x: 1}\n- {id: a, name: 5.0, y: 1}\n"},
		want: `[{"id":"a","name":5,"y":1}]`, warn: []string{`patch: name mismatch for "a" (expected 5, got "5"), skipping`}},
	{name: "equal expressions are different names", base: "- {id: a, name: !!js x}\n", patches: []string{"- {id: a, name: !!js x, y: 1}\n"},
		want: `[{"id":"a","name":{"__jsExpr":"x"}}]`,
		warn: []string{`patch: name mismatch for "a" (expected {"__jsExpr":"x"}, got {"__jsExpr":"x"}), skipping`}},
	{name: "an empty name is no guard", base: ab, patches: []string{"- {id: a, name: '', x: 1}\n"},
		want: `[{"id":"a","name":"m","x":1},{"id":"b","name":"n","config":{"x":1}}]`},

	// Inserts.
	{name: "a falsy insert is an override without it", base: ab, patches: []string{"- {id: a, insert: false, x: 1}\n- {id: b, insert: '', x: 2}\n- {id: a, insert: 0}\n"},
		want: `[{"id":"a","name":"m","x":1},{"id":"b","name":"n","config":{"x":1},"x":2}]`},
	{name: "an insert ignores every other key", base: grp, patches: []string{"- {id: i, name: q, disabled: true, insert: [{id: z}]}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"c","name":"m"},{"id":"i","group":true,"config":[{"id":"d","name":"n"},{"id":"z"}]}]}]`},
	{name: "an insert into an unknown row is skipped whatever it is", base: ab, patches: []string{"- {id: q, insert: {x: 1}}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}}]`, warn: []string{`patch insert: entry "q" not found`}},
	{name: "an insert into a row that is no group is skipped", base: ab, patches: []string{"- {id: a, insert: [{id: z}]}\n- {id: z}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}}]`,
		warn: []string{`patch insert: entry "a" is not a group`, `patch: entry "z" not found`}},
	{name: "an inserted group's children are known", base: ab, patches: []string{"- insert: [{id: g, group: 1, config: [{id: c}]}]\n- {id: c, x: 1}\n- {id: g, insert: [{id: d}]}\n- {id: d, y: 1}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}},{"id":"g","group":1,"config":[{"id":"c","x":1},{"id":"d","y":1}]}]`},
	{name: "a row turned group takes inserts and loses its config", base: ab, patches: []string{"- {id: b, group: true}\n- {id: b, insert: [{id: z}]}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":[{"id":"z"}],"group":true}]`},
	{name: "a group by any truthy value", base: "- {id: g, group: 'no', config: [{id: c}]}\n", patches: []string{"- {id: c, x: 1}\n"},
		want: `[{"id":"g","group":"no","config":[{"id":"c","x":1}]}]`},
	{name: "a group by an expression", base: "- {id: g, group: !!js x, config: [{id: c}]}\n", patches: []string{"- {id: c, x: 1}\n"},
		want: `[{"id":"g","group":{"__jsExpr":"x"},"config":[{"id":"c","x":1}]}]`},
	{name: "no group by a falsy value", base: "- {id: g, group: 0, config: [{id: c}]}\n- {id: h, group: '', config: [{id: d}]}\n", patches: []string{"- {id: c}\n- {id: d}\n"},
		want: `[{"id":"g","group":0,"config":[{"id":"c"}]},{"id":"h","group":"","config":[{"id":"d"}]}]`,
		warn: []string{`patch: entry "c" not found`, `patch: entry "d" not found`}},
	{name: "inserted items may be anything but null", base: ab, patches: []string{"- insert: [5, x, [1]]\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":{"x":1}},5,"x",[1]]`},
	{name: "an inserted null is refused", base: ab, patches: []string{"- insert: [{id: z}, null]\n"}, refuse: "p0.yml:1:21: a row is null"},
	{name: "an inserted mapping is refused", base: ab, patches: []string{"- insert: {id: z}\n"}, refuse: "p0.yml:1:11: insert is a mapping (allowed: a list of rows; null or no insert for an override)"},
	{name: "an inserted number is refused", base: ab, patches: []string{"- insert: 5\n"}, refuse: "p0.yml:1:11: insert is a number"},
	{name: "inserted text is refused where the original takes its letters", base: ab, patches: []string{"- insert: abc\n"}, refuse: "p0.yml:1:11: insert is text"},
	{name: "an inserted expression is refused", base: ab, patches: []string{"- insert: !!js x\n"}, refuse: "p0.yml:1:11: insert is an expression"},

	// Overrides.
	{name: "keys keep their place, new ones go to the end", base: ab, patches: []string{"- {zz: 1, config: 2, id: b, aa: 3}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":2,"zz":1,"aa":3}]`},
	{name: "later patches win key by key", base: ab, patches: []string{"- {id: a, x: 1, y: 1}\n", "- {id: a, y: 2}\n", "- {id: a, z: 3}\n"},
		want: `[{"id":"a","name":"m","x":1,"y":2,"z":3},{"id":"b","name":"n","config":{"x":1}}]`},
	{name: "an override can make a key null but not absent", base: ab, patches: []string{"- {id: b, config: ~}\n"},
		want: `[{"id":"a","name":"m"},{"id":"b","name":"n","config":null}]`},
	{name: "children replaced by an override stay unknown", base: grp, patches: []string{"- {id: g, config: [{id: e}]}\n- {id: e, x: 1}\n- {id: d, x: 1}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"e"}]}]`, warn: []string{`patch: entry "e" not found`}},
	{name: "an insert after a replaced config goes to the new list", base: grp, patches: []string{"- {id: g, config: []}\n- {id: g, insert: [{id: z}]}\n"},
		want: `[{"id":"g","group":true,"config":[{"id":"z"}]}]`},

	// Scalars and keys.
	{name: "numbers print as JavaScript prints them", base: "- {v: [1.0, 1e21, 1e20, 1e-7, 0.000001, -0, 9007199254740993, 0x1fffffffffffff, .5, 5., 1e400]}\n",
		want: `[{"v":[1,1e+21,100000000000000000000,1e-7,0.000001,0,9007199254740992,9007199254740991,0.5,5,"1e400"]}]`},
	{name: "what looks like a number and is none", base: "- {v: [0x, 0b2, 0o8, 0O7, 0X1, 1_0, +.5, -.5, 1e, '5', 12:30, 2001-01-01, .iNF]}\n",
		want: `[{"v":["0x","0b2","0o8","0O7","0X1","1_0","+.5","-.5","1e","5","12:30","2001-01-01",".iNF"]}]`},
	{name: "numbers that JSON lacks", base: "- {v: [.inf, -.INF, +.Inf, .nan, .NaN, .NAN]}\n",
		want: `[{"v":["Infinity","-Infinity","Infinity","NaN","NaN","NaN"]}]`},
	{name: "words", base: "- {v: [True, FALSE, tRUE, Null, nULL, ~, Yes, y, off, '', ' a ']}\n",
		want: `[{"v":[true,false,"tRUE",null,"nULL",null,"Yes","y","off",""," a "]}]`},
	{name: "signs and bases", base: "- {v: [+0x1F, -0b11, +0o17, -017, +12]}\n", want: `[{"v":[31,-3,15,-17,12]}]`},
	{name: "keys are text", base: "- {1: a, true: b, ~: c, 1.50: d, .inf: e, <<: f, 0x10: g}\n",
		want: `[{"1":"a","true":"b","null":"c","1.5":"d","Infinity":"e","<<":"f","16":"g"}]`},
	{name: "keys that become equal text are double", base: "- {1: a, 0x1: b}\n", refuse: `cordis.yml:1:10: key "1" stands twice, first on line 1`},
	{name: "a double key deep inside", base: "- a:\n    b:\n      c: 1\n      d: 2\n      c: 3\n", refuse: `cordis.yml:5:7: key "c" stands twice, first on line 3 (allowed: each key once)`},
	{name: "a question mark in a flow", base: "- {a: !!js process.env.A ?? 3, b: http://h/p?q=1, c: [d? e]}\n",
		want: `[{"a":{"__jsExpr":"process.env.A ?? 3"},"b":"http://h/p?q=1","c":["d? e"]}]`},
	{name: "JSON with its escapes", base: `[{"a":"\u00e9\/\n","b":[1,2.50,null,true]}]`, want: `[{"a":"é/\n","b":[1,2.5,null,true]}]`},
	{name: "tags on quoted scalars", base: "- {a: !!int '0x1F', b: !!null ~, c: !!js \"a b\", d: ! 5, e: !!str , f: !<tag:yaml.org,2002:str> 5}\n",
		want: `[{"a":31,"b":null,"c":{"__jsExpr":"a b"},"d":"5","e":"","f":"5"}]`},
	{name: "a version directive", base: "%YAML 1.2\n---\n- a: 1\n", want: `[{"a":1}]`},
	{name: "directives that say nothing to us", base: "# c\n%YAML  1.3 # c\r\n%FOO bar\n\n--- # c\n- a: 1\n...\n# c\n", want: `[{"a":1}]`},
	{name: "a tag directive", base: "%TAG !y! tag:yaml.org,2002:\n---\n- a: !y!str 1\n  b: !y!js x\n", want: `[{"a":"1","b":{"__jsExpr":"x"}}]`},
	{name: "a percent sign inside of a document", base: "- a: |\n    %YAML 9\n  b: x%\n", want: `[{"a":"%YAML 9\n","b":"x%"}]`},
	{name: "line ends of YAML 1.1 are characters", base: "- {a: x\u0085y, b: \"x\u2028y\", c: 'x\u2029y', \u2028: d}\n", want: "[{\"a\":\"x\u0085y\",\"b\":\"x\\u2028y\",\"c\":\"x\\u2029y\",\"\\u2028\":\"d\"}]"},
	{name: "surrogate pairs in JSON", base: `[{"a":"\ud83d\ude00 \\ud83d\\ude00","\ud83d\ude00":"\uD83D\uDE00"}]`, want: `[{"a":"😀 \\ud83d\\ude00","😀":"😀"}]`},
	{name: "escapes of other lengths", base: "- \"\\x41\\u0042\\U0001F600\\e\\0\\/\\_\"\n", want: `["AB😀\u001b\u0000/` + "\u00a0" + `"]`},
	{name: "tags on nothing", base: "- {a: !!map , b: !!seq , c: ! , d: !!str , e: !!null }\n- !!map\n- !!seq\n", want: `[{"a":{},"b":[],"c":null,"d":"","e":null},{},[]]`},
	{name: "numbers at the edge", base: "- [-0.0, 1.e3, .5e+1, 0b11, 123456789012345678901234567890, 1e-400, -1e400, !!float 7, !!int '0o17']\n",
		want: `[[0,1000,5,3,1.2345678901234568e+29,0,"-1e400",7,15]]`},
	{name: "key and value by marks", base: "- ? a\n  : b\n  ? c\n- ? |\n    k\n  : - 1\n", want: `[{"a":"b","c":null},{"k\n":[1]}]`},
	{name: "chomping", base: "- |-\n  a\n\n- |+\n  a\n\n- |\n  a\n\n- >\n  a\n  b\n\n   c\n- >2-\n    a\n  b\n", want: `["a","a\n\n","a\n","a b\n\n c\n","  a\nb"]`},
	{name: "plain text over several lines", base: "- a\n  b\n\n  c # d\n- x#y\n- {k: a\n  b}\n", want: `["a b\nc","x#y",{"k":"a b"}]`},
	{name: "marks inside of text", base: "- a:b\n- -a\n- ?a\n- :a\n- [a,b]\n- [a, b,]\n- {a, b: }\n- [x: 1]\n- \"it's\"\n- 'it''s'\n", want: `["a:b","-a","?a",":a",["a","b"],["a","b"],{"a":null,"b":null},[{"x":1}],"it's","it's"]`},
	{name: "a merge key merges nothing", base: "- &x {a: 1}\n- {<<: *x, b: 2}\n", want: `[{"a":1},{"<<":{"a":1},"b":2}]`},
	{name: "keys that objects of JavaScript have", base: "- {constructor: 1, toString: 2}\n", want: `[{"constructor":1,"toString":2}]`},
	{name: "a block scalar that the file's end cuts off", base: "- a: |\n    x", want: `[{"a":"x\n"}]`},
	{name: "a carriage return alone ends a line", base: "- a: 1\r- b: 2\r", want: `[{"a":1},{"b":2}]`},
	{name: "our own tag is an expression", base: "- {a: !env KEY, b: !env 'KEY ?? some text', c: !env KEY ?? \"t\"}\n",
		want: `[{"a":{"__jsExpr":"process.env.KEY"},"b":{"__jsExpr":"process.env.KEY ?? \"some text\""},"c":{"__jsExpr":"process.env.KEY ?? \"t\""}}]`},
}

func TestCompose(t *testing.T) {
	for _, c := range composeCases {
		t.Run(c.name, func(t *testing.T) {
			composed, err := compose(c.base, c.patches...)
			if c.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), c.refuse) {
					t.Fatalf("got error %v, want one with %q", err, c.refuse)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := composed.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, c.warn...), warningTexts(composed)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComposeChangesNoArgument(t *testing.T) {
	base, err := ParseEntries(Layer{File: "b", Data: []byte(grp)})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := ParsePatch(Layer{File: "p", Data: []byte("- insert: [&x {id: z, group: true}]\n- {id: z, insert: [{id: y}]}\n- {id: c, config: *x}\n- {id: g, insert: [{id: w}]}\n")})
	if err != nil {
		t.Fatal(err)
	}
	var results []string
	for range 2 {
		composed, err := Compose(base, patch)
		if err != nil {
			t.Fatal(err)
		}
		got, err := composed.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, string(got))
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Errorf("composing twice differs (-first +second):\n%s", diff)
	}
}

func TestOrigins(t *testing.T) {
	composed, err := compose("- id: a\n  name: m\n  config: {x: 1}\n", "- id: zz\n- id: a\n  config:\n    x: 2\n", "# later\n- id: a\n  disabled: true\n")
	if err != nil {
		t.Fatal(err)
	}
	row := composed.Rows[0]
	got := map[string]Pos{"row": row.Pos(), "config value": row.Config().Pos()}
	for _, key := range []string{"name", "config", "disabled"} {
		pos, ok := row.Origin(key)
		if !ok {
			t.Errorf("key %q has no origin", key)
		}
		got[key] = pos
	}
	want := map[string]Pos{
		"row":          {Layer: "base", File: "cordis.yml", Line: 1, Column: 3},
		"name":         {Layer: "base", File: "cordis.yml", Line: 2, Column: 3},
		"config":       {Layer: "patch", File: "p0.yml", Line: 3, Column: 3},
		"config value": {Layer: "patch", File: "p0.yml", Line: 4, Column: 5},
		"disabled":     {Layer: "patch", File: "p1.yml", Line: 3, Column: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
	if _, ok := row.Origin("nothing"); ok {
		t.Error("a key that is not there has an origin")
	}
}

func TestWarningNamesPlaceAndSimilarIDs(t *testing.T) {
	composed, err := compose("- {id: llm-failover}\n- {id: 5}\n- {id: gateway}\n",
		"- {id: a}\n- id: llm-failovr\n  config: {}\n- {id: '5'}\n- {id: LLM-Failover, insert: [{}]}\n- {config: 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`patch: entry "a" not found (p0.yml:1:3)`,
		`patch: entry "llm-failovr" not found (p0.yml:2:3; nearest known: "llm-failover")`,
		`patch: entry "5" not found (p0.yml:4:3; nearest known: 5)`,
		`patch insert: entry "LLM-Failover" not found (p0.yml:5:3; nearest known: "llm-failover")`,
		`patch: id is required for non-insert patches (p0.yml:6:3)`,
	}
	var got []string
	for _, w := range composed.Warnings {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
