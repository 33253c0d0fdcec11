package profile

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// environment is a Lookup over a map.
func environment(env map[string]string) Lookup {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

func TestEntries(t *testing.T) {
	env := environment(map[string]string{"ON": "yes", "EMPTY": ""})
	tests := []struct {
		name string
		base string
		want []string // id=config, or id: error
		warn []string
	}{
		{name: "order and empty configs", base: "- {id: a, name: m}\n- {id: b, name: m, config: null}\n- {id: c, name: m, config: {x: [1]}}\n",
			want: []string{`a={}`, `b={}`, `c={"x":[1]}`}},
		{name: "disabled by truthiness", base: "- {id: a, name: m, disabled: 'false'}\n- {id: b, name: m, disabled: ''}\n- {id: c, name: m, disabled: 0}\n- {id: d, name: m, disabled: {}}\n- {id: e, name: m, disabled: .nan}\n- {id: f, name: m, disabled: no}\n",
			want: []string{`b={}`, `c={}`, `e={}`}},
		{name: "disabled by the environment", base: "- {id: a, name: m, disabled: !!js process.env.ON}\n- {id: b, name: m, disabled: !env OFF}\n- {id: c, name: m, disabled: !!js 'process.env.EMPTY || true'}\n- {id: d, name: m, disabled: {__jsExpr: process.env.OFF}}\n",
			want: []string{`b={}`, `d={}`}},
		{name: "disabled by what cannot be known", base: "- {id: a, name: m, disabled: !!js 1 > 2}\n- {id: b, name: m}\n",
			want: []string{`a: cordis.yml:1:30: this expression cannot be evaluated here (allowed: ` + exprForms + `)`, `b={}`}},
		{name: "groups", base: "- id: g\n  group: true\n  config:\n    - {id: c, name: m}\n    - {id: h, group: 1, config: [{id: d, name: m}]}\n- {id: e, name: m}\n- {id: n, group: true}\n- {id: o, name: 'cordis:group', config: [{id: p, name: m}]}\n",
			want: []string{`c={}`, `d={}`, `e={}`, `p={}`}},
		{name: "a disabled group", base: "- id: g\n  group: true\n  disabled: true\n  config:\n    - {id: c, name: m}\n    - {id: h, group: 1, disabled: false, config: [{id: d, name: m}]}\n- {id: e, name: m}\n",
			want: []string{`e={}`}},
		{name: "a group without rows", base: "- {id: g, group: true, config: {k: 1}}\n",
			want: []string{`g: cordis.yml:1:32: the config of a group is a mapping (allowed: a list of rows)`}},
		{name: "the later of equal ids", base: "- {id: a, name: m, config: 1}\n- {id: b, name: m}\n- {id: g, group: 1, config: [{id: a, name: m, config: 2}]}\n",
			want: []string{`b={}`, `a=2`}, warn: []string{`duplicate id "a": the row at cordis.yml:3:30 counts instead of this one (cordis.yml:1:3)`}},
		{name: "the later of equal ids, disabled", base: "- {id: 1, name: m}\n- {id: '1', name: m, disabled: true}\n",
			warn: []string{`duplicate id "1": the row at cordis.yml:2:3 counts instead of this one (cordis.yml:1:3)`}},
		{name: "rows without id", base: "- {name: m}\n- {name: m}\n- {id: m-2, name: x}\n- {name: m}\n- {id: 0, name: q}\n",
			want: []string{`m={}`, `m-3={}`, `m-2={}`, `m-4={}`, `q={}`}},
		{name: "no module", base: "- {id: a}\n- {id: b, name: 5}\n- {id: c, name: !!js \"'x'\"}\n- {id: d, name: ''}\n",
			want: []string{
				`a: cordis.yml:1:3: no module: there is no name (allowed: the name of a built-in module or of a file in plugins/)`,
				`b: cordis.yml:2:11: no module: name is 5 (allowed: the name of a built-in module or of a file in plugins/)`,
				`c: cordis.yml:3:11: no module: name is {"__jsExpr":"'x'"} (allowed: the name of a built-in module or of a file in plugins/)`,
				`d: cordis.yml:4:11: no module: name is "" (allowed: the name of a built-in module or of a file in plugins/)`,
			}},
		{name: "items that are no rows", base: "- hello\n- {id: a, name: m}\n- {id: g, group: 1, config: [5]}\n",
			want: []string{`entry: cordis.yml:1:3: an entry is text (allowed: a mapping with keys such as id, name, config)`, `a={}`,
				`entry-2: cordis.yml:3:30: an entry is a number (allowed: a mapping with keys such as id, name, config)`}},
		{name: "an expression we cannot evaluate fails its entry alone", base: "- {id: a, name: m, config: {x: [1, !!js 1 + 2]}}\n- {id: b, name: m}\n",
			want: []string{`a: cordis.yml:1:36: this expression cannot be evaluated here (allowed: ` + exprForms + `)`, `b={}`}},
		{name: "all of them are told", base: "- id: a\n  name: m\n  config:\n    x: !!js 1 + 2\n    y: {z: !!js f()}\n",
			want: []string{`a: cordis.yml:4:8: this expression cannot be evaluated here (allowed: ` + exprForms + ")\n" +
				`cordis.yml:5:12: this expression cannot be evaluated here (allowed: ` + exprForms + `)`}},
		{name: "a number that JSON lacks", base: "- {id: a, name: m, config: {x: .inf}}\n",
			want: []string{`a: cordis.yml:1:32: Infinity cannot be passed to a module (allowed: a finite number)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			composed, err := compose(tt.base)
			if err != nil {
				t.Fatal(err)
			}
			entries, warnings := composed.Entries(env)
			var got []string
			for _, e := range entries {
				if e.Err != nil {
					if _, ok := errors.AsType[*Error](e.Err); !ok {
						t.Errorf("entry %q: got %v, want an *Error inside", e.ID, e.Err)
					}
					got = append(got, e.ID+": "+e.Err.Error())
					continue
				}
				config, err := json.Marshal(e.Config)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e.ID+"="+string(config))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			var texts []string
			for _, w := range warnings {
				texts = append(texts, w.String())
			}
			if diff := cmp.Diff(tt.warn, texts); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	env := environment(map[string]string{"SET": "from-env", "EMPTY": "", "NUM": "5"})
	tests := []struct {
		config string
		want   string // "" for an error
		unset  []string
	}{
		{`!!js process.env.SET`, `"from-env"`, nil},
		{`!!js " process.env.SET "`, `"from-env"`, nil},
		{`!!js process.env.NUM`, `"5"`, nil},
		{`!!js process.env.SET ?? "d"`, `"from-env"`, nil},
		{`!!js process.env.NO ?? "d"`, `"d"`, nil},
		{`!!js process.env.NO??'d e'`, `"d e"`, nil},
		{`!!js process.env.NO ?? ""`, `""`, nil},
		{`!!js process.env.NO || 3080`, `3080`, nil},
		{`!!js process.env.NO ?? true`, `true`, nil},
		{`!!js process.env.NO ?? "a\"b"`, `"a\"b"`, nil},
		{`!!js process.env.EMPTY ?? "d"`, `""`, nil},
		{`!!js process.env.EMPTY || "d"`, `"d"`, nil},
		{`!!js process.env.EMPTY`, `""`, nil},
		{`!!js process.env.NO`, `{}`, []string{"NO"}},
		{`{x: !!js process.env.NO, y: 1}`, `{"y":1}`, []string{"NO"}},
		{`[!!js process.env.NO, !env NO2]`, `[null,null]`, []string{"NO", "NO2"}},
		{`{v: {__jsExpr: process.env.SET, other: 1}}`, `{"v":"from-env"}`, nil},
		{`!env SET`, `"from-env"`, nil},
		{`!env NO ?? some text`, `"some text"`, nil},
		{`!env 'NO ?? "quoted"'`, `"quoted"`, nil},
		{`!env NO ?? 3080`, `"3080"`, nil},
		{`!env NO ??`, `""`, nil},
		{`!env NO`, `{}`, []string{"NO"}},
		{`{plain: process.env.SET, price: $HOME}`, `{"plain":"process.env.SET","price":"$HOME"}`, nil},
		{`!!js 1 + 2`, ``, nil},
		{`!!js undefined`, ``, nil},
		{`!!js process.env`, ``, nil},
		{`!!js process.env.A.b`, ``, nil},
		{`!!js process.env.A ?? process.env.B`, ``, nil},
		{`!!js process.env.A ?? "x" + "y"`, ``, nil},
		{`!!js process.env.A ?? 'it\'s'`, ``, nil},
		{`!!js process.env.A ?? [1]`, ``, nil},
		{`!!js process.env.A &&  "x"`, ``, nil},
		{`!!js "process.env.A ??"`, ``, nil},
		{`!!js ""`, ``, nil},
		{`{v: {__jsExpr: 5}}`, ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.config, func(t *testing.T) {
			composed, err := compose("- id: a\n  config: " + tt.config + "\n")
			if err != nil {
				t.Fatal(err)
			}
			before, _ := composed.MarshalJSON()
			config, unset, err := composed.Rows[0].Resolve(env)
			if tt.want == "" {
				if err == nil || !strings.HasPrefix(err.Error(), "cordis.yml:2:") {
					t.Errorf("got error %v, want one with file and line", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := config.code(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if diff := cmp.Diff(tt.unset, unset); diff != "" {
				t.Errorf("unset (-want +got):\n%s", diff)
			}
			if after, _ := composed.MarshalJSON(); string(after) != string(before) {
				t.Errorf("the row changed from %s to %s", before, after)
			}
		})
	}
}

// Many rows of one name must not make naming them slow.
func TestEntriesWithoutID(t *testing.T) {
	composed, err := compose(strings.Repeat("- {name: m}\n", 5_000))
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := composed.Entries(environment(nil))
	ids := make(map[string]bool)
	for _, e := range entries {
		ids[e.ID] = true
	}
	if len(ids) != 5_000 {
		t.Errorf("got %d different ids of %d entries, want 5000", len(ids), len(entries))
	}
}
