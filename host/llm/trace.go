package llm

import (
	"slices"
	"sync"
	"time"

	"spillway/host/state/record"
	"spillway/sdk"
)

// Trace gathers the record of one request while it runs: the host's own facts
// about each attempt and what plugins say of them. It is safe for concurrent
// use. Store is called with a copy whenever a finished request's record has
// changed.
type Trace struct {
	store  func(record.Request)
	notice func(a record.Attempt, before *record.Attempt)

	begun, decided              sync.Once
	onBegun, onDecided, onEnded func() // see On

	mu       sync.Mutex
	rec      record.Request
	reply    []*Reply // by attempt
	finished bool
}

// NewTrace begins a record. store and notice may be nil; notice hears of every
// attempt as it is dispatched, with the one before it, if there was one.
func NewTrace(rec record.Request, store func(record.Request), notice func(a record.Attempt, before *record.Attempt)) *Trace {
	rec.Started = time.Now()
	return &Trace{store: store, notice: notice, rec: rec}
}

// On sets what is called once each, before the call is run. begun comes with the
// first dispatch, by when the call has been through the whole chain; decided when
// visible content has come, from when on it needs no further decision. Both have
// come when the request has ended. ended comes after Finish. Each may be nil.
func (t *Trace) On(begun, decided, ended func()) {
	t.onBegun, t.onDecided, t.onEnded = begun, decided, ended
}

// Decided notes that visible content has come.
func (t *Trace) Decided() {
	once(&t.begun, t.onBegun)
	once(&t.decided, t.onDecided)
}

func once(o *sync.Once, f func()) {
	if f != nil {
		o.Do(f)
	}
}

// Begin notes a dispatch and returns its number, from 1.
func (t *Trace) Begin(r sdk.Request) int {
	once(&t.begun, t.onBegun)
	d := r.Dispatch
	t.mu.Lock()
	kind := d.Kind
	if kind == "" {
		kind = sdk.KindPrimary
	}
	a := record.Attempt{
		N: len(t.rec.Attempts) + 1, Kind: kind, Route: r.Route(), Key: d.Key, Reason: d.Reason,
		Delay: record.Duration(d.Delay), Skipped: d.Skipped,
	}
	var before *record.Attempt
	if n := len(t.rec.Attempts); n > 0 {
		last := t.rec.Attempts[n-1]
		before = &last
	}
	t.rec.Attempts = append(t.rec.Attempts, a)
	t.reply = append(t.reply, nil)
	t.mu.Unlock()
	if t.notice != nil {
		t.notice(a, before)
	}
	return a.N
}

// End notes how attempt n ended, and the vendor's reply if it is to be kept.
func (t *Trace) End(n int, o sdk.Outcome, reply *Reply) {
	t.update(func() {
		a := &t.rec.Attempts[n-1]
		a.Key = o.Key
		a.End(o)
		if !t.finished {
			t.reply[n-1] = reply
		}
	})
}

// Decide adds a plugin's decision.
func (t *Trace) Decide(d sdk.Decision) { t.update(func() { t.rec.Decide(d) }) }

// Reply is the vendor's own answer to attempt n, nil if none was kept, or after
// Finish.
func (t *Trace) Reply(n int) *Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n < 1 || n > len(t.reply) {
		return nil
	}
	return t.reply[n-1]
}

// Finish closes the record and returns it. f is what the caller was told, nil for
// success; committed says whether the caller had seen something.
func (t *Trace) Finish(f *sdk.Failure, committed bool) record.Request {
	t.Decided()
	rec := t.update(func() {
		t.finished = true
		clear(t.reply) // large; the trace itself is kept for late decisions
		t.rec.Took = record.Duration(time.Since(t.rec.Started))
		t.rec.Outcome = outcomeOf(t.rec.Head, t.rec.Attempts, f, committed)
		if f != nil {
			rf := record.FailureOf(f)
			t.rec.Failure = &rf
		}
	})
	if t.onEnded != nil {
		t.onEnded()
	}
	return rec
}

