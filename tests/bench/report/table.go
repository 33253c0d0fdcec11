package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a Markdown table whose first columns are text and the others numbers.
type Table struct {
	Texts   int
	Columns []string
	Rows    [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// WriteTo writes the table.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(c)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	line(slices.Clone(t.Columns))
	b.WriteString("|" + strings.Repeat("---|", t.Texts) + strings.Repeat("--:|", len(t.Columns)-t.Texts) + "\n")
	for _, r := range t.Rows {
		line(slices.Clone(r))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// Number formats a value with three figures, whole numbers without decimals, and
// what was not measured as a dash.
func Number(v float64, ok bool) string {
	if !ok {
		return "-"
	}
	decimals := 0
	for limit := 100.0; v != math.Trunc(v) && math.Abs(v) < limit && decimals < 2; limit /= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Counts formats counts by name, the largest first.
func Counts(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("%d %s", counts[n], n)
	}
	return strings.Join(parts, ", ")
}
