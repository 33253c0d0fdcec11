package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/tests/bench/load"
	"spillway/tests/bench/report"
	"spillway/tests/bench/upstream"
)

// TestMain is also this program in its other roles.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == roleVendors || os.Args[1] == roleFloor) {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSmall measures a few requests with real processes, and writes the result.
func TestSmall(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else the race detector holds up every exit by a second
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{options: options{bin: t.TempDir(), results: t.TempDir(), rounds: 1, command: "make bench"}, out: io.Discard, temp: t.TempDir(), began: time.Now()}
	var stop func()
	if b.vendors, b.vendorsPID, stop, err = startVendors(t.Context(), self, "127.0.0.1:0,127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer stop()
	b.gateways = ours(self, b.bin, b.vendors.URLs())[:2] // without those that would have to be built
	s := scenario{name: whole1, title: "few", warmUp: 2, vendors: healthy(upstream.Behaviour{Bytes: 100}),
		plan: load.Plan{Bytes: 100, Callers: 2, Requests: 20, Limit: time.Minute, Timeout: time.Minute}}
	for round := range 2 {
		if err := b.scenario(t.Context(), &s, round); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.cold(t.Context(), b.startable()); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range b.cells {
		order = append(order, c.Gateway)
		if c.Scenario == whole1 && (c.Outcomes["ok"] != 20 || c.Reached["a"] != 20 || c.Values[p50] <= 0 || c.Values[arrivalP50] <= 0) {
			t.Errorf("got %+v", c)
		}
		if c.Scenario == coldStart && (c.Values[listening] <= 0 || c.Values[answered] < c.Values[listening]) {
			t.Errorf("got %+v", c)
		}
	}
	if d := cmp.Diff([]string{direct, floor, floor, direct, floor}, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	if err := b.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{cellFile: `"scenario":"whole-1"`, tableFile: "| " + floor + " |", plotFile: "</svg>"} {
		text, err := os.ReadFile(filepath.Join(b.results, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, want %q in\n%s", name, err, want, text)
		}
	}
}

// TestFloor: the floor has a request whole before the vendor sees any of it.
func TestFloor(t *testing.T) {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) {
			t.Errorf("%d bytes of %d: %v", len(body), r.ContentLength, err)
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+string(body))
	}))
	defer vendor.Close()
	to, err := url.Parse(vendor.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(newFloor(to))
	defer proxy.Close()
	for size, want := range map[int]int{0: http.StatusOK, 1000: http.StatusOK, maxRequest: http.StatusOK, maxRequest + 1: http.StatusBadRequest} {
		sent := strings.Repeat("x", size)
		// A reader of unknown length is sent in chunks.
		resp, err := http.Post(proxy.URL+"/v1/chat/completions", "text/plain", io.MultiReader(strings.NewReader(sent)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || want == http.StatusOK && string(got) != "/v1/chat/completions "+sent {
			t.Errorf("%d bytes: status %d, %v, %d bytes came back", size, resp.StatusCode, err, len(got))
		}
	}
}

func TestReadGateways(t *testing.T) {
	for _, tt := range []struct {
		name, text, fault string
		want              int
	}{
		{"two", `[{"name":"x","base_url":"http://127.0.0.1:1/v1","model":"m","headers":{"A":"b"},"pid":7,"failover":true},{"name":"y","base_url":"u"}]`, "", 2},
		{"no name", `[{"base_url":"u"}]`, "gateway 1: want a name", 0},
		{"no list", `{}`, "gateways.json", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gateways.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readGateways(path)
			if len(got) != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Fatalf("got %d gateways, %v", len(got), err)
			}
			if tt.want > 0 && (got[0].pid != 7 || !got[0].fails || got[0].target.Headers["A"] != "b" || got[1].fails) {
				t.Errorf("got %+v, %+v", got[0], got[1])
			}
		})
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, sample, ok := strings.Cut(string(readme), "```json\n[{\"name\"")
	sample, _, _ = strings.Cut(sample, "```")
	path := filepath.Join(t.TempDir(), "gateways.json")
	if err := os.WriteFile(path, []byte(`[{"name"`+sample), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readGateways(path); !ok || err != nil || len(got) != 1 || !got[0].fails {
		t.Errorf("README.md: got %v, %v", got, err)
	}
	if got, err := readGateways(""); got != nil || err != nil {
		t.Errorf("no file: got %v, %v", got, err)
	}
}

func TestScenarios(t *testing.T) {
	seen := map[string]bool{}
	for _, short := range []bool{false, true} {
		for _, s := range scenarios(short) {
			if !short && seen[s.name] {
				t.Errorf("%s: there are two", s.name)
			}
			seen[s.name] = true
			if p := s.plan; p.Requests == 0 || p.Callers == 0 || p.Limit == 0 || p.Timeout == 0 || p.Stream != (p.Chunks > 0) {
				t.Errorf("%s: a load without a bound: %+v", s.name, p)
			}
			for name, v := range s.vendors {
				if v.Mode == "" && s.plan.Stream && v.Chunks != s.plan.Chunks || v.Mode == "" && !s.plan.Stream && v.Bytes != s.plan.Bytes {
					t.Errorf("%s: vendor %s answers %+v, callers expect %+v", s.name, name, v, s.plan)
				}
			}
		}
	}
	for only, want := range map[string]int{"": len(names()), whole1: 1, "whole-": 4, "learn-429": 1, "learn-": 7, "nothing": 0} {
		n := 0
		for _, name := range names() {
			if (options{only: only}).wants(name) {
				n++
			}
		}
		if n != want {
			t.Errorf("-only %q is %d scenarios, want %d", only, n, want)
		}
	}
	if err := run(context.Background(), options{only: "nothing"}); err == nil || !strings.Contains(err.Error(), whole1) {
		t.Errorf("got %v, want what is allowed", err)
	}
}

// TestDefaults: what is not a whole run does not take the place of a result.
func TestDefaults(t *testing.T) {
	results := filepath.Join("tests", "bench", "results")
	for _, tt := range []struct {
		o       options
		results string
		rounds  int
	}{
		{options{}, results, 3},
		{options{short: true}, filepath.Join(results, "tmp"), 1},
		{options{only: whole1}, filepath.Join(results, "tmp"), 3},
		{options{rounds: 5}, filepath.Join(results, "tmp"), 5},
		{options{short: true, results: "elsewhere"}, "elsewhere", 1},
	} {
		if got := tt.o.defaults(); got.results != tt.results || got.rounds != tt.rounds {
			t.Errorf("%+v: got %d rounds into %s", tt.o, got.rounds, got.results)
		}
	}
}

// everything is cells as a whole run makes them, all of one value.
func everything(v float64) (c report.Cells) {
	values := map[string]float64{}
	for _, name := range []string{perSecond, p50, firstP50, firstMax, delayP99, cpuRequest, cpuEvent, rssStart, rssPeak, streamKB,
		arrivalP50, switchP50, notServed, reachedDead, waited, listening, answered, rssIdle, "ns/op", "allocs/op"} {
		values[name] = v
	}
	for _, s := range names() {
		for _, g := range []string{direct, floor, plain, failover, unplanned, healthyBrain} {
			c = append(c, report.Cell{Scenario: s, Gateway: g, Round: 1, Values: values, Outcomes: map[string]int{"ok": 1}})
		}
	}
	return c
}

// TestGoals: each goal names figures that a run measures, and is judged by its
// bound.
func TestGoals(t *testing.T) {
	verdicts := func(c report.Cells) (all []string) {
		for _, row := range goalTable(c).Rows {
			all = append(all, row[len(row)-1])
		}
		return all
	}
	if slices.Contains(verdicts(everything(0.5)), "not measured") {
		t.Errorf("a goal that cannot be measured:\n%v", goalTable(everything(0.5)).Rows)
	}
	if none := verdicts(nil); len(none) != len(goals()) || slices.Contains(none, "yes") {
		t.Errorf("nothing was measured, got %v", none)
	}
	for _, tt := range []struct {
		g    goal
		v    float64
		want bool
	}{
		{goal{bound: 2}, 2, true}, {goal{bound: 2}, 2.1, false},
		{goal{bound: .9, atLeast: true}, .9, true}, {goal{bound: .9, atLeast: true}, .8, false},
	} {
		if got := tt.g.met(tt.v); got != tt.want {
			t.Errorf("%v of %+v: got %v", tt.v, tt.g, got)
		}
	}
	c := append(everything(0), report.Cell{Scenario: dies, Gateway: failover, Outcomes: map[string]int{"cut": 2, "broken": 3, "claimed end": 1}})
	if n, ok := claimed(c, failover); n != 3 || !ok {
		t.Errorf("got %v wrong answers that do not say so, want 3", n)
	}
}

func TestLastLine(t *testing.T) {
	if got, want := lastLine(everything(2)), "bench: added_p50_ms 0 floor_ratio 1 cpu_us 2 cpu_event_us 2 mem500_mb 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGoCells(t *testing.T) {
	got := goCells(`goos: linux
pkg: spillway/host/sse
BenchmarkReader-2   	    5472	       192.3 ns/op	 717.73 MB/s	       4 B/op	       0 allocs/op
BenchmarkReader-2   	    5472	       190 ns/op	 717.73 MB/s	       4 B/op	       0 allocs/op
BenchmarkCall/answer=whole/plugin=none-16         	       2	    915668 ns/op
--- BENCH: BenchmarkCall
PASS
`)
	want := report.Cells{
		{Scenario: goBench, Gateway: "BenchmarkReader", Round: 1, Values: map[string]float64{"ns/op": 192.3, "MB/s": 717.73, "B/op": 4, "allocs/op": 0}},
		{Scenario: goBench, Gateway: "BenchmarkReader", Round: 2, Values: map[string]float64{"ns/op": 190, "MB/s": 717.73, "B/op": 4, "allocs/op": 0}},
		{Scenario: goBench, Gateway: "BenchmarkCall/answer=whole/plugin=none", Round: 1, Values: map[string]float64{"ns/op": 915668}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	packages, err := benchmarked(filepath.Join("..", "..", "plugin"))
	if err != nil || len(packages) < 2 {
		t.Errorf("got %v, %v", packages, err)
	}
	if _, err := benchmarked(t.TempDir()); err == nil {
		t.Error("an empty folder has benchmarks")
	}
}