func outcomeOf(head sdk.Route, attempts []record.Attempt, f *sdk.Failure, committed bool) record.Outcome {
	switch {
	case f == nil && len(attempts) == 0:
		return record.OK // a listener answered
	case f == nil:
		// The strongest kind that was needed on the way names the outcome.
		out := record.OK
		for _, a := range attempts {
			kind := a.Kind
			switch { // a probe and what resumes may stand anywhere
			case kind != sdk.KindProbe && kind != sdk.KindResume:
			case a.Route.Model != head.Model:
				kind = sdk.KindFallback
			case a.Route != head:
				kind = sdk.KindFailover
			case kind == sdk.KindResume:
				kind = sdk.KindRetry
			}
			switch kind {
			case sdk.KindRetry:
				if out == record.OK {
					out = record.OKAfterRetry
				}
			case sdk.KindFailover:
				if out != record.OKAfterFallback {
					out = record.OKAfterFailover
				}
			case sdk.KindFallback:
				out = record.OKAfterFallback
			case sdk.KindPrimary, sdk.KindProbe, sdk.KindResume:
			}
		}
		return out
	case f.Code == sdk.CodeAborted:
		return record.Cancelled
	case committed:
		return record.FailedMidstream
	}
	return record.FailedClean
}

// Record returns a copy of the record so far.
func (t *Trace) Record() record.Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.copy()
}

func (t *Trace) copy() record.Request {
	rec := t.rec
	rec.Attempts = slices.Clone(rec.Attempts)
	return rec
}

// Served is the route of the last attempt and the number of attempts, 0 if nothing
// was sent.
func (t *Trace) Served() (r sdk.Route, attempts int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.rec.Attempts); n > 0 {
		return t.rec.Attempts[n-1].Route, n
	}
	return sdk.Route{}, 0
}

// update changes the record by f. One that is finished is stored, and returned.
func (t *Trace) update(f func()) (rec record.Request) {
	t.mu.Lock()
	f()
	finished := t.finished
	if finished {
		rec = t.copy()
	}
	t.mu.Unlock()
	if finished && t.store != nil {
		t.store(rec)
	}
	return rec
}

// Traces finds the trace that a plugin's decision belongs to. Decisions may
// come a little after the request has ended, so the last ones are kept.
type Traces struct {
	mu   sync.Mutex
	byID map[string]*Trace
	ring []string
	next int
}

// keptTraces is how many requests a late decision can still find: those of a
// second at a thousand a second.
const keptTraces = 1024

// Add makes a trace findable.
func (ts *Traces) Add(id string, t *Trace) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.byID == nil {
		ts.byID, ts.ring = map[string]*Trace{}, make([]string, keptTraces)
	}
	delete(ts.byID, ts.ring[ts.next])
	ts.ring[ts.next] = id
	ts.next = (ts.next + 1) % keptTraces
	ts.byID[id] = t
}

// Decide passes a decision to its request, if that is still known.
func (ts *Traces) Decide(d sdk.Decision) {
	ts.mu.Lock()
	t := ts.byID[d.Call]
	ts.mu.Unlock()
	if t != nil {
		t.Decide(d)
	}
}

// Dropped notes what the dialect of attempt n could not carry.
func (t *Trace) Dropped(n int, names []string) {
	if len(names) == 0 {
		return
	}
	t.update(func() { t.rec.Attempts[n-1].Dropped = names })
}

// Malformed notes a frame of attempt n that was no JSON and was left out.
func (t *Trace) Malformed(n int) { t.update(func() { t.rec.Attempts[n-1].Malformed++ }) }

// Estimated notes that the usage of attempt n is our estimate.
func (t *Trace) Estimated(n int) { t.update(func() { t.rec.Attempts[n-1].Estimated = true }) }
