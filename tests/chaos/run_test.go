package chaos

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// options are what a run is made with.
type options struct {
	schedule
	race    bool
	callers int
	rate    float64       // calls a second at most, 0 for no bound
	limit   time.Duration // when it ends even if not all is done, 0 for never
	folder  string        // of what is kept
	oneHost bool          // one process for all of it, so that its growth is seen
}

// count is what a run did and found.
type count struct {
	calls, kills, swaps, saves     atomic.Int64
	whole, cut, refused, left, bad atomic.Int64 // calls by what became of them
	events                         atomic.Int64
	longest                        atomic.Int64 // ns
}

// run is a server, its vendors, its callers and its adversary.
type run struct {
	options
	*count
	t       *testing.T
	pace    pace
	book    *book
	vendors []*vendor
	client  *http.Client
	began   time.Time

	*server              // of the present phase
	store   store        // of the present phase
	edits   sync.Mutex   // guards settings and what is written of them
	current settings     //
	calm    sync.RWMutex // held for writing while files cannot be written

	next     atomic.Int64 // calls that have begun
	paced    atomic.Int64 // when the next call may begin, Unix ns
	trouble  troubles
	inspect  chan *call
	judging  sync.WaitGroup // calls that are not judged yet
	mu       sync.Mutex     // guards what follows
	found    []finding
	verdicts map[verdict]int
	seen     map[string]bool
	samples  []sample
	reasons  map[string]int // why calls were refused
}

// finding is something that must not be.
type finding struct {
	verdict verdict
	call    int64 // after which it was seen
	what    string
}

// report notes a finding. The first ones are printed.
func (r *run) report(v verdict, format string, args ...any) {
	f := finding{v, r.next.Load(), fmt.Sprintf(format, args...)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verdicts[v]++
	if r.verdicts[v] <= 10 {
		fmt.Printf("chaos: %s at %s: %s\n", v, time.Since(r.began).Round(time.Millisecond), f.what)
	}
	r.found = append(r.found, f)
}

// reportOnce notes a finding unless the same was noted before.
func (r *run) reportOnce(v verdict, key, format string, args ...any) {
	r.mu.Lock()
	seen := r.seen[key]
	r.seen[key] = true
	r.mu.Unlock()
	if !seen {
		r.report(v, format, args...)
	}
}

// refusedFor counts a call that was refused as it had to be.
func (r *run) refusedFor(why string) {
	r.refused.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reasons[why]++
}

// play makes a run. It returns what it found.
func play(t *testing.T, o options) *run {
	t.Helper()
	r := &run{
		options: o, count: &count{}, t: t, pace: newPace(o.race), book: &book{calls: map[int64]*call{}}, began: time.Now(),
		current: newSettings(), inspect: make(chan *call, 1024), verdicts: map[verdict]int{}, seen: map[string]bool{}, reasons: map[string]int{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConns: o.callers, MaxIdleConnsPerHost: o.callers, DisableCompression: true}},
	}
	for i, name := range append(slices.Clone(failing), haven) {
		if err := address(i, vendorIP(i)); err != nil {
			t.Fatal(err)
		}
		v := &vendor{name: name, calls: r.book, pace: r.pace, seed: o.Seed}
		startVendor(t, v, vendorIP(i))
		r.vendors = append(r.vendors, v)
	}
	var inspectors sync.WaitGroup
	for range 4 {
		inspectors.Go(r.inspector)
	}
	ended := make(chan struct{})
	go r.progress(ended)
	for _, p := range phases(o) {
		r.phase(p)
	}
	close(r.inspect)
	inspectors.Wait()
	close(ended)
	r.client.CloseIdleConnections()
	r.sums()
	return r
}

// phase is a part of a run: one process of serve, on a store of one sort.
type phase struct {
	store    string // sqlite or redis
	spoiled  bool   // its file is corrupt when it starts, and once more in the middle
	from, to int64
}

func phases(o options) []phase {
	if o.oneHost {
		return []phase{{store: "sqlite", to: o.Calls}}
	}
	a, b := o.Calls*45/100, o.Calls*60/100
	return []phase{{store: "sqlite", to: a}, {store: "sqlite", spoiled: true, from: a, to: b}, {store: "redis", from: b, to: o.Calls}}
}

