package brain

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"spillway/sdk"

	"github.com/google/go-cmp/cmp"
)

// query is a stream asked of worldRoutes[i].
func query(now Instant, i int) Query {
	return Query{Head: worldRoutes[i], Stream: true, Began: now.Mono}
}

// start begins a request for worldRoutes[i].
func (w *world) start(t *Turn, i int) Step {
	return w.b.Start(w.now, t, query(w.now, i), worldCat, nil)
}

func TestHealthyTurnAllocatesNothing(t *testing.T) {
	for _, conversation := range []string{"", "c1"} {
		w := newWorld()
		q := query(w.now, 0)
		q.Conversation = conversation
		if n := testing.AllocsPerRun(100, func() {
			var turn Turn
			s := w.b.Start(w.now, &turn, q, worldCat, nil)
			w.b.Committed(w.now, &turn)
			w.b.Settled(w.now, sdk.Outcome{Route: s.Route, Key: s.Key, Tag: s.Tag, Stream: true, FirstContent: time.Second}, worldCat)
		}); n != 0 {
			t.Errorf("conversation %q: a healthy turn allocates %v times, want 0", conversation, n)
		}
	}
}

// BenchmarkHealthyStart is what a healthy request costs: with two keys a provider,
// with and without a conversation, to its first step and to its very end, and
// with a thousand targets that have a story, half of them of the head's vendor.
func BenchmarkHealthyStart(b *testing.B) {
	for _, tt := range []struct {
		name         string
		circuits     int
		conversation string
		whole        bool
	}{
		{"plain", 0, "", false},
		{"conversation", 0, "c1", false},
		{"to the end", 0, "c1", true},
		{"circuits=1000", 1000, "c1", false},
		{"circuits=1000 to the end", 1000, "c1", true},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := newWorld()
			for i := range tt.circuits {
				r := sdk.Route{Provider: string(rune('a' + 2*(i%2))), Model: fmt.Sprint("m", i)}
				w.b.circuit(w.now, routeTarget(r))
				w.b.circuit(w.now, limitTarget(r, "k1"))
			}
			var turn Turn
			q := query(w.now, 0)
			q.Conversation = tt.conversation
			b.ReportAllocs()
			for b.Loop() {
				s := w.b.Start(w.now, &turn, q, worldCat, nil)
				if tt.whole {
					w.b.Committed(w.now, &turn)
					w.b.Settled(w.now, sdk.Outcome{Route: s.Route, Key: s.Key, Tag: s.Tag, Stream: true, FirstContent: time.Second}, worldCat)
				}
			}
		})
	}
}

// BenchmarkOpenCircuit is what a request costs whose first vendor is known to be
// out: to the step past it, and with a thousand other targets that have a story.
func BenchmarkOpenCircuit(b *testing.B) {
	for _, circuits := range []int{0, 1000} {
		b.Run(fmt.Sprintf("circuits=%d", circuits), func(b *testing.B) {
			w := newWorld()
			for i := range circuits {
				w.b.circuit(w.now, routeTarget(sdk.Route{Provider: "c", Model: fmt.Sprint("m", i)}))
			}
			var turn Turn
			w.start(&turn, 0)
			w.b.Failed(w.now, &turn, *named(sdk.CodeQuota, sdk.ScopeRoute, 0), 0)
			b.ReportAllocs()
			for b.Loop() {
				if s := w.start(&turn, 0); s.Route == worldRoutes[0] || s.Stopped() {
					b.Fatalf("got %+v, want the next route", s)
				}
			}
		})
	}
}

// TestCallersFaultLeavesNoTrace: one bad request, also as a probe, leaves the
// stored state byte for byte as it was.
func TestCallersFaultLeavesNoTrace(t *testing.T) {
	codes := []sdk.Code{sdk.CodeInvalidRequest, sdk.CodePolicy, sdk.CodeAborted, sdk.CodeContextWindow, sdk.CodeUnknownModel, sdk.CodeNoAdapter}
	for _, code := range codes {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld()
			var turn Turn
			w.start(&turn, 0)
			w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
			w.now = moment(time.Hour)
			target := routeTarget(worldRoutes[0])
			before := w.b.Export(target)
			if s := w.start(&turn, 0); s.Kind != sdk.KindProbe {
				t.Fatalf("got %s, want a probe", s.Kind)
			}
			if bytes.Equal(before, w.b.Export(target)) {
				t.Fatal("the permit of the probe is not stored")
			}
			if s := w.b.Failed(w.now, &turn, *fault(code, nil), 0); !s.Stopped() || s.Failure.Code != code {
				t.Errorf("got %+v, want a stop with %s", s, code)
			}
			if diff := cmp.Diff(string(before), string(w.b.Export(target))); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// TestParallelFailuresAreOneStep: twenty requests that fail together move the
// ladder once (B11).
func TestParallelFailuresAreOneStep(t *testing.T) {
	for _, code := range []sdk.Code{sdk.CodeQuota, sdk.CodeRateLimit, sdk.CodeServer, sdk.CodeAuth} {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld()
			var turns [20]Turn
			for i := range turns {
				w.start(&turns[i], 0)
			}
			for i := range turns {
				w.b.Failed(w.now, &turns[i], *fault(code, nil), 0)
			}
			for _, s := range w.b.Snapshot(w.now) {
				if s.Trips+s.Failures > 1 {
					t.Errorf("%s: %d trips, %d failures, want one in all", s.Target, s.Trips, s.Failures)
				}
			}
		})
	}
}

