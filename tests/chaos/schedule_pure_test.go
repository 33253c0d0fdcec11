package chaos

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchedule: a schedule follows from its seed, survives being written down, and
// has all kinds of events, the slow faults one at a time.
func TestSchedule(t *testing.T) {
	r := rates{kills: 20, swaps: 4, saves: 4}
	s := newSchedule(7, 20_000, 0.1, r)
	if d := cmp.Diff(s, newSchedule(7, 20_000, 0.1, r)); d != "" {
		t.Errorf("two schedules of one seed:\n%s", d)
	}
	if cmp.Equal(s.Events, newSchedule(8, 20_000, 0.1, r).Events) {
		t.Error("two seeds, one schedule")
	}
	file := filepath.Join(t.TempDir(), "schedule.json")
	if err := s.write(file); err != nil {
		t.Fatal(err)
	}
	read, err := readSchedule(file)
	if d := cmp.Diff(s, read); err != nil || d != "" {
		t.Errorf("read again: %v (-want +got):\n%s", err, d)
	}
	counts := map[kind]int64{}
	slow := int64(-1) // until when a vendor is slow
	for _, e := range s.Events {
		counts[e.Kind]++
		if e.lane() == "" {
			t.Errorf("%+v is in no lane", e)
		}
		if e.Kind == vendorFails && faults[e.Fault].slow {
			if e.At <= slow {
				t.Errorf("two vendors are slow at %d", e.At)
			}
			slow = e.At + e.Calls
		}
	}
	if counts[pluginKilled] != r.kills || counts[binarySwapped] != r.swaps || counts[spoilt] != r.saves || len(counts) != 10 {
		t.Errorf("events: %v", counts)
	}
}

// TestHalves: the halves of a schedule share its events out, down to one that has
// none.
func TestHalves(t *testing.T) {
	s := newSchedule(7, 5000, 0.1, rates{kills: 5, swaps: 2, saves: 2})
	for rounds := 0; len(s.Events) > 1; rounds++ {
		halves := s.halves()
		if len(halves) != 2 || len(halves[0].Events)+len(halves[1].Events) != len(s.Events) || len(halves[0].Events) == 0 || rounds > 20 {
			t.Fatalf("%d events have halves %v", len(s.Events), halves)
		}
		s = halves[rounds%2]
	}
	if h := s.halves(); h != nil {
		t.Errorf("halves of one event: %v", h)
	}
	if s := newSchedule(7, 5000, 0.1, rates{kills: 5, swaps: 2, saves: 2}).until(1000); s.Calls != 1000 || s.Events[len(s.Events)-1].At > 1000 {
		t.Errorf("until 1000: %d calls, last event %+v", s.Calls, s.Events[len(s.Events)-1])
	}
}

// TestShrunk: the one event that makes a run find something is found, by itself and
// at its call, as far as the runs reach.
func TestShrunk(t *testing.T) {
	s := newSchedule(7, 5000, 0.1, rates{kills: 5, swaps: 2, saves: 2})
	for _, guilty := range []kind{pluginKilled, vendorFails, spoilt} {
		var all []event
		for _, e := range s.Events {
			if e.Kind == guilty {
				all = append(all, e)
			}
		}
		bad := all[len(all)/2]
		plays := 0
		find := func(part schedule) (int64, bool) {
			plays++
			return bad.At, slices.ContainsFunc(part.Events, func(e event) bool { return cmp.Equal(e, bad) })
		}
		got := shrunk(s, 100, find)
		want := schedule{Seed: s.Seed, Calls: bad.At, Streamed: s.Streamed, Events: []event{bad}}
		if d := cmp.Diff(want, got); d != "" || plays > 30 {
			t.Errorf("%s: %d runs (-want +got):\n%s", guilty, plays, d)
		}
		plays = 0
		if got := shrunk(s, 3, find); plays > 3 || !slices.ContainsFunc(got.Events, func(e event) bool { return cmp.Equal(e, bad) }) {
			t.Errorf("%s: %d runs of 3, %d events without the one", guilty, plays, len(got.Events))
		}
	}
	never := func(schedule) (int64, bool) { return 0, false }
	if got := shrunk(s, 100, never); len(got.Events) != len(s.Events) {
		t.Errorf("%d events of %d, and no half found anything", len(got.Events), len(s.Events))
	}
}
