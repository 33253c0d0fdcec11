package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"spillway/tests/bench/report"
	"spillway/tests/bench/upstream"
	"spillway/tests/bench/usage"
)

const (
	// maxForeign is the share of the machine that other programs may use during a
	// cell. More, and it is measured again.
	maxForeign = 0.15
	// maxTries is how often a cell is measured at most.
	maxTries = 3
	// settleTime is how long the machine is looked at before a cell.
	settleTime = 200 * time.Millisecond
)

// options are the flags.
type options struct {
	command                               string // for the record
	bin, results, gateways, vendors, only string
	short                                 bool
	rounds                                int
	patience, limit                       time.Duration
}

// wants says whether a scenario is among those that are to run. One that is named
// in full is meant alone.
func (o options) wants(name string) bool {
	if slices.Contains(names(), o.only) {
		return name == o.only
	}
	return strings.HasPrefix(name, o.only)
}

// bench is a run.
type bench struct {
	options
	out        io.Writer // gets the tables
	temp       string    // for what processes write
	vendors    *upstream.Control
	vendorsPID int
	gateways   []*gateway
	cells      report.Cells

	began      time.Time
	done, todo int // cells, for the progress
	left       int // cells that were left out for lack of time
}

// run measures what the options name and writes it down.
func run(ctx context.Context, o options) (err error) {
	if !slices.ContainsFunc(names(), o.wants) {
		return fmt.Errorf("-only: no scenario begins with %q (allowed: %s)", o.only, strings.Join(names(), ", "))
	}
	b := &bench{options: o.defaults(), out: os.Stdout, began: time.Now()}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if b.temp, err = os.MkdirTemp("", "spillway-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.temp)) }()
	others, err := readGateways(o.gateways)
	if err != nil {
		return err
	}
	var stop func()
	if b.vendors, b.vendorsPID, stop, err = startVendors(ctx, self, o.vendors); err != nil {
		return err
	}
	defer stop()
	b.gateways = append(ours(self, b.bin, b.vendors.URLs()), others...)
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.write(ctx)
}

// defaults fills in what was not said. Only a whole run is a result.
func (o options) defaults() options {
	if o.results == "" {
		o.results = filepath.Join("tests", "bench", "results")
		if o.short || o.only != "" || o.rounds != 0 {
			o.results = filepath.Join(o.results, "tmp")
		}
	}
	if o.short {
		o.patience = 0
	}
	if o.rounds == 0 {
		o.rounds = 3
		if o.short {
			o.rounds = 1
		}
	}
	return o
}

// measure runs everything that is wanted, the Go benchmarks first: the compiler
// leaves the machine warm and busy.
func (b *bench) measure(ctx context.Context) error {
	var chosen []scenario
	for _, s := range scenarios(b.short) {
		if !b.wants(s.name) {
			continue
		}
		if s.rounds == 0 || s.rounds > b.rounds {
			s.rounds = b.rounds
		}
		chosen = append(chosen, s)
		b.todo += s.rounds * len(b.taking(&s))
	}
	if b.wants(coldStart) {
		b.todo += b.rounds * len(b.startable())
	}
	if b.wants(goBench) {
		if err := b.goBenchmarks(ctx); err != nil {
			return err
		}
	}
	if b.wants(coldStart) {
		if err := b.cold(ctx, b.startable()); err != nil {
			return err
		}
	}
	for round := range b.rounds {
		for _, s := range chosen {
			if round >= s.rounds {
				continue
			}
			if round > 0 && time.Since(b.began) > b.limit {
				b.left += len(b.taking(&s))
				continue
			}
			if err := b.scenario(ctx, &s, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// taking are the gateways that take part in a scenario.
func (b *bench) taking(s *scenario) []*gateway {
	return slices.DeleteFunc(slices.Clone(b.gateways), func(g *gateway) bool {
		return !s.runs(g) || b.short && g.name == unplanned
	})
}

// scenario measures every gateway in a round, in each beginning one further.
func (b *bench) scenario(ctx context.Context, s *scenario, round int) error {
	fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, s.title)
	gateways := b.taking(s)
	for i := range gateways {
		c, err := b.calmest(ctx, s, gateways[(i+round)%len(gateways)], round+1)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		b.add(c, summary(c))
	}
	return nil
}

// calmest measures a cell, again if it was disturbed, and takes the one that was
// disturbed least.
func (b *bench) calmest(ctx context.Context, s *scenario, g *gateway, round int) (best report.Cell, err error) {
	for try := range maxTries {
		began := time.Now()
		c, err := b.cell(ctx, s, g, round)
		if err != nil {
			return best, err
		}
		if try == 0 || c.Values[foreign] < best.Values[foreign] {
			best = c
		}
		// Another try takes about as long as this one did.
		if best.Values[foreign] <= maxForeign || b.patience < time.Since(began) {
			break
		}
		b.patience -= time.Since(began)
	}
	return best, nil
}

// add keeps a cell and shows it.
func (b *bench) add(c report.Cell, line string) {
	b.cells = append(b.cells, c)
	b.done++
	fmt.Fprintf(os.Stderr, "[%3d/%d %4.0fs] %s, round %d: %s\n", b.done, b.todo, time.Since(b.began).Seconds(), c.Gateway, c.Round, line)
}

// quiet waits until other programs leave the machine alone, while there is
// patience.
func (b *bench) quiet(ctx context.Context) {
	for ctx.Err() == nil {
		busy := usage.Busy()
		time.Sleep(settleTime)
		share := float64(usage.Busy()-busy) / float64(settleTime) / float64(runtime.NumCPU())
		if share < maxForeign || b.patience < settleTime {
			return
		}
		b.patience -= settleTime
	}
}
