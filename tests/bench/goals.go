package main

import (
	"strings"

	"spillway/tests/bench/load"
	"spillway/tests/bench/report"
)

// A measure is a figure of a gateway in what was measured; ok is false if it was
// not.
type measure func(c report.Cells, gateway string) (v float64, ok bool)

// median is a value's median.
func median(scenario, value string) measure {
	return func(c report.Cells, g string) (float64, bool) {
		return c.Median(report.Figure{Scenario: scenario, Gateway: g, Value: value})
	}
}

// compared is a value beside another gateway's of the same round.
func compared(scenario, value, with string, compare func(a, b float64) float64) measure {
	return func(c report.Cells, g string) (float64, bool) {
		return c.Compare(report.Figure{Scenario: scenario, Gateway: g, Value: value},
			report.Figure{Scenario: scenario, Gateway: with, Value: value}, compare)
	}
}

// within is a value beside another one of the same gateway and round.
func within(scenario, value, scenario2, value2 string, compare func(a, b float64) float64) measure {
	return func(c report.Cells, g string) (float64, bool) {
		return c.Compare(report.Figure{Scenario: scenario, Gateway: g, Value: value},
			report.Figure{Scenario: scenario2, Gateway: g, Value: value2}, compare)
	}
}

// largest is a measure in that of the scenarios where it is largest.
func largest(scenarios []string, of func(scenario string) measure) measure {
	return func(c report.Cells, g string) (most float64, ok bool) {
		for _, s := range scenarios {
			if v, measured := of(s)(c, g); measured {
				most, ok = max(most, v), true
			}
		}
		return most, ok
	}
}

// worst is a value's largest in any round of the scenarios.
func worst(value string, scenarios ...string) measure {
	return largest(scenarios, func(s string) measure {
		return func(c report.Cells, g string) (float64, bool) {
			return c.Max(report.Figure{Scenario: s, Gateway: g, Value: value})
		}
	})
}

// The figures by which gateways are compared. An event's CPU is that of streams
// without gap, its share of the request in it: with gaps it is mostly the kernel's,
// for each event wakes three processes. Memory is above that of the cell's start:
// gateways of ours are new then, others have a past.
var (
	addedP50   = compared(whole1, p50, direct, report.Less)
	floorRatio = compared(whole16, perSecond, floor, report.Ratio)
	cpuOfCall  = median(whole16, cpuRequest)
	cpuOfEvent = median(burst16, cpuEvent)
	memory500  = within(paced500, rssPeak, paced500, rssStart, report.Less)
)

// goal is a bound that a gateway of ours is to keep.
type goal struct {
	what    string
	gateway string
	got     measure
	bound   float64
	atLeast bool // else at most
}

func (g *goal) met(v float64) bool {
	if g.atLeast {
		return v >= g.bound
	}
	return v <= g.bound
}