func TestOutcomeTwiceIsOnce(t *testing.T) {
	w := newWorld()
	var turn Turn
	s := w.start(&turn, 0)
	w.b.Committed(w.now, &turn)
	o := sdk.Outcome{Route: s.Route, Tag: s.Tag, Failure: fault(sdk.CodeQuota, nil)}
	if c := w.b.Settled(w.now, o, worldCat); len(c) != 1 || c[0].To != sdk.CircuitOpen {
		t.Errorf("got %+v, want one trip", c)
	}
	if c := w.b.Settled(w.now, o, worldCat); c != nil {
		t.Errorf("the same outcome again: got %+v, want nothing", c)
	}
}

// TestReroutedAttempt: an attempt that another listener sent elsewhere is judged
// there, and the permit comes back to where it was taken.
func TestReroutedAttempt(t *testing.T) {
	w := newWorld()
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	w.now = moment(time.Hour)
	s := w.start(&turn, 0)
	got := w.b.Settled(w.now, sdk.Outcome{Route: worldRoutes[3], Tag: s.Tag, Failure: fault(sdk.CodeQuota, nil)}, worldCat)
	want := []sdk.Change{{Target: "b/2", From: sdk.CircuitClosed, To: sdk.CircuitOpen, Until: w.now.Wall.Add(time.Minute)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s := w.start(&turn, 0); s.Kind != sdk.KindProbe {
		t.Errorf("got %s, want the permit to be free again", s.Kind)
	}
}

// TestPast: a successor goes on where the lost process stopped, whether or not
// that one had still written its last charge.
func TestPast(t *testing.T) {
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("written=%v", written), func(t *testing.T) {
			old := newWorld()
			var turn Turn
			s := old.start(&turn, 0)
			past := []sdk.Attempted{{Route: s.Route, Tag: s.Tag, Kind: s.Kind, Failure: fault(sdk.CodeQuota, nil)}}
			w := newWorld()
			w.now = Instant{Mono: time.Second, Wall: epochStart.Add(time.Minute / 2)}
			w.b = New(w.now, *old.b.policy)
			if written {
				old.b.Failed(old.now, &turn, *past[0].Failure, 0)
				if _, err := w.b.Load(w.now, routeTarget(s.Route), old.b.Export(routeTarget(s.Route))); err != nil {
					t.Fatal(err)
				}
			}
			got := w.b.Start(w.now, &turn, query(w.now, 0), worldCat, past)
			if want := worldRoutes[2]; got.Route != want || got.Kind != sdk.KindFailover {
				t.Errorf("got %s %s, want failover %s", got.Kind, got.Route, want)
			}
			if s := w.b.Snapshot(w.now); len(s) != 1 || s[0].Trips != 1 {
				t.Errorf("got %+v, want one trip", s)
			}
		})
	}
}

// TestPastLostAttempt: an attempt that ended only because the plugin was lost
// uses up nothing but its place in the budget.
func TestPastLostAttempt(t *testing.T) {
	w := newWorld()
	var turn Turn
	s := w.start(&turn, 0)
	got := w.b.Start(w.now, &turn, query(w.now, 0), worldCat,
		[]sdk.Attempted{{Route: s.Route, Tag: s.Tag, Failure: sdk.NewFailure(sdk.CodePlugin, "", "")}})
	if got.Route != s.Route || got.Kind != sdk.KindPrimary {
		t.Errorf("got %s %s, want the head again", got.Kind, got.Route)
	}
}

func TestLostPermitEnds(t *testing.T) {
	w := newWorld()
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	w.now = moment(time.Hour)
	w.start(&turn, 0)
	life := contentBase + permitGrace
	for _, step := range []struct {
		after time.Duration
		want  sdk.AttemptKind
	}{{life - 1, sdk.KindFailover}, {life, sdk.KindProbe}} {
		now := moment(time.Hour + step.after)
		var other Turn
		if s := w.b.Start(now, &other, query(now, 0), worldCat, nil); s.Kind != step.want {
			t.Errorf("after %v: got %s, want %s", step.after, s.Kind, step.want)
		}
	}
}

