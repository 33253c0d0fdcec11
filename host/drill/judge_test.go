package drill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/sim"
	"spillway/host/state/record"
	"spillway/sdk"
)

var (
	first  = sdk.Route{Provider: "a", Model: "m"}
	second = sdk.Route{Provider: "b", Model: "n"}
	third  = sdk.Route{Provider: "a", Model: "o"}
)

// answerOf is what a simulated vendor says, from one word to another.
func answerOf(vendor string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, " w%d@%s", i, vendor)
	}
	return strings.TrimSpace(b.String())
}

func TestJudge(t *testing.T) {
	attempts := func(kind sdk.AttemptKind, routes ...sdk.Route) record.Request {
		var rec record.Request
		for _, r := range routes {
			rec.Attempts = append(rec.Attempts, record.Attempt{Route: r, Kind: kind})
		}
		return rec
	}
	all := answerOf("v", 0, words)
	failed := func(code sdk.Code) heard {
		return heard{finishes: 1, failure: sdk.NewFailure(code, "test", ""), record: attempts(sdk.KindPrimary, first)}
	}
	begun := func(code sdk.Code) heard {
		h := failed(code)
		h.starts, h.text = 1, answerOf("v", 0, cutAt)
		return h
	}
	answered := heard{starts: 1, finishes: 1, text: all, record: attempts(sdk.KindFallback, first, second)}
	charged := failed(sdk.CodeInvalidRequest)
	charged.record.Attempts[0].Circuits = []sdk.Change{{Target: "a", To: sdk.CircuitOpen}}

	tests := []struct {
		name     string
		scenario string
		routes   []sdk.Route // first is the failing one
		dead     []sdk.Route
		heard    heard
		saw      Sight
		nobody   bool
		faults   []Fault
	}{
		{name: "taken over", scenario: "overloaded", routes: []sdk.Route{first, second}, heard: answered, saw: SawAnswer},
		{name: "not taken over", scenario: "overloaded", routes: []sdk.Route{first, second}, heard: failed(sdk.CodeOverloaded), saw: SawError,
			faults: []Fault{{Failing: FailSilent, Detail: "b/n"}}},
		{name: "nobody", scenario: "overloaded", routes: []sdk.Route{first}, heard: failed(sdk.CodeOverloaded), saw: SawError, nobody: true},
		{name: "nobody but the same vendor's", scenario: "billing", routes: []sdk.Route{first, third}, heard: failed(sdk.CodeQuota), saw: SawError, nobody: true},
		{name: "nobody who can", scenario: "overloaded", routes: []sdk.Route{first, second}, dead: []sdk.Route{second}, heard: failed(sdk.CodeOverloaded), saw: SawError, nobody: true},
		{name: "hangs", scenario: "silent", routes: []sdk.Route{first}, heard: heard{hung: true, took: 7 * time.Second}, saw: SawHang, nobody: true,
			faults: []Fault{{Failing: FailHang, Count: 7}}},
		{name: "truncated success", scenario: "truncated", routes: []sdk.Route{first, second}, heard: heard{starts: 1, finishes: 1, text: answerOf("v", 0, cutAt)}, saw: SawDamage,
			faults: []Fault{{Failing: FailDamage, Detail: answerOf("v", 0, cutAt)}}},
		{name: "joined", scenario: "dies-midway", routes: []sdk.Route{first, second},
			heard: heard{starts: 1, finishes: 1, text: answerOf("v", 0, cutAt) + " " + answerOf("x", cutAt, words)}, saw: SawDamage,
			faults: []Fault{{Failing: FailDamage, Detail: damage(answerOf("v", 0, cutAt) + " " + answerOf("x", cutAt, words))}}},
		{name: "without an end", scenario: "overloaded", routes: []sdk.Route{first, second}, heard: heard{starts: 1, text: all}, saw: SawDamage,
			faults: []Fault{{Failing: FailDamage, Detail: damage(all)}}},
		{name: "two beginnings", scenario: "error-in-200", routes: []sdk.Route{first, second},
			heard: heard{starts: 2, finishes: 1, text: all, record: answered.record}, saw: SawAnswer, faults: []Fault{{Failing: FailFrames, Count: 2}}},
		{name: "broken off openly", scenario: "dies-midway", routes: []sdk.Route{first, second}, heard: begun(sdk.CodeTransport), saw: SawBreak},
		{name: "broken off without need", scenario: "overloaded", routes: []sdk.Route{first, second}, heard: begun(sdk.CodeServer), saw: SawBreak,
			faults: []Fault{{Failing: FailUnclean}}},
		{name: "resumed", scenario: "dies-midway", routes: []sdk.Route{first, second},
			heard: heard{starts: 1, finishes: 1, text: answerOf("v", 0, cutAt) + "\n[interrupted]\n" + answerOf("x", 0, words), record: attempts(sdk.KindResume, first, second)}, saw: SawResume},
		{name: "refused", scenario: "policy", routes: []sdk.Route{first, second}, heard: failed(sdk.CodePolicy), saw: SawError},
		{name: "a refusal taken on", scenario: "policy", routes: []sdk.Route{first, second}, heard: answered, saw: SawAnswer,
			faults: []Fault{{Failing: FailElsewhere, Detail: "b/n"}}},
		{name: "a refusal charged", scenario: "malformed", routes: []sdk.Route{first, second}, heard: charged, saw: SawError,
			faults: []Fault{{Failing: FailCharged, Detail: "a: open"}}},
		{name: "a refusal in other words", scenario: "malformed", routes: []sdk.Route{first, second}, heard: failed(sdk.CodeServer), saw: SawError,
			faults: []Fault{{Failing: FailReported, Detail: "SERVER"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chosen, err := choose([]string{tt.scenario})
			if err != nil {
				t.Fatal(err)
			}
			dead := map[sdk.Route]bool{}
			for _, r := range tt.dead {
				dead[r] = true
			}
			j := judge{
				play:  play{line: Line{Routes: tt.routes, to: host.Alias{Route: first}}, scenario: chosen[0]},
				heard: tt.heard, stage: &stage{vendors: map[string]*sim.Server{}}, dead: dead, most: maxPerVendor, faster: 1,
			}
			v := j.judge()
			if v.Saw != tt.saw || v.Nobody != tt.nobody {
				t.Errorf("saw %q, nobody %t; want %q, %t", v.Saw, v.Nobody, tt.saw, tt.nobody)
			}
			if d := cmp.Diff(tt.faults, v.Faults); d != "" {
				t.Errorf("faults (-want +got):\n%s", d)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	all, err := choose(nil)
	if err != nil || len(all) != len(Scenarios()) {
		t.Errorf("choose(nil): %d scenarios, %v; want all %d", len(all), err, len(Scenarios()))
	}
	some, err := choose([]string{"silent", "policy"})
	if err != nil || len(some) != 2 || some[0].name != "silent" || some[1].name != "policy" {
		t.Errorf("choose: got %v, %v", some, err)
	}
	if _, err := choose([]string{"silence"}); err == nil || !strings.Contains(err.Error(), "nearest known: silent") {
		t.Errorf("choose: %v, want the nearest name in it", err)
	}
}

func TestScripts(t *testing.T) {
	names := map[string]bool{}
	for _, s := range scenarios() {
		if names[s.name] || s.en == "" || s.zh == "" {
			t.Errorf("scenario %q: named twice, or without words", s.name)
		}
		names[s.name] = true
		for _, model := range []string{"", "m", "org/m:8b"} {
			if _, err := sim.Parse(s.script(model)); err != nil {
				t.Errorf("scenario %q: %v", s.name, err)
			}
		}
	}
}

// TestWords: both languages have words for everything, with the same places in
// them.
func TestWords(t *testing.T) {
	places := func(text string) []string {
		var found []string
		for _, p := range []string{"{about}", "{detail}", "{skips}", "{reason}", "{count}", "{most}"} {
			if strings.Contains(text, p) {
				found = append(found, p)
			}
		}
		return found
	}
	check := func(name string, en, zh string) {
		if en == "" || zh == "" || !slices.Equal(places(en), places(zh)) {
			t.Errorf("%s: %q and %q", name, en, zh)
		}
	}
	for _, k := range []BrokenKind{BrokenFault, BrokenModel, BrokenUnfit, BrokenUnled, BrokenNoFailover, BrokenNobody, BrokenRefused, BrokenAlone} {
		check(string(k), english.broken[k], chinese.broken[k])
	}
	for _, k := range []NoteKind{NoteAlone, NoteStrict, NoteLast, NoteSkipped} {
		check(string(k), english.notes[k], chinese.notes[k])
	}
	for _, k := range []Failing{FailNotRun, FailHang, FailSilent, FailDamage, FailUnclean, FailRepeated, FailElsewhere, FailCharged, FailImpatient, FailFrames, FailReported} {
		check(string(k), english.failings[k], chinese.failings[k])
	}
}
