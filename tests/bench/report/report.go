// Package report keeps what was measured and shows it: lines of JSON with every
// cell, Markdown tables, and a plot that needs no program to be drawn.
//
// A cell is one gateway in one round of one scenario. Gateways are compared within
// a round, where the machine was the same for both, and only then over the rounds:
// so a figure is a median of differences or ratios, never one of medians.
package report

import (
	"encoding/json"
	"io"
	"maps"
	"slices"

	"spillway/tests/bench/stats"
)

// Cell is one gateway in one round of one scenario.
type Cell struct {
	Scenario string             `json:"scenario"`
	Gateway  string             `json:"gateway"`
	Round    int                `json:"round"` // from 1
	Requests int                `json:"requests,omitempty"`
	Outcomes map[string]int     `json:"outcomes,omitempty"`
	Said     map[string]string  `json:"said,omitempty"`    // by outcome, what the first such request was told
	Reached  map[string]int     `json:"reached,omitempty"` // requests that came to each vendor
	Values   map[string]float64 `json:"values"`
}

// Figure names a value of a gateway in a scenario.
type Figure struct{ Scenario, Gateway, Value string }

// Cells is everything that was measured.
type Cells []Cell

// rounds is a figure's values, by round.
func (c Cells) rounds(f Figure) map[int]float64 {
	values := map[int]float64{}
	for _, cell := range c {
		if v, ok := cell.Values[f.Value]; ok && cell.Scenario == f.Scenario && cell.Gateway == f.Gateway {
			values[cell.Round] = v
		}
	}
	return values
}

// Median is a figure's median over the rounds; ok is false if it was not measured.
func (c Cells) Median(f Figure) (v float64, ok bool) {
	values := slices.Collect(maps.Values(c.rounds(f)))
	return stats.Median(values), len(values) > 0
}

// Max is a figure's largest value of all rounds.
func (c Cells) Max(f Figure) (v float64, ok bool) {
	values := slices.Collect(maps.Values(c.rounds(f)))
	if len(values) == 0 {
		return 0, false
	}
	return slices.Max(values), true
}

// Compare is the median over the rounds of what compare makes of two figures of
// one round.
func (c Cells) Compare(f, with Figure, compare func(a, b float64) float64) (v float64, ok bool) {
	others := c.rounds(with)
	var values []float64
	for round, v := range c.rounds(f) {
		if other, ok := others[round]; ok {
			values = append(values, compare(v, other))
		}
	}
	return stats.Median(values), len(values) > 0
}

// Less is a comparison: how much more a is than b.
func Less(a, b float64) float64 { return a - b }

// Ratio is a comparison: how many times b is a.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Scenarios are the names of the scenarios, in the order in which they ran.
func (c Cells) Scenarios() []string {
	return distinct(c, func(cell Cell) string { return cell.Scenario })
}

// Gateways are the names of the gateways of a scenario; the order is that of its
// first round.
func (c Cells) Gateways(scenario string) []string {
	return distinct(c, func(cell Cell) string {
		if cell.Scenario != scenario {
			return ""
		}
		return cell.Gateway
	})
}

func distinct(cells Cells, of func(Cell) string) (names []string) {
	for _, c := range cells {
		if n := of(c); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// Outcomes sums up how requests ended in all rounds.
func (c Cells) Outcomes(scenario, gateway string) map[string]int {
	all := map[string]int{}
	for _, cell := range c {
		if cell.Scenario == scenario && cell.Gateway == gateway {
			for k, n := range cell.Outcomes {
				all[k] += n
			}
		}
	}
	return all
}

// WriteJSON writes the run, then every cell, as lines of JSON.
func WriteJSON(w io.Writer, run Run, cells Cells) error {
	lines := json.NewEncoder(w)
	if err := lines.Encode(run); err != nil {
		return err
	}
	for _, c := range cells {
		if err := lines.Encode(c); err != nil {
			return err
		}
	}
	return nil
}
