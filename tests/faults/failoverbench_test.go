package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"spillway/tests/internal/caller"
)

// TestFailoverBench plays the scenarios of the public Failover Bench in each
// dialect, the vendors speaking that of the caller. Settings are the product's own,
// but for what a scenario names.
func TestFailoverBench(t *testing.T) {
	for _, sc := range scenarios() {
		for _, d := range caller.Dialects() {
			t.Run(fmt.Sprintf("%s %s %s %s", sc.id, sc.name, cmp.Or(sc.setting, "default"), d), func(t *testing.T) {
				t.Parallel()
				r := &row{t: t, scenario: sc, pace: 1, dialect: d, grade: failed}
				if sc.slow && !*scorecard {
					r.pace = 5
				}
				defer played.add(r)
				r.play()
			})
		}
	}
}

// row is a scenario in one dialect.
type row struct {
	scenario
	t       *testing.T
	pace    pace
	dialect caller.Dialect
	s       *scene

	broken, odd bool          // a rule does not hold; we do what we do not mean to
	took        time.Duration // to the answer
	grade       grade
}

// must reports a broken rule.
func (r *row) must(ok bool, format string, args ...any) {
	r.t.Helper()
	if !ok {
		r.broken = true
		r.t.Errorf(format, args...)
	}
}

// should reports what differs from what we mean to do.
func (r *row) should(what, diff string) {
	r.t.Helper()
	if diff != "" {
		r.odd = true
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// play plays the scenario and grades it.
func (r *row) play() {
	r.stage()
	rescued := false
	if r.outage {
		rescued = r.recovers()
	} else {
		rescued = r.one()
	}
	switch {
	case r.broken:
		r.grade = failed
	case !rescued:
		r.grade = safe
	case r.odd:
		r.grade = partial
	default:
		r.grade = passed
	}
}

func (r *row) stage() {
	first, second := primary(r.pace.script(r.primary)), fallback("ok")
	second.NoPrefill = r.noPrefill
	s, rows := stage(r.t, r.dialect, first, second)
	switch {
	case r.windows:
		rows = s.row(r.dialect, "primary", "{id: large, context: 8000}", "key-of-primary") +
			s.row(r.dialect, "fallback", "{id: small, context: 200000}", "key-of-fallback")
	case r.foreign:
		rows = s.row(r.dialect, "primary", "large", "key-of-primary") + s.row(other(r.dialect), "fallback", "small", "key-of-fallback")
	}
	r.s = s.serve(rows + r.pace.settings().row(r.t))
}

// other is another dialect.
func other(d caller.Dialect) caller.Dialect {
	all := caller.Dialects()
	return all[(slices.Index(all, d)+1)%len(all)]
}

// one makes the scenario's call and reports whether the caller got what it should.
func (r *row) one() (rescued bool) {
	s := r.s
	var header []string
	if r.buffer {
		header = []string{"X-Spillway-Stream", "buffer"}
	}
	got := s.askWith(r.t.Context(), s.question(large), header...)
	r.took = got.Took()
	rescued = r.answers(got)
	if limit := r.pace.limit(r.within); r.within > 0 {
		r.must(r.took <= limit, "the call took %s, want at most %s", r.took, limit)
	}
	calls := s.upstream()
	r.must(len(calls) <= cmp.Or(r.most, 6), "%d calls reached the primary", len(calls))
	for i, c := range calls {
		if i < len(r.after) {
			r.must(c.Time.Sub(got.Begin) >= r.pace.of(r.after[i]), "call %d came after %s, want %s at the earliest",
				i+1, c.Time.Sub(got.Begin), r.pace.of(r.after[i]))
		}
	}
	if r.then != "" {
		after := s.ask(large)
		r.must(after.from() == r.then, "a call right after it: %s", after.from())
	}
	r.should("calls that reached vendors", gocmp.Diff(r.calls, s.calls()))
	_, diff := s.recorded(got.ID, r.outcome, r.attempts...)
	r.should("record", diff)
	against := r.against
	if r.dialect == caller.Messages && r.messages != nil {
		against = r.messages
	}
	r.should("what stands against whom", s.standing(against...))
	return rescued
}

// answers judges an answer. One that is not what it should be may be a clean error
// all the same.
func (r *row) answers(got reply) (rescued bool) {
	if r.refused != "" {
		want := refusals[author(r.dialect)][r.refused]
		r.must(got.Refused() && got.Status == 400 && strings.HasPrefix(got.Problem, want), "answer: got %+v, want the refusal %q", got.Answer, want)
		return true
	}
	if r.from != "" && got.from() == r.from {
		model := map[string]string{"primary": "large", "fallback": "small"}[r.from]
		r.must(got.Model == model, "the answer names the model %q, want %q", got.Model, model)
		return true
	}
	clean := got.Refused() || got.Cut() && strings.HasPrefix(caller.Numbered("primary", answerTokens), got.Text)
	r.must(clean, "answer: neither whole nor a clean error: %+v", got.Answer)
	if r.from != "" || len(strings.Fields(got.Text)) != r.cut {
		r.must(false, "answer: got %+v", got.Answer)
	}
	return false
}

// refusals are what the dialects' authors say.
var refusals = map[string]map[string]string{
	"openai": {
		"overflow": "Your input exceeds the context window of this model. Please adjust your input and try again.",
		"policy":   "Your request was rejected as a result of our safety system.",
	},
	"anthropic": {
		"overflow": "prompt is too long: 208310 tokens > 200000 maximum",
		"policy":   "Output blocked by content filtering policy",
	},
}

// recovers is S15: one request comes every 4 s, twenty in all. Each is served, one
// at a time looks whether the primary is back, and within 30 s of its recovery it
// serves again.
func (r *row) recovers() (rescued bool) {
	s, down, back := r.s, r.pace.of(time.Minute), r.pace.of(30*time.Second)
	s.script("primary", r.pace.script(r.primary)) // its time begins now
	began := time.Now()
	tick := time.NewTicker(r.pace.of(4 * time.Second))
	defer tick.Stop()
	rescued = true
	var first time.Time // when the primary served again
	for range 20 {
		got := s.ask(large)
		r.took = max(r.took, got.Took())
		switch from := got.from(); {
		case from == "primary" && first.IsZero():
			first = time.Now()
		case from == "primary":
		case from != "fallback":
			rescued = false
			r.must(got.Refused(), "not served: %s", from)
		case !first.IsZero():
			r.must(false, "served by the fallback again")
		}
		<-tick.C
	}
	took := first.Sub(began.Add(down))
	r.must(!first.IsZero() && took <= back, "the primary served again %s after its recovery, want %s at most", took, back)
	calls, refused := s.upstream(), 0
	for i, c := range calls {
		r.must(i == 0 || !c.Time.Before(calls[i-1].End), "call %d began before call %d had ended", i+1, i)
		if c.Status == 503 {
			refused++
		}
	}
	// The first request asks twice and the second trips the route. Somebody looks
	// after 5 s, 10 s, and then each 15 s.
	if refused > 8 {
		r.should("calls while the primary was down", fmt.Sprintf("-at most 8\n+%d", refused))
	}
	r.should("what stands against whom", s.standing())
	return rescued
}
