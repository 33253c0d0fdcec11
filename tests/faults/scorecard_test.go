package faults

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/tests/internal/caller"
)

var scorecard = flag.Bool("scorecard", false, "play the scenarios of the Failover Bench in real time and print the card")

// pace is how many times as fast as in real time a scenario is played.
type pace int

// slack is what a busy machine takes besides.
const slack = 2 * time.Second

func (p pace) of(d time.Duration) time.Duration { return d / time.Duration(p) }

// durations are the times in a script.
var durations = regexp.MustCompile(`(retry-after=)(\d+)|([=*])(\d+s)`)

// script is a script at that pace.
func (p pace) script(text string) string {
	return durations.ReplaceAllStringFunc(text, func(s string) string {
		at := strings.IndexAny(s, "=*") + 1
		unit := "s"
		if strings.HasSuffix(s, unit) {
			unit = ""
		}
		d, err := time.ParseDuration(s[at:] + unit)
		if err != nil {
			panic(err) // the expression finds nothing else
		}
		if unit == "" {
			return s[:at] + p.of(d).String()
		}
		return fmt.Sprint(s[:at], p.of(d).Seconds())
	})
}

// settings are the defaults at that pace, with the routes of the scenarios.
func (p pace) settings() settings {
	if p == 1 {
		return settings{"priority": []string{large, small}}
	}
	return scaled()
}

// grade is that of the public bench.
type grade string

const (
	passed  grade = "pass"    // rescued, and the conduct is clean
	partial grade = "partial" // rescued, but not as we mean to
	safe    grade = "safe"    // not rescued, but a bounded, clean error
	failed  grade = "fail"    // a hang, a truncated answer, or a broken rule
)

// card gathers rows.
type card struct {
	mu   sync.Mutex
	rows []*row
}

// played are the rows of TestFailoverBench, for TestMain to print.
var played card

func (c *card) add(r *row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows = append(c.rows, r)
	if *scorecard {
		fmt.Fprintf(os.Stderr, "%2d: %s %s, %s: %s\n", len(c.rows), r.id, r.dialect, cmp.Or(r.setting, "default"), r.grade)
	}
}

// print writes the card.
func (c *card) print(w io.Writer) {
	counts := map[caller.Dialect]int{}
	cells := map[string][]string{}
	slices.SortStableFunc(c.rows, func(a, b *row) int {
		return cmp.Compare(slices.Index(caller.Dialects(), a.dialect), slices.Index(caller.Dialects(), b.dialect))
	})
	for _, r := range c.rows {
		line := fmt.Sprintf("%s %-37s %-17s", r.id, r.name, cmp.Or(r.setting, "default"))
		cells[line] = append(cells[line], fmt.Sprintf("%-7s %5.1f s", r.grade, r.took.Seconds()))
		if r.grade == passed && !r.beside {
			counts[r.dialect]++
		}
	}
	fmt.Fprintf(w, "%-41s %-17s %-16s %-16s %s\n", "scenario", "setting", caller.Chat, caller.Responses, caller.Messages)
	for _, line := range slices.Sorted(maps.Keys(cells)) {
		fmt.Fprintln(w, line, strings.Join(cells[line], "  "))
	}
	fmt.Fprintf(w, "scorecard: chat %d/16 responses %d/16 messages %d/16\n", counts[caller.Chat], counts[caller.Responses], counts[caller.Messages])
}
