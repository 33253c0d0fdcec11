package brain

import (
	"strings"
	"testing"
	"time"

	"spillway/sdk"

	"github.com/google/go-cmp/cmp"
)

func TestTargetNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		want Target
	}{
		{"a", Target{Scope: sdk.ScopeVendor, Provider: "a"}},
		{"a/x/y#z", Target{Scope: sdk.ScopeRoute, Provider: "a", Model: "x/y#z"}},
		{"a/", Target{Scope: sdk.ScopeRoute, Provider: "a"}},
		{"a#k", Target{Scope: sdk.ScopeKey, Provider: "a", Key: "k"}},
		{"a#k/m", Target{Scope: sdk.ScopeKey, Provider: "a", Key: "k", Model: "m"}},
	} {
		got, err := ParseTarget(tt.name)
		if err != nil || got != tt.want || got.String() != tt.name {
			t.Errorf("%q: got %+v (%s), %v, want %+v", tt.name, got, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "/m", "#k", "a#", "a#/m", "a#k/"} {
		if got, err := ParseTarget(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}

func TestLoadOlderIsIgnored(t *testing.T) {
	w := newWorld()
	target := routeTarget(worldRoutes[0])
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	trip := w.b.Export(target)
	w.now = moment(time.Hour)
	s := w.start(&turn, 0)
	probe := w.b.Export(target)
	w.b.Committed(w.now, &turn)
	for name, echo := range map[string][]byte{"trip": trip, "probe": probe} {
		if c, err := w.b.Load(w.now, target, echo); c != nil || err != nil {
			t.Errorf("echo of the %s: got %+v, %v, want nothing", name, c, err)
		}
	}
	w.b.Settled(w.now, sdk.Outcome{Route: s.Route, Tag: s.Tag}, worldCat)
	if got := w.b.Snapshot(w.now); got != nil {
		t.Errorf("got %+v, want nothing", got)
	}
}

// TestLoadPermits: another process's permit is respected and its return is
// noticed; a brain's own permit does not come back with an echo.
func TestLoadPermits(t *testing.T) {
	w := newWorld()
	target := routeTarget(worldRoutes[0])
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	w.now = moment(time.Hour)
	w.start(&turn, 0)
	out := w.b.Export(target)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeAborted, nil), 0)
	back := w.b.Export(target)

	other := newWorld()
	other.now = w.now
	other.now.Mono += time.Hour
	other.b = New(other.now, *w.b.policy)
	for _, step := range []struct {
		name string
		b    *Brain
		now  Instant
		data []byte
		want reachability
	}{
		{"other's permit", other.b, other.now, out, busy},
		{"other's return", other.b, other.now, back, testable},
		{"own echo", w.b, w.now, out, testable},
	} {
		if _, err := step.b.Load(step.now, target, step.data); err != nil {
			t.Fatal(err)
		}
		if got := step.b.above(step.now, &worldCat.Providers[0], worldRoutes[0]); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
}

// TestLoadCutsDeadlines: a deadline written under a clock that ran years ahead
// keeps nobody out for years.
// TestLoadPermitThatCameBack: a predecessor's probe ends before its successor reads
// of it. The target may be tested at once.
func TestLoadPermitThatCameBack(t *testing.T) {
	target := routeTarget(worldRoutes[0])
	for name, f := range map[string]*sdk.Failure{"answered": nil, "given up": fault(sdk.CodeAborted, nil)} {
		w := newWorld()
		var turn Turn
		w.start(&turn, 0)
		w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
		w.now = moment(time.Hour)
		s := w.start(&turn, 0)
		out := w.b.Export(target)

		w.now.Mono += time.Hour // a successor's clock
		w.b = New(w.now, *w.b.policy)
		w.b.Settled(w.now, sdk.Outcome{Route: s.Route, Tag: s.Tag, Failure: f}, worldCat)
		if _, err := w.b.Load(w.now, target, out); err != nil {
			t.Fatal(err)
		}
		if got := w.start(&turn, 0); got.Route != s.Route || got.Kind != sdk.KindProbe {
			t.Errorf("%s: got %s on %s, want a probe on %s", name, got.Kind, got.Route, s.Route)
		}
	}
}

func TestLoadCutsDeadlines(t *testing.T) {
	w := newWorld()
	data := `{"v":1,"n":1,"t":1,"l":[{"n":1,"u":9999999999999},{"n":0,"u":0},{"n":0,"u":0}],"u":9999999999999,"r":9999999999999,"c":"QUOTA","s":9999999999999}`
	if _, err := w.b.Load(w.now, routeTarget(worldRoutes[0]), []byte(data)); err != nil {
		t.Fatal(err)
	}
	want := []sdk.TargetStatus{{
		Scope: sdk.ScopeRoute, Target: "a/1", State: sdk.CircuitOpen, Code: sdk.CodeQuota, Trips: 1,
		Since: w.now.Wall, Until: w.now.Wall.Add(hintProbe),
	}}
	if diff := cmp.Diff(want, w.b.Snapshot(w.now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"not JSON":         `{"v":`,
		"negative time":    `{"v":1,"u":-1}`,
		"negative count":   `{"v":1,"f":-1}`,
		"epoch from ahead": `{"v":1,"n":2}`,
		"huge epoch":       `{"v":9007199254740993}`,
		"five ladders":     `{"v":1,"l":[{"n":1,"u":1},{"n":1,"u":1},{"n":1,"u":1},{"n":1,"u":1},{"n":1,"u":1}]}`,
		"too many trips":   `{"v":1,"l":[{"n":65,"u":1},{"n":0,"u":0},{"n":0,"u":0}]}`,
		"long rule":        `{"v":1,"w":"` + strings.Repeat("x", maxWord+1) + `"}`,
		"too large":        `{"v":1}` + strings.Repeat(" ", maxRecord),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if _, err := w.b.Load(w.now, routeTarget(worldRoutes[0]), []byte(data)); err == nil {
				t.Error("got no error")
			}
			if len(w.b.order) != 0 {
				t.Error("something was loaded")
			}
		})
	}
}

// FuzzLoad: whatever the store holds, a brain goes on deciding, and what it
// exports is loaded to the same bytes.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"v":1,"n":1,"t":1,"l":[{"n":1,"u":1772366700000},{"n":0,"u":0},{"n":0,"u":0}],"c":"QUOTA","s":1772366400000}`))
	f.Add([]byte(`{"v":3,"n":2,"t":2,"f":2,"l":[{"n":0,"u":0},{"n":1,"u":1772366405000},{"n":0,"u":0}],"p":{"b":5,"n":1,"u":1772366999000},"c":"SERVER"}`))
	f.Add([]byte(`{"v":4,"n":2,"t":2,"u":1772999999000,"r":1772368200000,"o":{"b":5,"n":1},"c":"RATE_LIMIT","w":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld()
		target := routeTarget(worldRoutes[0])
		if _, err := w.b.Load(w.now, target, data); err != nil {
			return
		}
		out := w.b.Export(target)
		again := newWorld()
		if _, err := again.b.Load(again.now, target, out); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if diff := cmp.Diff(string(out), string(again.b.Export(target))); diff != "" {
			t.Errorf("(-exported +loaded)\n%s", diff)
		}
		if err := w.recover(); err != nil {
			t.Error(err)
		}
	})
}

func FuzzTag(f *testing.F) {
	f.Add("lq3k9a2b.0.5.0")
	f.Add("lq3k9a2b.-5.5.3.7.openrouter/anthropic/claude.3")
	f.Add("")
	f.Add("1.1.1.2.0.a/b")
	f.Fuzz(func(t *testing.T, tag string) {
		l, ok := parseTag(tag)
		if !ok {
			return
		}
		if again, ok := parseTag(l.tag()); !ok || again != l {
			t.Errorf("%q: got %+v, want %+v", tag, again, l)
		}
		w := newWorld()
		w.b.Settled(w.now, sdk.Outcome{Tag: tag, Route: worldRoutes[0], Failure: fault(sdk.CodeServer, nil)}, worldCat)
		if err := w.permits(w.held(), permitID{}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzTarget: what is read as a target is written as it was read. A person's
// orders name targets, and so do the store's keys.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"anthropic", "anthropic/claude", "a#k_1", "a#k_1/m/n#x", "openrouter/a/b", "a/", "#k", "a#", "a#k/", "/m", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTarget(s)
		if err != nil {
			return
		}
		if got.String() != s {
			t.Errorf("%q is written as %q", s, got)
		}
		if !got.covers(got) || !vendorTarget(got.Provider).covers(got) {
			t.Errorf("%+v is covered neither by itself nor by its vendor", got)
		}
	})
}
