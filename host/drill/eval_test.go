package drill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/host"
	"spillway/host/sim"
	"spillway/host/story"
	"spillway/sdk"
)

func TestParseTasks(t *testing.T) {
	const ok = `{"prompt": "p", "checks": [{"contains": "x"}]}`
	tests := []struct {
		name, file string
		want       string // a part of the error, "" for none
		tasks      int
	}{
		{"one", ok, "", 1},
		{"empty lines", "\n" + ok + "\n\n" + ok + "\r\n", "", 2},
		{"everything", `{"prompt":"p","system":"s","max_tokens":5,"tools":[{"name":"t"}],"checks":[{"equals":"x"},{"regexp":"^x"},{"json_schema":{"type":"object"}},{"calls":"t"}]}`, "", 1},
		{"nothing", "\n", "no task (allowed: lines like", 0},
		{"no JSON", ok + "\nprompt", "line 2: invalid character", 0},
		{"two objects", ok + ok, "line 1: something stands behind the object", 0},
		{"no prompt", `{"checks": [{"contains": "x"}]}`, "line 1: prompt: missing", 0},
		{"no checks", `{"prompt": "p"}`, "line 1: checks: 0 (allowed: 1 to 32)", 0},
		{"another key", `{"prompt": "p", "check": []}`, `line 1: unknown field "check" (allowed: prompt, system,`, 0},
		{"another check", `{"prompt": "p", "checks": [{"like": "x"}]}`, `line 1: unknown field "like" (allowed: `, 0},
		{"two demands", `{"prompt": "p", "checks": [{"contains": "x", "equals": "y"}]}`, "line 1: checks[0]: 2 demands (allowed: one of contains,", 0},
		{"no demand", `{"prompt": "p", "checks": [{}]}`, "line 1: checks[0]: 0 demands", 0},
		{"empty text", `{"prompt": "p", "checks": [{"contains": ""}]}`, "line 1: checks[0]: an empty text", 0},
		{"no expression", `{"prompt": "p", "checks": [{"regexp": "("}]}`, "line 1: checks[0]: regexp: error parsing regexp", 0},
		{"no schema", `{"prompt": "p", "checks": [{"json_schema": {"type": 1}}]}`, "line 1: checks[0]: json_schema: ", 0},
		{"a schema elsewhere", `{"prompt": "p", "checks": [{"json_schema": {"$ref": "file:///etc/passwd"}}]}`, "line 1: checks[0]: json_schema: ", 0},
		{"another's tool", `{"prompt": "p", "tools": [{"name": "a"}], "checks": [{"calls": "b"}]}`, `line 1: checks[0]: calls: got "b" (allowed: a tool of this line: a)`, 0},
		{"too many tokens", `{"prompt": "p", "max_tokens": 99999, "checks": [{"equals": "x"}]}`, "line 1: max_tokens: got 99999 (allowed: 1 to 32768)", 0},
		{"each fault", "{}\n" + ok + "\n[]", "line 1: prompt: missing\nline 3: ", 0},
		{"too many", strings.Repeat(ok+"\n", maxTasks+1), "1001 tasks, at most 1000 are allowed", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseTasks([]byte(tt.file))
			if tt.want == "" {
				if err != nil || len(got.tasks) != tt.tasks {
					t.Errorf("got %+v, %v; want %d tasks", got, err, tt.tasks)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func FuzzParseTasks(f *testing.F) {
	f.Add([]byte(`{"prompt":"p","system":"s","max_tokens":5,"tools":[{"name":"t"}],"checks":[{"equals":"x"},{"regexp":"^x"},{"json_schema":{"type":"object"}},{"calls":"t"}]}`))
	f.Add([]byte(`{"prompt": "p", "checks": [{"contains": "x", "equals": "y"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseTasks(data)
		if (got == nil) == (err == nil) {
			t.Fatalf("got %v, %v", got, err)
		}
		if got == nil {
			return
		}
		for _, one := range got.tasks {
			for _, c := range one.checks {
				c.holds(reply{text: "{}"})
			}
		}
	})
}

func TestCheckHolds(t *testing.T) {
	const tools = `"tools": [{"name": "a"}], `
	tests := []struct {
		check string
		reply reply
		want  bool
	}{
		{`{"contains": "blue"}`, reply{text: "It is blue."}, true},
		{`{"contains": "Blue"}`, reply{text: "It is blue."}, false},
		{`{"equals": "4"}`, reply{text: " 4\n"}, true},
		{`{"equals": "4"}`, reply{text: "4."}, false},
		{`{"regexp": "(?i)^it"}`, reply{text: "It is"}, true},
		{`{"regexp": "^is"}`, reply{text: "It is"}, false},
		{`{"json_schema": {"required": ["a"]}}`, reply{text: ` {"a": 1} `}, true},
		{`{"json_schema": {"required": ["a"]}}`, reply{text: `{"b": 1}`}, false},
		{`{"json_schema": {"required": ["a"]}}`, reply{text: "here: {\"a\": 1}"}, false},
		{`{"json_schema": {"required": ["a"]}}`, reply{}, false},
		{`{"calls": "a"}`, reply{tools: []string{"b", "a"}}, true},
		{`{"calls": "a"}`, reply{text: "a"}, false},
	}
	for _, tt := range tests {
		tasks, err := parseTasks([]byte(`{"prompt": "p", ` + tools + `"checks": [` + tt.check + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := tasks.tasks[0].checks[0].holds(tt.reply); got != tt.want {
			t.Errorf("%s of %+v: got %t, want %t", tt.check, tt.reply, got, tt.want)
		}
	}
}

// TestMeasure: shares are those of the file's tasks, and a vendor's failure is no
// wrong answer.
func TestMeasure(t *testing.T) {
	s := vendors(t,
		sim.Vendor{Name: "good", Answer: sim.Answer{Text: `{"a": 1}`}},
		sim.Vendor{Name: "half", Script: "400; ok", Answer: sim.Answer{Text: `{"a": 1}`}},
		sim.Vendor{Name: "down", Script: "ok; 503", Answer: sim.Answer{Text: `{"a": 1}`}},
	)
	var base strings.Builder
	for _, v := range s.Vendors() {
		base.WriteString("- {id: " + v.Name() + ", name: provider-openai, config: {base_url: \"" + v.URL() + "/v1\", key: k, models: [m]}}\n")
	}
	rt, err := openVendors(t.Context(), folder(t, base.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	tasks, err := parseTasks([]byte(`{"prompt": "p", "checks": [{"json_schema": {"required": ["a"]}}]}
{"prompt": "p", "checks": [{"contains": "nothing of that"}]}
{"prompt": "p", "checks": [{"contains": "1"}, {"json_schema": {"required": ["b"]}}]}
{"prompt": "p", "checks": [{"regexp": "a"}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Measured{
		"good": {Measurement: sdk.Measurement{Tasks: 4, TaskSuccess: 0.5, Schemas: 2, SchemaValid: 0.5}},
		"half": {Measurement: sdk.Measurement{Tasks: 4, TaskSuccess: 0.25, Schemas: 2}},
		"down": {Measurement: sdk.Measurement{Tasks: 4, TaskSuccess: 0.25, Schemas: 2, SchemaValid: 0.5}, Unanswered: 3, Code: sdk.CodeServer},
	}
	for name, want := range want {
		want.Route, want.SHA256 = sdk.Route{Provider: name, Model: "m"}, tasks.SHA256
		asked := 0
		got := measure(t.Context(), rt, want.Route, tasks, time.Minute, func() { asked++ })
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(sdk.Measurement{}, "At"), cmpopts.IgnoreFields(Measured{}, "Message")); d != "" || asked != 4 {
			t.Errorf("%s: %d asked (-want +got):\n%s", name, asked, d)
		}
	}
}

// TestKeep: measurements are kept under the names that contracts have for the file,
// without a word of prompts and answers.
func TestKeep(t *testing.T) {
	o := folder(t, `
- {id: a, name: provider-sim, config: {models: [m]}}
- id: failover
  name: failover
  config:
    contracts:
      code: {version: 1, gates: {eval: tasks.jsonl, taskSuccess: 0.9}}
      json: {version: 1, gates: {eval: ./tasks.jsonl, schemaValid: 0.4}}
      other: {version: 1, gates: {eval: gone.jsonl, taskSuccess: 0.1}}
`)
	file := filepath.Join(o.Dir, "tasks.jsonl")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := survey(t.Context(), Options{Host: o, Faster: 1})
	if err != nil {
		t.Fatal(err)
	}
	route := sdk.Route{Provider: "a", Model: "m"}
	r := &EvalReport{Profile: "/p", File: "f", Tasks: 4, Measured: []Measured{
		{Measurement: sdk.Measurement{Route: route, Tasks: 4, TaskSuccess: 0.89996, Schemas: 2, SchemaValid: 0.5}},
		{Measurement: sdk.Measurement{Route: sdk.Route{Provider: "b", Model: "n"}, Tasks: 4}, Unanswered: 2, Code: sdk.CodeRateLimit, Message: "slow\ndown"},
	}}
	if err := s.keep(t.Context(), EvalOptions{Host: o, File: file}, r); err != nil {
		t.Fatal(err)
	}
	want := []GateVerdict{
		{Contract: "code", Route: route, TaskSuccess: 0.9},
		{Contract: "json", Route: route, OK: true, SchemaValid: 0.4},
	}
	if d := cmp.Diff(want, r.Gates); d != "" || r.Passed != 1 || r.Failed != 2 {
		t.Errorf("%d passed, %d failed; gates (-want +got):\n%s", r.Passed, r.Failed, d)
	}
	var kept []string
	for _, item := range host.Measurements(t.Context(), o)["failover"] {
		var m sdk.Measurement
		if err := json.Unmarshal(item.Data, &m); err != nil || m.Key() != item.Key || m.Route != route {
			t.Errorf("kept %s: %s (%v)", item.Key, item.Data, err)
		}
		kept = append(kept, m.Eval)
	}
	less := func(a, b string) bool { return a < b }
	if d := cmp.Diff([]string{"./tasks.jsonl", "tasks.jsonl"}, kept, cmpopts.SortSlices(less)); d != "" {
		t.Errorf("kept for (-want +got):\n%s", d)
	}
	var b strings.Builder
	if err := r.Write(&b, story.Options{}); err != nil {
		t.Fatal(err)
	}
	text := `profile /p: 4 tasks of f, for each route
  a/m: task success 0.899 (of 4), schema valid 0.5 (of 2)
  FAIL   b/n: not measured: 2 tasks met a failure of its vendor's, first RATE_LIMIT: slow down
  FAIL   contract code: a/m (wanted: task success 0.9, schema valid 0)
  ok     contract json: a/m (wanted: task success 0, schema valid 0.4)
drill: 1 passed, 2 failed
`
	if d := cmp.Diff(text, b.String()); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
}