// log is the file with what serve writes to standard error.
func (r *run) log() string { return filepath.Join(r.folder, "serve.log") }

// over reports whether the run's time is up.
func (r *run) over() bool { return r.limit > 0 && time.Since(r.began) > r.limit }

// phase plays a part of the run and checks what it leaves behind.
func (r *run) phase(p phase) {
	r.t.Helper()
	if r.over() {
		return
	}
	row := ""
	if p.store == "redis" {
		redis, state := rig.Redis(r.t)
		r.store, row = redisStore{redis}, state
	}
	dir := rig.Profile(r.t, base(r.vendors, row))
	for _, program := range []string{"failover", "rogue"} {
		if err := swap(dir, program, filepath.Join(rig.Plugins(r.t), program), 0); err != nil {
			r.t.Fatal(err)
		}
	}
	r.current.rogue = ""
	if err := save(dir, "cordis.patch.yml", r.current.patch(r.pace), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if p.spoiled {
		spoilFile(r.t, dir)
	}
	r.server = start(r.t, dir, r.log())
	if p.store == "sqlite" {
		r.store = &fileStore{server: r.server}
	}

	done := make(chan struct{})
	lanes := r.lanes(p.from, p.to)
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(done) })
	if r.oneHost {
		watching.Go(func() { r.sampled(done) })
	}
	var callers sync.WaitGroup
	finished := make(chan struct{}) // the lanes
	for range r.callers {
		callers.Go(func() { r.caller(p.to, finished) })
	}
	lanes.Wait()
	close(finished)
	callers.Wait()
	if p.spoiled {
		r.spoilt()
	}
	took := stopwatch()
	r.recovers()
	recovered := took()
	r.judging.Wait() // a record is asked of the process that wrote it
	judged := took()
	close(done)
	watching.Wait()
	for _, fault := range r.stop() {
		r.report(corrupt, "%s", fault)
	}
	stopped := took()
	r.leftovers(p)
	fmt.Printf("chaos: phase on %s is over: recovered in %s, judged in %s, stopped in %s, inspected in %s\n", p.store, recovered, judged, stopped, took())
}

// stopwatch returns what says how long it is since it was asked last.
func stopwatch() func() time.Duration {
	last := time.Now()
	return func() time.Duration {
		d := time.Since(last).Round(time.Millisecond)
		last = time.Now()
		return d
	}
}

// caller makes calls, one after the other, until all of a phase are made and the
// adversary has done all that it meant to.
func (r *run) caller(to int64, finished <-chan struct{}) {
	m := mix{seed: r.Seed, streamed: r.Streamed}
	for {
		if r.next.Load() >= to || r.over() {
			select {
			case <-finished:
				return
			default:
			}
		}
		r.await()
		c := m.call(r.next.Add(1))
		r.book.add(c)
		c.make(r.client, r.url, r.pace.hang)
		r.calls.Add(1)
		if took := int64(c.answer.Took()); took > r.longest.Load() {
			r.longest.Store(took)
		}
		r.judging.Add(1)
		r.inspect <- c
	}
}

// await holds a caller back to the run's rate. What was missed is not made up for.
func (r *run) await() {
	if r.rate == 0 {
		return
	}
	gap := int64(float64(time.Second) / r.rate)
	for {
		now := time.Now().UnixNano()
		at := r.paced.Load()
		turn := max(at, now-int64(100*time.Millisecond)) + gap
		if r.paced.CompareAndSwap(at, turn) {
			pause(time.Duration(turn - now))
			return
		}
	}
}

// pause waits. Paces are what a load is about.
func pause(d time.Duration) {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		<-t.C
	}
}

// until waits for something that comes soon, and reports whether it came.
func until(patience time.Duration, cond func() bool) bool {
	for limit := time.Now().Add(patience); !cond(); pause(5 * time.Millisecond) {
		if time.Now().After(limit) {
			return false
		}
	}
	return true
}

