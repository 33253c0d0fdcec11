package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// cells are three rounds: in the second the machine was slow for both.
func cells() Cells {
	var all Cells
	for i, v := range []struct{ direct, gateway float64 }{{1, 2}, {10, 13}, {2, 4}} {
		all = append(all,
			Cell{Scenario: "s", Gateway: "direct", Round: i + 1, Values: map[string]float64{"p50": v.direct}},
			Cell{Scenario: "s", Gateway: "g", Round: i + 1, Values: map[string]float64{"p50": v.gateway}, Outcomes: map[string]int{"ok": 2, "cut": i}})
	}
	return append(all, Cell{Scenario: "t", Gateway: "direct", Round: 1, Values: map[string]float64{"p50": 9}})
}

func TestFigures(t *testing.T) {
	c := cells()
	g, direct := Figure{"s", "g", "p50"}, Figure{"s", "direct", "p50"}
	for _, tt := range []struct {
		name string
		get  func() (float64, bool)
		want float64
		ok   bool
	}{
		{"median", func() (float64, bool) { return c.Median(g) }, 4, true},
		{"max", func() (float64, bool) { return c.Max(g) }, 13, true},
		{"difference", func() (float64, bool) { return c.Compare(g, direct, Less) }, 2, true},
		{"ratio", func() (float64, bool) { return c.Compare(g, direct, Ratio) }, 2, true},
		{"only rounds that have both", func() (float64, bool) { return c.Compare(Figure{"t", "direct", "p50"}, direct, Less) }, 8, true},
		{"no such value", func() (float64, bool) { return c.Median(Figure{"s", "g", "p99"}) }, 0, false},
		{"no such gateway", func() (float64, bool) { return c.Max(Figure{"s", "h", "p50"}) }, 0, false},
		{"nothing to compare with", func() (float64, bool) { return c.Compare(g, Figure{"u", "g", "p50"}, Less) }, 0, false},
	} {
		if got, ok := tt.get(); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if d := cmp.Diff([]string{"s", "t"}, c.Scenarios()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"direct", "g"}, c.Gateways("s")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int{"ok": 6, "cut": 3}, c.Outcomes("s", "g")); d != "" {
		t.Error(d)
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	run := Run{CPU: "some", Command: "make bench"}
	if err := WriteJSON(&b, run, cells()); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(&b)
	var gotRun Run
	if err := lines.Decode(&gotRun); err != nil || gotRun != run {
		t.Errorf("got %+v, %v", gotRun, err)
	}
	var got Cells
	for lines.More() {
		var c Cell
		if err := lines.Decode(&c); err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if d := cmp.Diff(cells(), got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTable(t *testing.T) {
	table := Table{Texts: 1, Columns: []string{"", "ms"}}
	table.Add("a|b\nc", Number(0.123, true))
	table.Add("none", Number(0, false))
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	want := "|  | ms |\n|---|--:|\n| a\\|b c | 0.12 |\n| none | - |\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 12: "12", 12.001: "12.0", 0.456: "0.46", -0.456: "-0.46", 9.87: "9.87", 12.34: "12.3", 123.4: "123", 2778.4: "2778"} {
		if got := Number(v, true); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	if got := Counts(map[string]int{"cut": 1, "ok": 9, "broken": 1}); got != "9 ok, 1 broken, 1 cut" {
		t.Errorf("got %q", got)
	}
}

func TestPlot(t *testing.T) {
	var b bytes.Buffer
	err := WritePlot(&b, "what <it> costs", []Panel{
		{Title: "a & b", Bars: []Bar{{"floor", 2, false}, {"ours", 4, true}, {"less than nothing", -1, false}}},
		{Title: "nothing", Bars: []Bar{{"zero", 0, true}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"prefers-color-scheme:dark", "what &lt;it&gt; costs", `class="o" x="190" y="60" width="460.0"`, `class="p" x="190" y="38" width="230.0"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, `width="-`) || strings.Contains(text, "NaN") {
		t.Errorf("a bar that cannot be drawn:\n%s", text)
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestThisRun(t *testing.T) {
	r := ThisRun(t.Context(), "make bench", time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC))
	if r.Cores < 1 || r.Kernel == "" || r.CPU == "" || !strings.HasPrefix(r.Go, "go") || r.Date != "2026-11-30 16:00 UTC" {
		t.Errorf("got %+v", r)
	}
}
