package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// troubles are the times in which the adversary made something impossible.
type troubles struct {
	mu  sync.Mutex
	all []trouble
}

type trouble struct {
	what       kind
	begin, end time.Time // end is zero while it lasts
}

// during notes a trouble while f runs, and what it leaves behind for a while.
func (t *troubles) during(what kind, f func()) {
	t.mu.Lock()
	t.all = append(t.all, trouble{what: what, begin: time.Now()})
	i := len(t.all) - 1
	t.mu.Unlock()
	f()
	t.mu.Lock()
	t.all[i].end = time.Now()
	t.mu.Unlock()
}

// overlap reports whether there was such a trouble in that time, or up to after
// before it.
func (t *troubles) overlap(begin, end time.Time, after time.Duration, what ...kind) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.all) - 1; i >= 0; i-- {
		tr := t.all[i]
		for _, w := range what {
			if tr.what == w && tr.begin.Before(end) && (tr.end.IsZero() || tr.end.Add(after).After(begin)) {
				return true
			}
		}
		if tr.begin.Before(begin.Add(-time.Minute)) {
			break
		}
	}
	return false
}

// count is how often there was such a trouble.
func (t *troubles) count(what ...kind) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tr := range t.all {
		if slices.Contains(what, tr.what) {
			n++
		}
	}
	return n
}

const (
	// releaseTime is how long a vendor may be busy with a call that is over.
	releaseTime = 5 * time.Second
	// recordTime is how long a record may take to be there.
	recordTime = 5 * time.Second
	// recordEvery is how many calls there are for each whose record is read.
	recordEvery = 50
)

// inspector judges calls that are over.
func (r *run) inspector() {
	for c := range r.inspect {
		r.judge(c)
		r.judging.Done()
	}
}

func (r *run) judge(c *call) {
	if !until(releaseTime, c.settled) {
		r.report(hung, "a vendor still works for a call that is over: %s", c)
		return
	}
	switch v, why := c.judge(); {
	case v == refusal:
		r.refusal(c, why)
	case v == doubled && r.overtaken(c):
		r.whole.Add(1)
	case v == doubled && c.wants == itsFault && r.unheard(c):
		r.bad.Add(1)
	case v != fine && r.excused(c, v):
		r.refusedFor("the network was gone, " + string(v))
	case v != fine:
		r.report(v, "%s: %s%s", why, c, r.story(c))
	default:
		r.tally(c)
		if c.n%recordEvery == 0 && c.answer.ID != "" {
			r.recorded(c)
		}
	}
}

// tally counts a call to which nothing is to be said.
func (r *run) tally(c *call) {
	switch {
	case c.wants == itsFault:
		r.bad.Add(1)
	case c.wants == toLeave:
		r.left.Add(1)
	case c.answer.Cut():
		r.cut.Add(1)
	default:
		r.whole.Add(1)
	}
}

// excused reports whether the adversary made impossible what a call lacks: a network
// that is gone takes connections along, at both of their ends.
func (r *run) excused(c *call, v verdict) bool {
	switch v {
	case lost, doubled:
		return r.trouble.overlap(c.answer.Begin, c.answer.End, r.pace.idle, networkCut, suspended)
	case fine, refusal, hung, truncated, corrupt, charged:
	}
	return false
}

// overtaken reports whether the vendor that served was asked last after all: a
// request that is given up for another may reach its vendor later than that one.
func (r *run) overtaken(c *call) bool {
	rec, err := r.record(c)
	n := len(rec.Attempts)
	vendor, _ := c.vendorOf(c.text)
	return err == nil && vendor != "" && n > 0 && rec.Attempts[n-1].Outcome == record.AttemptOK && rec.Attempts[n-1].Route.Provider == vendor
}

// unheard reports whether the host has heard from one vendor only that a request is
// wrong: what it gave up, for others had found the vendor out of order, may have
// reached that all the same.
func (r *run) unheard(c *call) bool {
	rec, err := r.record(c)
	heard := 0
	for _, a := range rec.Attempts {
		if a.Code == sdk.CodeInvalidRequest {
			heard++
		}
	}
	return err == nil && heard <= 1
}

// record waits for a call's record.
func (r *run) record(c *call) (record.Request, error) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	var rec record.Request
	err := fmt.Errorf("it does not come to an end")
	until(recordTime, func() bool {
		got, e := r.server.client.Request(ctx, c.answer.ID)
		if e != nil {
			err = e
			return false
		}
		rec = got
		return rec.Outcome != ""
	})
	if rec.Outcome != "" {
		return rec, nil
	}
	return rec, err
}