// goals are what the project holds itself to. Their numbers come from other
// gateways under the same loads on two cores: the best of them, or better.
func goals() []goal {
	all := []goal{
		{what: "added p50, 1 KB, one caller, ms", gateway: failover, got: addedP50, bound: .45},
		{what: "added p50, 1 KB, one caller, ms", gateway: unplanned, got: addedP50, bound: .6},
		{what: "throughput of the floor's, 16 at once", gateway: failover, got: floorRatio, bound: .9, atLeast: true},
		{what: "throughput of the floor's, 16 at once", gateway: unplanned, got: floorRatio, bound: .6, atLeast: true},
		{what: "CPU a request, us", gateway: failover, got: cpuOfCall, bound: 350},
		{what: "CPU an event, us", gateway: failover, got: cpuOfEvent, bound: 8},
		{what: "event delay p99, 100 streams, ms", gateway: failover, got: median(paced100, delayP99), bound: 9},
		{what: "event delay p99, 500 streams, ms", gateway: failover, got: median(paced500, delayP99), bound: 105},
		{what: "memory above idle at 500 streams, MB", gateway: failover, got: memory500, bound: 50},
		{what: "memory an idle stream, KB", gateway: failover, got: median(idle10000, streamKB), bound: 64},
		{what: "idle streams that were lost", gateway: failover, got: worst(notServed, idle10000), bound: 0},
		{what: "idle memory, host and plugin, MB", gateway: failover, got: median(coldStart, rssIdle), bound: 45},
		{what: "start to listening, ms", gateway: failover, got: median(coldStart, listening), bound: 80},
	}
	var kinds, atOnce []string
	for _, d := range dead {
		kinds = append(kinds, d.name)
		if !d.again {
			atOnce = append(atOnce, d.name)
		}
		all = append(all, goal{what: d.title + ": requests that reach the dead vendor", gateway: failover, got: worst(reachedDead, d.name), bound: 12})
	}
	return append(all,
		goal{what: "a failure to the next vendor's request, ms", gateway: failover, bound: 2, got: median(tooLong, switchP50)},
		goal{what: "the first failure of all, which four callers meet, to the next vendor's request, ms", gateway: failover, bound: 2,
			got: largest(atOnce, func(s string) measure { return median(s, switchP50) })},
		goal{what: "caller to the next vendor's request, once learned, ms", gateway: failover, bound: 2,
			got: largest(kinds, func(s string) measure { return median(s, arrivalP50) })},
		goal{what: "first content once learned, of plain", gateway: failover, bound: 1.3,
			got: largest(kinds, func(s string) measure { return within(s, firstP50, learnPlain, firstP50, report.Ratio) })},
		goal{what: "requests not served while a vendor is dead", gateway: failover, got: worst(notServed, append(kinds, tooLong, silent)...), bound: 0},
		goal{what: "silent vendor: longest wait, first-content limits", gateway: failover, got: waits, bound: 2.2},
		goal{what: "silent vendor: requests that waited, 4 at a time", gateway: failover, got: worst(waited, silent), bound: 8},
		goal{what: "broken answers that claim to be whole", gateway: failover, got: claimed, bound: 0},
		goal{what: "a healthy decision of the brain, ns", gateway: healthyBrain, got: median(goBench, "ns/op"), bound: 1000},
		goal{what: "a healthy decision of the brain, allocations", gateway: healthyBrain, got: worst("allocs/op", goBench), bound: 0},
	)
}

// healthyBrain is the benchmark of a healthy decision of the brain.
const healthyBrain = "BenchmarkHealthyStart/conversation"

// waits is how many limits the unluckiest request waited while a vendor was silent.
func waits(c report.Cells, g string) (float64, bool) {
	v, ok := worst(firstMax, silent)(c, g)
	return v / ms(silenceLimit), ok
}

// claimed counts answers that are wrong and do not say so, in all scenarios.
func claimed(c report.Cells, g string) (n float64, ok bool) {
	for _, s := range c.Scenarios() {
		outcomes := c.Outcomes(s, g)
		ok = ok || len(outcomes) > 0
		for _, o := range []load.Outcome{load.ClaimedEnd, load.TwoVendors, load.OutOfOrder, load.Cut, load.Unfinished} {
			n += float64(outcomes[string(o)])
		}
	}
	return n, ok
}

// goalTable says of each goal whether it is met.
func goalTable(c report.Cells) *report.Table {
	t := &report.Table{Texts: 2, Columns: []string{"goal", "gateway", "bound", "measured", "met"}}
	for _, g := range goals() {
		v, ok := g.got(c, g.gateway)
		verdict := "not measured"
		switch {
		case ok && g.met(v):
			verdict = "yes"
		case ok:
			verdict = "**no**"
		}
		bound := "≤ "
		if g.atLeast {
			bound = "≥ "
		}
		t.Add(g.what, strings.TrimPrefix(g.gateway, "Benchmark"), bound+report.Number(g.bound, true), report.Number(v, ok), verdict)
	}
	return t
}
