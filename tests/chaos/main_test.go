package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"spillway/host/state/statetest/machine"
	"spillway/tests/internal/rig"
)

var (
	seed     = flag.Uint64("chaos.seed", 0, "of the adversary and the calls; 0: another one each time")
	calls    = flag.Int64("chaos.calls", 4000, "how many calls are made")
	callers  = flag.Int("chaos.callers", 32, "how many are made at once")
	rate     = flag.Float64("chaos.rate", 0, "calls a second at most; 0: as many as go")
	limit    = flag.Duration("chaos.for", time.Minute, "when the run ends even if not all calls are made; 0: never")
	streamed = flag.Float64("chaos.streamed", 0.4, "share of the calls that are streams")
	kills    = flag.Int64("chaos.kills", 0, "how often the plugin is killed; 0: once in 1 000 calls")
	swaps    = flag.Int64("chaos.swaps", 0, "how often its binary is replaced; 0: once in 5 000 calls")
	saves    = flag.Int64("chaos.saves", 0, "how many bad saves of the profile there are; 0: one in 5 000 calls")
	replay   = flag.String("chaos.schedule", "", "file with a schedule to play, as a run with findings writes it")
	shrink   = flag.Int("chaos.shrink", 0, "how many further runs may look for a smaller schedule that finds something")
	folder   = flag.String("chaos.log", "", "folder for what serve logs and for schedules; default: a temporary one, which is kept")
	soak     = flag.Duration("chaos.soak", 0, "TestSoak: for how long; 0: not at all")
)

// last is the line with which the program ends.
var last string

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	rig.Remove()
	if last != "" {
		fmt.Println(last)
	}
	os.Exit(code)
}

// TestChaos makes a run. If it finds something it writes the schedule down, and
// looks for a smaller one.
func TestChaos(t *testing.T) {
	if *soak > 0 {
		return // it is TestSoak's turn
	}
	machine.Need(t, "redis-server", "redis-server")
	if !isolated(t) {
		return
	}
	s := wanted(t)
	fmt.Printf("chaos: seed %d, %d calls, %d events\n", s.Seed, s.Calls, len(s.Events))
	o := options{schedule: s, race: rig.Race, callers: *callers, rate: *rate, limit: *limit, folder: logFolder(t, *folder)}
	var r *run
	t.Run("run", func(t *testing.T) { r = play(t, o) })
	last = r.line()
	if len(r.found) == 0 {
		return
	}
	t.Errorf("%d findings", len(r.found))
	path := filepath.Join(o.folder, fmt.Sprintf("schedule-%d.json", s.Seed))
	if err := s.write(path); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("chaos: schedule in %s; play it with -chaos.schedule\n", path)
	smaller(t, o, r.first())
}

// wanted is the schedule that the flags ask for.
func wanted(t *testing.T) schedule {
	t.Helper()
	if *replay != "" {
		s, err := readSchedule(*replay)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if *seed == 0 {
		*seed = rand.Uint64N(1 << 32)
	}
	in := func(n, per, least int64) int64 {
		if n > 0 {
			return n
		}
		return max(least, *calls/per)
	}
	return newSchedule(*seed, *calls, *streamed, rates{kills: in(*kills, 1000, 6), swaps: in(*swaps, 5000, 3), saves: in(*saves, 5000, 6)})
}

// smaller looks for a smaller schedule that finds something, too, and writes it
// down.
func smaller(t *testing.T, o options, first int64) {
	if *shrink == 0 {
		return
	}
	smallest := shrunk(o.schedule.until(first), *shrink, func(part schedule) (first int64, found bool) {
		o.schedule = part
		var r *run
		t.Run(fmt.Sprintf("part of %d events", len(part.Events)), func(t *testing.T) { r = play(t, o) })
		if len(r.found) == 0 {
			return 0, false
		}
		return r.first(), true
	})
	path := filepath.Join(o.folder, fmt.Sprintf("schedule-%d-smallest.json", o.Seed))
	if err := smallest.write(path); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("chaos: the smallest schedule has %d events: %s\n", len(smallest.Events), path)
}
