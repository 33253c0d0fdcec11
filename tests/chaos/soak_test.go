package chaos

import (
	"bufio"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/tests/internal/rig"
)

// TestSoak runs at half load, with vendors that fail and callers that leave and
// nothing else, and looks whether the host or the plugin grows.
//
// A sample a second would be noise: what a process holds goes up and down with the
// collector and with bursts of failures. So the run is cut into thirds: the first is
// for pools, caches and the store's pages to fill, and the medians of the other two
// are compared. A median ignores bursts, and a leak of 2 % a third moves it.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		return // see "make soak"
	}
	if !isolated(t) {
		return
	}
	s := wanted(t)
	s.Calls = int64(*rate * soak.Seconds())
	s = newSchedule(s.Seed, s.Calls, s.Streamed, rates{})
	s.Events = slices.DeleteFunc(s.Events, func(e event) bool { return e.Kind != vendorFails })
	o := options{schedule: s, race: rig.Race, callers: *callers, rate: *rate, limit: *soak, folder: logFolder(t, *folder), oneHost: true}
	fmt.Printf("soak: seed %d, %s, %.0f calls a second\n", s.Seed, *soak, *rate)
	r := play(t, o)
	var grown []string
	last, grown = growth(r.samples)
	for _, g := range grown {
		r.report(corrupt, "%s", g)
	}
	if len(r.found) > 0 {
		t.Errorf("%d findings", len(r.found))
	}
}

// sample is what the processes hold.
type sample map[string]float64

// sampleEvery makes some hundreds of samples in half an hour.
const sampleEvery = 2 * time.Second

// sampled samples until done is closed.
func (r *run) sampled(done <-chan struct{}) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		s := sample{}
		s.process("host", r.cmd.Process.Pid)
		if p, ok := r.plugin("failover"); ok {
			if pid, err := strconv.Atoi(p.PID); err == nil {
				s.process("plugin", pid)
			}
		}
		s.metrics(r.url)
		r.mu.Lock()
		r.samples = append(r.samples, s)
		r.mu.Unlock()
	}
}

// process reads what the system says of a process.
func (s sample) process(name string, pid int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if status, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
		for line := range strings.Lines(string(status)) {
			for field, what := range map[string]string{"VmRSS:": "memory_kb", "Threads:": "threads"} {
				if rest, ok := strings.CutPrefix(line, field); ok {
					s.put(name+" "+what, strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
				}
			}
		}
	}
	if fds, err := os.ReadDir(filepath.Join(dir, "fd")); err == nil {
		s[name+" descriptors"] = float64(len(fds))
	}
}

// metrics reads what the host says of its own runtime, where it does.
func (s sample) metrics(url string) {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name == "go_goroutines" || name == "go_memstats_heap_inuse_bytes" {
			s.put("host "+name, value)
		}
	}
}

func (s sample) put(name, value string) {
	if v, err := strconv.ParseFloat(value, 64); err == nil {
		s[name] = v
	}
}

const (
	growthShare = 0.02
	// growthFew is what a count may differ by: one connection in a pool is no growth.
	growthFew = 4
)

// growth compares the medians of the last two thirds. line says how much each number
// has grown; grown are those that did by more than a fiftieth.
func growth(samples []sample) (line string, grown []string) {
	third := len(samples) / 3
	if third == 0 {
		return "soak: no verdict", []string{fmt.Sprintf("%d samples are too few", len(samples))}
	}
	names := map[string]bool{}
	for _, s := range samples {
		for name := range s {
			names[name] = true
		}
	}
	var b strings.Builder
	b.WriteString("soak:")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, is := median(samples[third:2*third], name), median(samples[2*third:], name)
		fmt.Fprintf(&b, " %s %.0f -> %.0f;", name, was, is)
		if is > was*(1+growthShare) && is > was+growthFew {
			grown = append(grown, fmt.Sprintf("%s has grown from %.0f to %.0f", name, was, is))
		}
	}
	return strings.TrimSuffix(b.String(), ";"), grown
}

func median(samples []sample, name string) float64 {
	var all []float64
	for _, s := range samples {
		if v, ok := s[name]; ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
