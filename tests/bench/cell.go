package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"spillway/tests/bench/load"
	"spillway/tests/bench/report"
	"spillway/tests/bench/stats"
	"spillway/tests/bench/upstream"
	"spillway/tests/bench/usage"
)

// The values of a cell. Times of requests are those that ended well.
const (
	perSecond   = "requests_s"
	p10         = "p10_ms"
	p50         = "p50_ms"
	p99         = "p99_ms"
	firstP50    = "first_p50_ms" // to the first content
	firstP99    = "first_p99_ms"
	firstMax    = "first_max_ms"
	delayP50    = "delay_p50_ms" // of a chunk, from the vendor to the caller
	delayP99    = "delay_p99_ms"
	cpuRequest  = "cpu_us" // of the gateway and its children, as the next five
	cpuEvent    = "cpu_event_us"
	rssStart    = "rss_start_mb"
	rssPeak     = "rss_peak_mb"
	pssPeak     = "pss_peak_mb"
	streamKB    = "stream_kb"    // memory above the start, a stream at once
	arrivalP50  = "arrival_ms"   // from the caller to the vendor that answers
	switchP50   = "switch_ms"    // from a vendor's failure to the next one's request
	notServed   = "not_served"   // requests that did not end well
	reachedDead = "reached_dead" // requests that came to the vendor that fails
	waited      = "waited"       // requests that waited for half a first-content limit
	foreign     = "foreign"      // share of the machine that other programs used
)

// cell measures one gateway once.
func (b *bench) cell(ctx context.Context, s *scenario, g *gateway, round int) (report.Cell, error) {
	dir, err := os.MkdirTemp(b.temp, "cell-")
	if err != nil {
		return report.Cell{}, err
	}
	defer os.RemoveAll(dir)
	if err := b.vendors.Behave(s.vendors); err != nil {
		return report.Cell{}, err
	}
	target, p, err := g.run(ctx, dir, s.settings)
	if err != nil {
		return report.Cell{}, err
	}
	defer p.stop()
	if s.warmUp > 0 {
		warm := s.plan
		warm.Requests, warm.Callers, warm.Rate = s.warmUp, min(s.plan.Callers, s.warmUp), 0
		load.Run(ctx, target, warm)
		if err := b.vendors.Behave(s.vendors); err != nil { // counts anew
			return report.Cell{}, err
		}
	}
	b.quiet(ctx)
	r, used, others := b.watched(ctx, target, p.pid, s.plan)
	if err := ctx.Err(); err != nil {
		return report.Cell{}, err
	}
	c := report.Cell{Scenario: s.name, Gateway: g.name, Round: round, Requests: r.Requests,
		Outcomes: map[string]int{}, Said: map[string]string{}, Reached: map[string]int{}, Values: requestValues(s, r)}
	for o, n := range r.Outcomes {
		c.Outcomes[string(o)] = n
	}
	for o, said := range r.Said {
		c.Said[string(o)] = said
	}
	seen, err := b.vendors.Seen()
	if err != nil {
		return report.Cell{}, err
	}
	vendorValues(&c, s, seen)
	if p.pid != 0 {
		processValues(c.Values, s, r, used)
	}
	c.Values[foreign] = others
	return c, nil
}

// watched runs a load, and says what the process that serves it used and which
// share of the machine everything else.
func (b *bench) watched(ctx context.Context, t load.Target, pid int, p load.Plan) (r *load.Report, used usage.Spent, others float64) {
	own := []int{os.Getpid(), b.vendorsPID}
	busy, mine := usage.Busy(), usage.Of(own).CPU
	spent := usage.Watch(pid)
	r = load.Run(ctx, t, p)
	used = spent()
	rest := usage.Busy() - busy - (usage.Of(own).CPU - mine) - used.CPU
	return r, used, max(0, rest.Seconds()/r.Wall.Seconds()/float64(runtime.NumCPU()))
}

// vendorValues are what the vendors saw.
func vendorValues(c *report.Cell, s *scenario, seen map[string]upstream.Seen) {
	for name, v := range seen {
		c.Reached[name] = v.Requests
	}
	served := seen["a"]
	if s.vendors["a"].Mode != s.vendors["b"].Mode {
		served = seen["b"]
		c.Values[reachedDead] = float64(seen["a"].Requests)
		if len(served.Switches) > 0 {
			slices.Sort(served.Switches)
			c.Values[switchP50] = ms(stats.Quantile(served.Switches, .5))
		}
	}
	c.Values[arrivalP50] = ms(served.Arrival)
}

// requestValues are what the callers saw.
func requestValues(s *scenario, r *load.Report) map[string]float64 {
	v := map[string]float64{
		perSecond: float64(r.Requests) / r.Wall.Seconds(),
		notServed: float64(r.Requests - r.Outcomes[load.OK]),
		p10:       ms(stats.Quantile(r.Took, .1)),
		p50:       ms(stats.Quantile(r.Took, .5)),
		p99:       ms(stats.Quantile(r.Took, .99)),
	}
	if s.plan.Stream {
		v[firstP50] = ms(stats.Quantile(r.First, .5))
		v[firstP99] = ms(stats.Quantile(r.First, .99))
		v[firstMax] = ms(stats.Quantile(r.First, 1))
		v[delayP50] = ms(stats.Quantile(r.Delays, .5))
		v[delayP99] = ms(stats.Quantile(r.Delays, .99))
	}
	if s.name == silent {
		at, _ := slices.BinarySearch(r.First, silenceLimit/2)
		v[waited] = float64(len(r.First) - at)
	}
	return v
}

// processValues are what the gateway used.
func processValues(v map[string]float64, s *scenario, r *load.Report, used usage.Spent) {
	v[cpuRequest] = us(used.CPU) / float64(max(1, r.Requests))
	v[rssStart], v[rssPeak] = mb(used.RSSStart), mb(used.RSSPeak)
	if used.PSSPeak > 0 {
		v[pssPeak] = mb(used.PSSPeak)
	}
	if s.plan.Stream {
		v[cpuEvent] = us(used.CPU) / float64(max(1, r.Chunks))
		v[streamKB] = float64(used.RSSPeak-used.RSSStart) / 1024 / float64(s.plan.Callers)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func mb(bytes int64) float64     { return float64(bytes) / 1e6 }

// summary is a cell as a line of progress.
func summary(c report.Cell) string {
	var line strings.Builder
	line.WriteString(report.Counts(c.Outcomes))
	for _, f := range []struct{ value, text string }{
		{perSecond, "%.0f/s"}, {p50, "p50 %.2f ms"}, {firstP50, "first %.2f ms"}, {delayP99, "delay p99 %.1f ms"},
		{cpuRequest, "%.0f us each"}, {rssPeak, "%.0f MB"}, {reachedDead, "%.0f reached the dead vendor"},
	} {
		if v, ok := c.Values[f.value]; ok {
			line.WriteString(", " + fmt.Sprintf(f.text, v))
		}
	}
	return line.String() + fmt.Sprintf("; others %.0f %%", 100*c.Values[foreign])
}
