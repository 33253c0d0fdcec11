package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"spillway/tests/bench/load"
	"spillway/tests/bench/report"
	"spillway/tests/bench/upstream"
	"spillway/tests/bench/usage"
)

// The values of a cold start: the time from the start of the process to the line
// that says where it listens, and to a whole answer; and what it uses then, with
// its children, once it has nothing to do.
const (
	listening = "listening_ms"
	answered  = "answered_ms"
	rssIdle   = "rss_idle_mb"
	pssIdle   = "pss_idle_mb"
)

// idleTime is how long a gateway has nothing to do before its memory is read.
const idleTime = 1500 * time.Millisecond

// startable are the gateways whose start is measured.
func (b *bench) startable() []*gateway {
	return slices.DeleteFunc(slices.Clone(b.gateways), func(g *gateway) bool { return g.start == nil || g.name == unplanned })
}

// cold starts each gateway in each round. A gateway has its folder for all of
// them, and was started there once before: what a profile's very first start does
// besides is not how it starts every day.
func (b *bench) cold(ctx context.Context, gateways []*gateway) error {
	fmt.Fprintf(os.Stderr, "%s: from the start of the process to the first answer\n", coldStart)
	if err := b.vendors.Behave(healthy(upstream.Behaviour{Bytes: 1 << 10})); err != nil {
		return err
	}
	folders := map[string]string{}
	for _, g := range gateways {
		dir, err := os.MkdirTemp(b.temp, "cold-")
		if err != nil {
			return err
		}
		folders[g.name] = dir
		_, p, err := g.run(ctx, dir, "")
		if err != nil {
			return err
		}
		p.stop()
	}
	for round := range b.rounds {
		for i := range gateways {
			g := gateways[(i+round)%len(gateways)]
			c, err := b.coldCell(ctx, g, folders[g.name], round+1)
			if err != nil {
				return err
			}
			b.add(c, fmt.Sprintf("listens after %.0f ms, answered after %.0f ms, idle %.1f MB", c.Values[listening], c.Values[answered], c.Values[rssIdle]))
		}
	}
	return nil
}

func (b *bench) coldCell(ctx context.Context, g *gateway, dir string, round int) (report.Cell, error) {
	b.quiet(ctx)
	target, p, err := g.run(ctx, dir, "")
	if err != nil {
		return report.Cell{}, err
	}
	defer p.stop()
	first := load.Run(ctx, target, load.Plan{Bytes: 1 << 10, Callers: 1, Requests: 1, Limit: goodTime, Timeout: goodTime})
	took := time.Since(p.began)
	if first.Outcomes[load.OK] != 1 {
		return report.Cell{}, fmt.Errorf("%s: the first answer: %v", g.name, first.Said)
	}
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return report.Cell{}, ctx.Err()
	}
	tree := usage.Tree(p.pid)
	return report.Cell{Scenario: coldStart, Gateway: g.name, Round: round, Requests: 1, Values: map[string]float64{
		listening: ms(p.listening), answered: ms(took), rssIdle: mb(usage.Of(tree).RSS), pssIdle: mb(usage.PSS(tree)),
	}}, nil
}
