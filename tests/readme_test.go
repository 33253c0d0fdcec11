package tests

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/telemetry"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var fences = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

func codeBlocks(text string) []string {
	var blocks []string
	for _, m := range fences.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1]+"\n"+m[2])
	}
	return blocks
}

// TestReadmes: both languages have the same headings, by level, and the same
// code.
func TestReadmes(t *testing.T) {
	en, zh := read(t, "../README.md"), read(t, "../README.zh.md")
	levels := func(text string) (all []string) {
		for line := range strings.Lines(fences.ReplaceAllString(text, "")) {
			if strings.HasPrefix(line, "#") {
				all = append(all, line[:strings.Index(line, " ")])
			}
		}
		return all
	}
	if d := cmp.Diff(levels(en), levels(zh)); d != "" {
		t.Errorf("headings (-README.md +README.zh.md):\n%s", d)
	}
	if d := cmp.Diff(codeBlocks(en), codeBlocks(zh)); d != "" {
		t.Errorf("code blocks (-README.md +README.zh.md):\n%s", d)
	}
	rows := func(text string) int { return strings.Count(text, "\n|") }
	if rows(en) != rows(zh) {
		t.Errorf("table rows: %d in README.md, %d in README.zh.md", rows(en), rows(zh))
	}
}

// TestReadmeMetrics: the READMEs name every metric, with its labels, and no other.
func TestReadmeMetrics(t *testing.T) {
	names := regexp.MustCompile("`([a-z_]+)`")
	want := map[string][]string{}
	for _, m := range telemetry.Metrics() {
		want[m.Prometheus()] = slices.DeleteFunc(m.PrometheusLabels(), func(l string) bool { return l == "gen_ai_operation_name" }) // one value
	}
	for _, path := range []string{"../README.md", "../README.zh.md"} {
		got := map[string][]string{}
		for line := range strings.Lines(read(t, path)) {
			cells := strings.Split(line, "|")
			if !strings.HasPrefix(line, "| `gen_ai_") && !strings.HasPrefix(line, "| `spillway_") {
				continue
			}
			labels := []string{}
			for _, m := range names.FindAllStringSubmatch(cells[2], -1) {
				labels = append(labels, m[1])
			}
			for _, m := range names.FindAllStringSubmatch(cells[1], -1) {
				got[m[1]] = labels
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-table +README):\n%s", path, d)
		}
		for _, m := range regexp.MustCompile("`(spillway\\.[a-z]+)`").FindAllStringSubmatch(read(t, path), -1) {
			if !slices.ContainsFunc(telemetry.Attributes(), func(a telemetry.Attribute) bool { return a.Name == m[1] }) {
				t.Errorf("%s: attribute %s is not in the table", path, m[1])
			}
		}
	}
}

// TestReadmeProgram: the plugin in the README is one that is built and tested.
func TestReadmeProgram(t *testing.T) {
	program := "go\n" + read(t, "plugins/shout/main.go")
	for _, b := range codeBlocks(read(t, "../README.md")) {
		if strings.HasPrefix(b, "go\n") {
			if d := cmp.Diff(program, b); d != "" {
				t.Errorf("tests/plugins/shout/main.go and README.md differ:\n%s", d)
			}
			return
		}
	}
	t.Error("README.md has no program")
}