// Why a call is refused that no plugin has moved.
const (
	pluginAway = "the plugin was away"
	pluginLate = "the plugin did not decide in time"
)

// refusal holds a clean error against its record. One vendor is always sound, so it
// is right only where nobody could move the call: its plugin was away, and the
// vendor's own error came through; or the network was gone.
func (r *run) refusal(c *call, why string) {
	rec, err := r.record(c)
	switch {
	case r.trouble.overlap(c.answer.Begin, c.answer.End, r.pace.idle, networkCut):
		r.refusedFor("the network was gone")
		return
	case err != nil && r.stateless(c):
		r.refusedFor("the store was gone, so nobody knows why")
		return
	case err != nil:
		r.report(corrupt, "no record of a refusal (%s): %v: %s", why, err, c)
		return
	}
	if rec.Failure == nil || !rec.Failure.Code.Known() {
		r.report(corrupt, "a refusal without a known code: %+v: %s", rec.Failure, c)
	}
	switch {
	case c.wants == itsFault && later(rec):
		r.bad.Add(1)
		return
	case !away(rec):
	case r.trouble.overlap(c.answer.Begin, c.answer.End, time.Second, pluginKilled, pluginStopped, suspended):
		r.refusedFor(pluginAway)
		return
	default: // the machine is busy, or it is stuck: sums has the bound
		r.refusedFor(pluginLate)
		return
	}
	r.report(lost, "refused (%s) though %s is sound: %s%s", why, haven, c, tell(rec))
}

// later reports whether a request ended with its first failure, and what was wrong
// with it was seen only after that.
func later(rec record.Request) bool {
	n := len(rec.Attempts)
	return n > 1 && rec.Failure.Code == rec.Attempts[0].Code && rec.Attempts[n-1].Code == sdk.CodeInvalidRequest
}

// away reports whether a request ended as one does whose plugin is away: with its
// first failure that is a vendor's, and no word of the plugin that nothing else is to
// be tried.
func away(rec record.Request) bool {
	first := slices.IndexFunc(rec.Attempts, func(a record.Attempt) bool { return a.Code != sdk.CodeAborted })
	if first < 0 || rec.Failure.Code != rec.Attempts[first].Code {
		return false
	}
	last := rec.Attempts[len(rec.Attempts)-1]
	return last.Action != sdk.ActionStop || last.Why == "nobody was there to decide" // which it says when it is back
}

// story is what the host tells of a call, for a person.
func (r *run) story(c *call) string {
	if c.answer.ID == "" {
		return ""
	}
	rec, err := r.record(c)
	if err != nil {
		return "; no record: " + err.Error()
	}
	return tell(rec)
}

func tell(rec record.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; record %s (%s):", rec.Outcome, rec.Reason)
	if rec.Failure != nil {
		fmt.Fprintf(&b, " told %s %q", rec.Failure.Code, rec.Failure.Message)
	}
	for _, a := range rec.Attempts {
		fmt.Fprintf(&b, " [%s %s %s %s %s %q > %s %s, left %s]", a.Kind, a.Route, a.Outcome, a.Code, a.Phase, a.Message, a.Action, a.Why, time.Duration(a.Left))
	}
	for _, s := range rec.Skipped {
		fmt.Fprintf(&b, " skipped %+v", s)
	}
	return b.String()
}

// stateless reports whether the store was in trouble while or after a call was made,
// in which records may be lost.
func (r *run) stateless(c *call) bool {
	return r.trouble.overlap(c.answer.Begin, time.Now(), recordTime, storeFails)
}

// recorded holds a call against its record.
func (r *run) recorded(c *call) {
	rec, err := r.record(c)
	if err != nil {
		if !r.stateless(c) {
			r.report(corrupt, "no record: %v: %s", err, c)
		}
		return
	}
	want := []record.Outcome{record.OK, record.OKAfterRetry, record.OKAfterFailover, record.OKAfterFallback}
	switch {
	case c.wants == toLeave:
		want = append(want, record.Cancelled)
	case c.wants == itsFault:
		want = []record.Outcome{record.FailedClean}
	case c.answer.Cut():
		want = []record.Outcome{record.FailedMidstream}
	}
	for _, w := range want {
		if rec.Outcome == w && rec.ID == c.answer.ID {
			return
		}
	}
	r.report(corrupt, "the record says otherwise: %s%s", c, tell(rec))
}