func TestSetPolicyAsksMissingModelsAgain(t *testing.T) {
	w := newWorld()
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeModelUnavailable, nil), 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	w.b.TakeChanged()
	got := w.b.SetPolicy(w.now, *w.b.policy)
	want := []sdk.Change{{Target: "a/1", From: sdk.CircuitOpen, To: sdk.CircuitClosed}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]Target{routeTarget(worldRoutes[0])}, w.b.TakeChanged()); diff != "" {
		t.Errorf("changed (-want +got)\n%s", diff)
	}
}

// TestCircuitsAreBounded: clients choose model names, so the number of targets
// has a limit; what is open outlives what is closed.
func TestCircuitsAreBounded(t *testing.T) {
	w := newWorld()
	var turn Turn
	w.start(&turn, 0)
	w.b.Failed(w.now, &turn, *fault(sdk.CodeQuota, nil), 0)
	for i := range maxCircuits + 10 {
		w.b.circuit(w.now, routeTarget(sdk.Route{Provider: "c", Model: fmt.Sprint(i)}))
	}
	if n := len(w.b.vendors["c"].routes) + len(w.b.vendors["a"].routes); len(w.b.order) != maxCircuits || n != maxCircuits {
		t.Errorf("%d circuits, %d in order, want %d", n, len(w.b.order), maxCircuits)
	}
	if w.b.get(routeTarget(worldRoutes[0])) == nil {
		t.Error("the open circuit was forgotten")
	}
}

func TestBackoff(t *testing.T) {
	b := Budget{}.withDefaults()
	for _, tt := range []struct {
		attempts int
		rnd      float64
		want     time.Duration
	}{{1, 0, 0}, {1, 0.5, 125 * time.Millisecond}, {2, 0.5, 250 * time.Millisecond}, {9, 0.999, 3996 * time.Millisecond}} {
		if got := b.backoff(tt.attempts, tt.rnd); got != tt.want {
			t.Errorf("backoff(%d, %v): got %v, want %v", tt.attempts, tt.rnd, got, tt.want)
		}
	}
}

func TestPolicyFaults(t *testing.T) {
	p := Policy{
		FatalCodes:     []sdk.Code{sdk.CodeServer, sdk.CodeInvalidRequest, "NOPE"},
		TransientCodes: []sdk.Code{sdk.CodeLocalNetwork},
	}
	var got []string
	for _, f := range p.Faults() {
		got = append(got, f.Path+" "+f.Value)
	}
	want := []string{"fatalCodes[1] INVALID_REQUEST", "fatalCodes[2] NOPE", "transientCodes[0] LOCAL_NETWORK"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestClassOfEveryCode: settings move codes between deterministic and transient
// and never touch a caller's or local fault.
func TestClassOfEveryCode(t *testing.T) {
	all := &Policy{FatalCodes: sdk.Codes(), TransientCodes: sdk.Codes()}
	for _, c := range sdk.Codes() {
		want := c.Class()
		if vendorsFault(want) {
			want = sdk.ClassDeterministic
		}
		if got := all.class(c); got != want {
			t.Errorf("%s: got %s, want %s", c, got, want)
		}
	}
}

// TestUnsent: a request that was moved on, and whose caller has left or whose vendor
// says that the request is wrong, goes no further. What the attempt met that was to
// be ended is no fault of the target that was to follow.
func TestUnsent(t *testing.T) {
	refused := sdk.Failure{Code: sdk.CodeTransport, Cause: sdk.CauseRefused, Scope: sdk.ScopeVendor}
	wrong := sdk.Failure{Code: sdk.CodeInvalidRequest}
	given := sdk.Failure{Code: sdk.CodeAborted}
	for _, tt := range []struct {
		name  string
		f     sdk.Failure
		left  bool
		stops string
	}{
		{"given up", given, false, ""},
		{"out, too", refused, false, ""},
		{"the request is wrong", wrong, false, "caller"},
		{"the caller left", given, true, Unwaited},
		{"the caller left, and it was out", refused, true, Unwaited},
	} {
		w := newWorld()
		var moved, other Turn
		first := w.start(&moved, 0)
		w.start(&other, 0)
		w.b.Failed(w.now, &other, refused, 0)
		w.b.Committed(w.now, &other) // another vendor answers, so it is not the network
		next, ok := w.b.MoveOn(w.now, &moved)
		if !ok || next.Stopped() || next.Route == first.Route {
			t.Fatalf("not moved on: %+v", next)
		}
		s, unsent := w.b.Unsent(w.now, &moved, tt.f, tt.left)
		if unsent != (tt.stops != "") || s.Reason != tt.stops || unsent && (!s.Stopped() || s.Failure.Code != tt.f.Code) {
			t.Errorf("%s: got %v, %+v", tt.name, unsent, s)
		}
		for _, at := range w.b.Snapshot(w.now) {
			if at.Target != first.Route.Provider {
				t.Errorf("%s: %s is charged: %+v", tt.name, at.Target, at)
			}
		}
	}
}
