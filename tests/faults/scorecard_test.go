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

func (p pace) of(d time.Duration) time.Duration { return d / time.Duration(p) }

// slack is what a busy machine may take besides.
const slack = 5 * time.Second

// limit is how long something may take. On the card that is what the bench says; a
// busy machine that runs all tests is only asked not to hang.
func (p pace) limit(d time.Duration) time.Duration {
	if *scorecard {
		return d
	}
	return p.of(d) + slack
}

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
		return defaults()
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
		fmt.Fprintf(os.Stderr, "%2d: %s, %s: %s\n", len(c.rows), r.line(), r.dialect, r.grade)
	}
}

// print writes the card: a line for each form of a scenario, those that count for
// nothing marked, with the longest time to an answer.
func (c *card) print(w io.Writer) {
	counts := map[caller.Dialect]int{}
	cells := map[string]map[caller.Dialect]string{}
	for _, r := range c.rows {
		if r.grade == passed && !r.beside {
			counts[r.dialect]++
		}
		line := r.line()
		if cells[line] == nil {
			cells[line] = map[caller.Dialect]string{}
		}
		cells[line][r.dialect] = fmt.Sprintf("%-7s %5.1f s", r.grade, r.took.Seconds())
	}
	const layout = "%-60s %-17s %-17s %s\n"
	fmt.Fprintf(w, layout, "scenario (* another form, not counted)", caller.Chat, caller.Responses, caller.Messages)
	for _, line := range slices.Sorted(maps.Keys(cells)) {
		row := cells[line]
		fmt.Fprintf(w, layout, line, row[caller.Chat], row[caller.Responses], row[caller.Messages])
	}
	fmt.Fprintf(w, "scorecard: chat %d/16 responses %d/16 messages %d/16\n", counts[caller.Chat], counts[caller.Responses], counts[caller.Messages])
}

// line is a scenario as the card names it, with the setting.
func (s scenario) line() string {
	mark := " "
	if s.beside {
		mark = "*"
	}
	return fmt.Sprintf("%s%s %-37s %s", s.id, mark, s.name, cmp.Or(s.setting, "default"))
}
