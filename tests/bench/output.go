package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"spillway/tests/bench/report"
)

// The files of a result, beside the Go benchmarks' output.
const (
	cellFile  = "cells.jsonl"
	tableFile = "table.md"
	plotFile  = "plot.svg"
)

// write keeps the result and prints its tables.
func (b *bench) write(ctx context.Context) error {
	run := report.ThisRun(ctx, b.command, time.Now())
	var cells, tables, plot bytes.Buffer
	if err := report.WriteJSON(&cells, run, b.cells); err != nil {
		return err
	}
	if err := b.tables(&tables, run); err != nil {
		return err
	}
	if err := report.WritePlot(&plot, "What gateways cost: "+run.String(), b.panels()); err != nil {
		return err
	}
	if err := os.MkdirAll(b.results, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{cellFile: cells.Bytes(), tableFile: tables.Bytes(), plotFile: plot.Bytes()} {
		if err := os.WriteFile(filepath.Join(b.results, name), content, 0o644); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(b.out, "\n%s\nwritten to %s after %s\n%s\n", tables.Bytes(), b.results, time.Since(b.began).Round(time.Second), lastLine(b.cells))
	return err
}

// lastLine sums up what the gateway with the plugin costs, for programs.
func lastLine(c report.Cells) string {
	var line strings.Builder
	line.WriteString("bench:")
	for _, f := range []struct {
		name string
		got  measure
	}{
		{"added_p50_ms", addedP50}, {"floor_ratio", floorRatio}, {"cpu_us", cpuOfCall}, {"cpu_event_us", cpuOfEvent}, {"mem500_mb", memory500},
	} {
		line.WriteString(" " + f.name + " " + report.Number(f.got(c, failover)))
	}
	return line.String()
}

// tables writes what people read.
func (b *bench) tables(w io.Writer, run report.Run) error {
	fmt.Fprintf(w, "# What it costs\n\n%s. Command: `%s`, %d round(s), medians; gateways are compared within a round. %s\n\n",
		run, run.Command, b.rounds, b.quality())
	if b.short {
		fmt.Fprint(w, "A short run, to try it out: nothing to quote.\n\n")
	}
	for _, part := range []struct {
		title string
		table *report.Table
	}{
		{"", b.overview()},
		{"## When the first vendor is dead", b.learning()},
		{"## Goals", goalTable(b.cells)},
		{"## Every scenario", b.details()},
	} {
		if len(part.table.Rows) == 0 {
			continue
		}
		if part.title != "" {
			fmt.Fprintf(w, "\n%s\n\n", part.title)
		}
		if _, err := part.table.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// quality says what is wrong with the cells.
func (b *bench) quality() string {
	cells, disturbed := 0, 0
	for _, c := range b.cells {
		if v, ok := c.Values[foreign]; ok {
			cells++
			if v > maxForeign {
				disturbed++
			}
		}
	}
	text := fmt.Sprintf("In %d of %d cells other programs used more than %.0f %% of the machine.", disturbed, cells, 100*maxForeign)
	if b.left > 0 {
		text += fmt.Sprintf(" %d cells of later rounds were left out for lack of time.", b.left)
	}
	return text
}

// overview has a row for each gateway, as a README shows it.
func (b *bench) overview() *report.Table {
	t := &report.Table{Texts: 1, Columns: []string{""}}
	columns := []struct {
		title   string
		figures []measure
	}{
		{"added p50, 1 KB, ms", []measure{addedP50}},
		{"requests/s, 16 at once", []measure{median(whole16, perSecond)}},
		{"of the floor's", []measure{floorRatio}},
		{"CPU a request, us", []measure{cpuOfCall}},
		{"CPU an event, us", []measure{cpuOfEvent}},
		{"event delay p99, 100 / 500 / 1 000 streams, ms", []measure{median(paced100, delayP99), median(paced500, delayP99), median(paced1000, delayP99)}},
		{"memory idle, RSS / PSS, MB", []measure{median(coldStart, rssIdle), median(coldStart, pssIdle)}},
		{"above it at 500 streams, MB", []measure{memory500}},
		{"listens / answered after, ms", []measure{median(coldStart, listening), median(coldStart, answered)}},
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.title)
	}
	for _, g := range b.gateways {
		row, measured := []string{g.name}, false
		for _, c := range columns {
			var texts []string
			for _, f := range c.figures {
				v, ok := f(b.cells, g.name)
				texts = append(texts, report.Number(v, ok))
				measured = measured || ok
			}
			row = append(row, strings.Join(texts, " / "))
		}
		if measured {
			t.Add(row...)
		}
	}
	return t
}

// learning has a row for each way to fail and gateway.
func (b *bench) learning() *report.Table {
	t := &report.Table{Texts: 3, Columns: []string{"first vendor", "gateway", "requests", "reached it, at most", "switch, ms", "first content p50, ms", "of plain", "longest, ms"}}
	for _, s := range scenarios(b.short) {
		if !s.fails {
			continue
		}
		for _, g := range b.cells.Gateways(s.name) {
			number := func(m measure) string { return report.Number(m(b.cells, g)) }
			t.Add(s.title, g, report.Counts(b.cells.Outcomes(s.name, g)), number(worst(reachedDead, s.name)), number(median(s.name, switchP50)),
				number(median(s.name, firstP50)), number(within(s.name, firstP50, learnPlain, firstP50, report.Ratio)), number(worst(firstMax, s.name)))
		}
	}
	return t
}

// details has a row for each scenario and gateway.
func (b *bench) details() *report.Table {
	t := &report.Table{Texts: 3, Columns: []string{"scenario", "gateway", "outcomes", "requests/s", "p10, ms", "p50, ms", "p99, ms", "first content p50, ms",
		"event delay p50 / p99, ms", "CPU a request, us", "peak RSS / PSS, MB", "other programs"}}
	for _, s := range scenarios(b.short) {
		for _, g := range b.cells.Gateways(s.name) {
			number := func(value string) string { return report.Number(median(s.name, value)(b.cells, g)) }
			others, _ := median(s.name, foreign)(b.cells, g)
			t.Add(s.title, g, report.Counts(b.cells.Outcomes(s.name, g)), number(perSecond), number(p10), number(p50), number(p99), number(firstP50),
				number(delayP50)+" / "+number(delayP99), number(cpuRequest), number(rssPeak)+" / "+number(pssPeak), fmt.Sprintf("%.0f %%", 100*others))
		}
	}
	return t
}

// panels are what the plot shows.
func (b *bench) panels() (panels []report.Panel) {
	for _, p := range []struct {
		title string
		got   measure
	}{
		{"added p50, 1 KB, one caller: ms", addedP50},
		{"requests a second, 16 at once", median(whole16, perSecond)},
		{"CPU a request: us", cpuOfCall},
		{"event delay p99, 100 streams: ms", median(paced100, delayP99)},
		{"memory above idle at 500 streams: MB", memory500},
	} {
		panel := report.Panel{Title: p.title}
		for _, g := range b.gateways {
			if v, ok := p.got(b.cells, g.name); ok && (g.name != direct || v > 0) {
				panel.Bars = append(panel.Bars, report.Bar{Label: g.name, Value: v, Ours: strings.HasPrefix(g.name, plain)})
			}
		}
		if len(panel.Bars) > 0 {
			panels = append(panels, panel)
		}
	}
	return panels
}
