package brain

import (
	"fmt"
	"math"
	"strconv"

	"spillway/sdk"
)

// Gates are what another model must have shown, measured on a file, before it may
// stand in. A share of 0 demands nothing.
type Gates struct {
	Eval        string  // the file
	TaskSuccess float64 // the least share of tasks done, of 1
	SchemaValid float64 // the least share of answers by their schema, of 1
}

// measured is what was measured, by file and route.
type measured map[gate]sdk.Measurement

type gate struct {
	eval  string
	route sdk.Route
}

// maxMeasured bounds the memory for measurements: what comes after is not taken
// in, and so does not count.
const maxMeasured = 4096

// Measured takes in a measurement; a later one of the same file and route takes the
// place of an earlier one. It holds for requests that are looking for a candidate
// now, too.
func (b *Brain) Measured(m sdk.Measurement) {
	g := gate{m.Eval, m.Route}
	old, known := b.measured[g]
	if known && old.At.After(m.At) || !known && len(b.measured) >= maxMeasured {
		return
	}
	b.measured[g] = m
}

// lack is why r has not shown what g demands, "" if it has.
func (g *Gates) lack(known measured, r sdk.Route) string {
	if g == nil {
		return ""
	}
	m, ok := known[gate{g.Eval, r}]
	switch {
	case !ok, m.Tasks == 0, g.SchemaValid > 0 && m.Schemas == 0:
		return fmt.Sprintf("not measured on %s", g.Eval)
	case m.TaskSuccess < g.TaskSuccess:
		return fmt.Sprintf("task success %s on %s, %s wanted", share(m.TaskSuccess), g.Eval, share(g.TaskSuccess))
	case m.SchemaValid < g.SchemaValid:
		return fmt.Sprintf("schema valid %s on %s, %s wanted", share(m.SchemaValid), g.Eval, share(g.SchemaValid))
	}
	return ""
}

// share writes a share of 1, rounded down: what is not enough must not look so.
func share(v float64) string {
	return strconv.FormatFloat(math.Floor(v*1000)/1000, 'f', -1, 64)
}