// recovers checks that the vendors come back once the adversary leaves them alone:
// what stands against them ends by itself.
func (r *run) recovers() {
	ctx, cancel := context.WithTimeout(context.Background(), r.pace.recovery)
	defer cancel()
	var against []string
	for turn := 0; ctx.Err() == nil; turn++ {
		if turn == 100 {
			fmt.Printf("chaos: still out: %s\n", strings.Join(against, ", "))
		}
		c := mix{seed: r.Seed}.call(r.next.Add(1))
		c.wants, c.head = anAnswer, failing[int(c.n)%len(failing)]+"/m"
		r.book.add(c)
		c.make(r.client, r.url, r.pace.hang)
		r.calls.Add(1)
		r.judging.Add(1)
		r.inspect <- c
		v, err := r.server.client.Status(ctx)
		if err != nil {
			continue
		}
		against = nil
		for _, p := range v.Plugins {
			for _, t := range p.Targets {
				if t.State != sdk.CircuitClosed {
					against = append(against, fmt.Sprintf("%s %s %s until %s", t.Target, t.State, t.Code, t.Until))
				}
			}
		}
		if len(against) == 0 {
			return
		}
		pause(50 * time.Millisecond)
	}
	r.report(charged, "still out though all vendors are sound: %s", strings.Join(against, ", "))
}

// progress prints how far the run is, every ten seconds.
func (r *run) progress(ended <-chan struct{}) {
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	last := int64(0)
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		n := r.calls.Load()
		fmt.Printf("chaos: %s calls %d (%.0f/s) whole %d cut %d refused %d left %d; kills %d swaps %d saves %d events %d; longest %s\n",
			time.Since(r.began).Round(time.Second), n, float64(n-last)/10, r.whole.Load(), r.cut.Load(), r.refused.Load(), r.left.Load(),
			r.kills.Load(), r.swaps.Load(), r.saves.Load(), r.events.Load(), time.Duration(r.longest.Load()).Round(time.Millisecond))
		last = n
	}
}

// sums checks what only all calls together show, and prints what was found.
func (r *run) sums() {
	if n, all := r.reasons[pluginLate], r.calls.Load(); int64(n)*50 > all {
		r.report(lost, "of %d calls %d had no decision in time: more than one in fifty", all, n)
	}
	// While a plugin is away, the calls under way may meet it; later ones wait for it.
	if n, times := r.reasons[pluginAway], r.trouble.count(pluginKilled, pluginStopped, suspended); n > times*r.callers {
		r.report(lost, "%d calls met no plugin, which was away %d times", n, times)
	}
	fmt.Printf("chaos: %s, %.0f calls a second: whole %d, cut by their vendor %d, refused for a reason %d, wrong by themselves %d, left %d; longest %s; log in %s\n",
		time.Since(r.began).Round(time.Second), float64(r.calls.Load())/time.Since(r.began).Seconds(), r.whole.Load(), r.cut.Load(), r.refused.Load(), r.bad.Load(), r.left.Load(),
		time.Duration(r.longest.Load()).Round(time.Millisecond), r.log())
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, why := range slices.Sorted(maps.Keys(r.reasons)) {
		fmt.Printf("chaos: refused, %s: %d\n", why, r.reasons[why])
	}
	for _, v := range slices.Sorted(maps.Keys(r.verdicts)) {
		fmt.Printf("chaos: %s %d\n", v, r.verdicts[v])
	}
}

// line is the verdict on a run.
func (r *run) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("chaos: calls %d kills %d swaps %d saves %d lost %d hung %d doubled %d truncated %d corrupt %d",
		r.calls.Load(), r.kills.Load(), r.swaps.Load(), r.saves.Load(), r.verdicts[lost], r.verdicts[hung], r.verdicts[doubled], r.verdicts[truncated], r.verdicts[corrupt]+r.verdicts[charged])
}

// first is the call by which the first finding was seen.
func (r *run) first() int64 {
	return slices.MinFunc(r.found, func(a, b finding) int { return cmp.Compare(a.call, b.call) }).call
}

// logFolder is where a run's log is kept, beyond the end of the test.
func logFolder(t *testing.T, folder string) string {
	t.Helper()
	var err error
	if folder == "" {
		folder, err = os.MkdirTemp("", "chaos-log-")
	} else {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
