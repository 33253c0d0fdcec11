package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/host/agent/tool"
	"spillway/host/sqlite"
	"spillway/sdk"
)

// fake is a tool that does what its function says.
type fake struct {
	effect tool.Effect
	run    func(ctx context.Context, c tool.Call) (tool.Result, error)
	runs   atomic.Int32
}

func (f *fake) Spec() tool.Spec { return tool.Spec{Name: "fake", Effect: f.effect} }

func (f *fake) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	f.runs.Add(1)
	return f.run(ctx, c)
}

func answers(effect tool.Effect, r tool.Result, err error) *fake {
	return &fake{effect: effect, run: func(context.Context, tool.Call) (tool.Result, error) { return r, err }}
}

func openAt(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func action(name string) Action {
	return Action{Session: "s", Message: "m", Tool: "fake", Input: json.RawMessage(`{"n": "` + name + `"}`)}
}

var (
	errLost  = errors.New("connection reset")
	errEarly = errors.Join(tool.ErrNotRun, errors.New("no such host"))
)

// TestRun has every state that a call may be in, and every end of a run.
func TestRun(t *testing.T) {
	ok, bad := tool.Text("done"), tool.Failed("no such file")
	type want struct {
		state State
		err   error
		runs  int32 // of the tool, by the run under test
	}
	for name, c := range map[string]struct {
		effect tool.Effect
		before func(t *testing.T, l *Ledger, a Action) // what happened to the call until now
		result tool.Result
		err    error
		want   want
	}{
		"first, succeeds":             {result: ok, want: want{Succeeded, nil, 1}},
		"first, fails":                {result: bad, want: want{Failed, nil, 1}},
		"first, is lost":              {err: errLost, want: want{Unknown, ErrUnknown, 1}},
		"first, begins nothing":       {err: errEarly, want: want{Planned, tool.ErrNotRun, 1}},
		"idempotent, is lost":         {effect: tool.Idempotent, err: errLost, want: want{Unknown, ErrUnknown, 1}},
		"read-only, succeeds":         {effect: tool.ReadOnly, result: ok, want: want{Succeeded, nil, 1}},
		"read-only, is lost":          {effect: tool.ReadOnly, err: errLost, want: want{Failed, nil, 1}},
		"read-only, begins nothing":   {effect: tool.ReadOnly, err: errEarly, want: want{Planned, tool.ErrNotRun, 1}},
		"planned":                     {before: planned, result: ok, want: want{Succeeded, nil, 1}},
		"began nothing":               {before: ended(tool.Result{}, errEarly), result: ok, want: want{Succeeded, nil, 1}},
		"succeeded":                   {before: ended(ok, nil), result: bad, want: want{Succeeded, nil, 0}},
		"failed":                      {before: ended(bad, nil), result: ok, want: want{Failed, nil, 0}},
		"started by a dead one":       {before: killed(tool.Write), result: ok, want: want{Unknown, ErrUnknown, 0}},
		"idempotent, started by dead": {before: killed(tool.Idempotent), effect: tool.Idempotent, result: ok, want: want{Succeeded, nil, 1}},
		"once was a write":            {before: killed(tool.Write), effect: tool.Idempotent, result: ok, want: want{Unknown, ErrUnknown, 0}},
		"now is a write":              {before: killed(tool.Idempotent), result: ok, want: want{Unknown, ErrUnknown, 0}},
		"unknown":                     {before: ended(tool.Result{}, errLost), result: ok, want: want{Unknown, ErrUnknown, 0}},
		"settled: happened":           {before: settled(Happened), result: bad, want: want{Succeeded, nil, 0}},
		"settled: did not happen":     {before: settled(NotHappened), result: ok, want: want{Succeeded, nil, 1}},
		"settled: stays unknown":      {before: settled(StaysUnknown), result: ok, want: want{Unknown, nil, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			l, a := openAt(t, t.TempDir()), action("x")
			if c.before != nil {
				c.before(t, l, a)
			}
			f := answers(c.effect, c.result, c.err)
			e, err := l.Run(t.Context(), a, f)
			if e.State != c.want.state || !errors.Is(err, c.want.err) || (err == nil) != (c.want.err == nil) || f.runs.Load() != c.want.runs {
				t.Fatalf("got %s, %v, tool called %d times; want %+v", e.State, err, f.runs.Load(), c.want)
			}
			if err == nil && e.Result == nil {
				t.Error("no error, and nothing to tell the model")
			}
			if c.effect == tool.ReadOnly {
				if all, err := l.List(t.Context(), Filter{}); err != nil || len(all) > 0 {
					t.Errorf("a read-only call is recorded: %v, %v", all, err)
				}
				return
			}
			got, err := l.Get(t.Context(), a.Key())
			if diff := cmp.Diff(e, got, cmpopts.EquateApproxTime(time.Microsecond), cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("recorded otherwise than returned: %v\n%s", err, diff)
			}
		})
	}
}

func planned(t *testing.T, l *Ledger, a Action) {
	if err := l.Plan(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

func ended(r tool.Result, err error) func(*testing.T, *Ledger, Action) {
	return func(t *testing.T, l *Ledger, a Action) { l.Run(t.Context(), a, answers(tool.Write, r, err)) }
}

// killed leaves a call as somebody does who is killed while its tool runs.
func killed(effect tool.Effect) func(*testing.T, *Ledger, Action) {
	return func(t *testing.T, l *Ledger, a Action) {
		h, err := l.tryHold(a.Key())
		if err != nil || h == nil {
			t.Fatal(h, err)
		}
		a.Effect = effect
		if _, err := l.begin(t.Context(), Entry{Key: a.Key(), Action: a, State: Planned, Planned: time.Now()}); err != nil {
			t.Fatal(err)
		}
		h.file.Close() // as the system does
	}
}

func settled(v Verdict) func(*testing.T, *Ledger, Action) {
	return func(t *testing.T, l *Ledger, a Action) {
		killed(tool.Write)(t, l, a)
		e, err := l.Settle(t.Context(), a.Key(), v, "looked at it", "")
		if err != nil || e.NeedsPerson() || e.Settled.Verdict != v || e.Settled.Note != "looked at it" {
			t.Fatalf("got %+v, %v", e, err)
		}
	}
}

// TestToolSees: the tool gets the key and the input, and its call is on the disk
// as started by then.
func TestToolSees(t *testing.T) {
	l, a := openAt(t, t.TempDir()), action("x")
	f := &fake{run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		e, err := l.Get(ctx, a.Key())
		if err != nil || e.State != Started || e.Runs != 1 {
			t.Errorf("while it runs: %+v, %v", e, err)
		}
		if c.Key != a.Key() || string(c.Input) != string(a.Input) {
			t.Errorf("got %q %s", c.Key, c.Input)
		}
		if _, err := l.Settle(ctx, a.Key(), Happened, "", ""); !errors.Is(err, ErrInProgress) {
			t.Errorf("settled while it runs: %v", err)
		}
		return tool.Text("done"), nil
	}}
	if e, err := l.Run(t.Context(), a, f); err != nil || e.State != Succeeded {
		t.Error(e, err)
	}
}

// TestSameKeyAtOnce: one runs it, all get its answer.
func TestSameKeyAtOnce(t *testing.T) {
	dir := t.TempDir()
	l, other := openAt(t, dir), openAt(t, dir)
	f := answers(tool.Write, tool.Text("done"), nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			on := l
			if i%2 == 1 {
				on = other
			}
			if e, err := on.Run(t.Context(), action("x"), f); err != nil || e.State != Succeeded || e.Result.Parts[0].Text != "done" {
				t.Error(e, err)
			}
		})
	}
	wg.Wait()
	if n := f.runs.Load(); n != 1 {
		t.Errorf("ran %d times", n)
	}
}

// TestInProgress: who does not wait to the end is told why, and nothing changes.
func TestInProgress(t *testing.T) {
	l := openAt(t, t.TempDir())
	begun, finish := make(chan struct{}), make(chan struct{})
	f := &fake{run: func(context.Context, tool.Call) (tool.Result, error) {
		close(begun)
		<-finish
		return tool.Text("done"), nil
	}}
	var wg sync.WaitGroup
	wg.Go(func() { l.Run(t.Context(), action("x"), f) })
	<-begun
	ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if e, err := l.Run(ctx, action("x"), f); !errors.Is(err, ErrInProgress) || e.State != Started {
		t.Errorf("got %+v, %v", e, err)
	}
	close(finish)
	wg.Wait()
	if e, err := l.Get(t.Context(), action("x").Key()); err != nil || e.State != Succeeded {
		t.Error(e, err)
	}
}

// TestCancelled: a tool that is cancelled in its middle may have done it.
func TestCancelled(t *testing.T) {
	l := openAt(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		cancel()
		return tool.Result{}, ctx.Err()
	}}
	if e, err := l.Run(ctx, action("x"), f); !errors.Is(err, ErrUnknown) || !errors.Is(err, context.Canceled) || !e.NeedsPerson() {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := l.Run(ctx, action("y"), f); !errors.Is(err, tool.ErrNotRun) || f.runs.Load() != 1 {
		t.Errorf("begun with an ended context: %v", err)
	}
}

// TestPanic: a call whose tool panics is unknown at once, not when the process ends.
func TestPanic(t *testing.T) {
	l := openAt(t, t.TempDir())
	func() {
		defer func() { recover() }()
		l.Run(t.Context(), action("x"), &fake{run: func(context.Context, tool.Call) (tool.Result, error) { panic("bug") }})
	}()
	if e, err := l.Get(t.Context(), action("x").Key()); err != nil || e.State != Unknown {
		t.Error(e, err)
	}
}

// TestOutcomeNotWritten: the tool ran, then the disk was full.
func TestOutcomeNotWritten(t *testing.T) {
	dir := t.TempDir()
	l, a := openAt(t, dir), action("x")
	f := &fake{run: func(context.Context, tool.Call) (tool.Result, error) {
		for _, pragma := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA max_page_count = 1"} {
			if _, err := l.db.Exec(pragma); err != nil {
				t.Error(err)
			}
		}
		return tool.Text(strings.Repeat("x", 64<<10)), nil
	}}
	e, err := l.Run(t.Context(), a, f)
	if !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrUnusable) || e.State != Unknown || !strings.Contains(e.Note, "full") {
		t.Fatalf("got %+v, %v", e, err)
	}
	if e.Result == nil {
		t.Error("who ran it does not get the answer that could not be recorded")
	}
	again := openAt(t, dir)
	if e, err := again.Run(t.Context(), a, f); !errors.Is(err, ErrUnknown) || f.runs.Load() != 1 {
		t.Errorf("afterwards: %+v, %v, %d runs", e, err, f.runs.Load())
	}
}

func TestPlan(t *testing.T) {
	l := openAt(t, t.TempDir())
	look := action("look")
	look.Effect = tool.ReadOnly
	if err := l.Plan(t.Context(), action("a"), look, action("b")); err != nil {
		t.Fatal(err)
	}
	l.Run(t.Context(), action("a"), answers(tool.Write, tool.Text("done"), nil))
	if err := l.Plan(t.Context(), action("a"), action("b"), action("c")); err != nil { // the same answer, replayed
		t.Fatal(err)
	}
	if err := l.Plan(t.Context(), action("d"), Action{Tool: "fake"}); err == nil {
		t.Error("an action without a session is planned")
	}
	got, err := l.List(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, e := range got {
		states = append(states, string(e.Input)+" "+string(e.State))
	}
	want := []string{`{"n": "c"} planned`, `{"n": "b"} planned`, `{"n": "a"} succeeded`}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
}

func TestList(t *testing.T) {
	l := openAt(t, t.TempDir())
	done, lost := answers(tool.Write, tool.Text("done"), nil), answers(tool.Write, tool.Result{}, errLost)
	other := action("d")
	other.Session = "other"
	for _, c := range []struct {
		a Action
		t *fake
	}{{action("a"), done}, {action("b"), lost}, {action("c"), done}, {other, done}} {
		l.Run(t.Context(), c.a, c.t)
	}
	for name, c := range map[string]struct {
		filter Filter
		want   string
	}{
		"all":     {Filter{}, "bdca"},
		"session": {Filter{Session: "s"}, "bca"},
		"state":   {Filter{States: []State{Succeeded, Failed}}, "dca"},
		"prefix":  {Filter{Prefix: action("c").Key()[:8]}, "c"},
		"limit":   {Filter{Limit: 2}, "bd"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := l.List(t.Context(), c.filter)
			var got strings.Builder
			for _, e := range all {
				var in struct{ N string }
				if err := json.Unmarshal(e.Input, &in); err != nil {
					t.Error(err)
				}
				got.WriteString(in.N)
			}
			if got.String() != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got.String(), err, c.want)
			}
		})
	}
}

func TestSettleRefused(t *testing.T) {
	l, a := openAt(t, t.TempDir()), action("x")
	if _, err := l.Settle(t.Context(), a.Key(), Happened, "", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("a call that is not there: %v", err)
	}
	ended(tool.Text("done"), nil)(t, l, a)
	if _, err := l.Settle(t.Context(), a.Key(), NotHappened, "", ""); !errors.Is(err, ErrKnown) {
		t.Errorf("a call that is over: %v", err)
	}
	b := action("y")
	ended(tool.Result{}, errLost)(t, l, b)
	if _, err := l.Settle(t.Context(), b.Key(), "perhaps", "", ""); err == nil || !strings.Contains(err.Error(), "not-happened") {
		t.Errorf("a verdict that is none: %v", err)
	}
	if e, err := l.Settle(t.Context(), b.Key(), Happened, "", "3 rows"); err != nil || e.Result.Parts[0].Text != "3 rows" {
		t.Error(e, err)
	}
}

// TestUnusable: what cannot be relied on is never begun anew.
func TestUnusable(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string) error{
		"no database": func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600)
		},
		"a folder": func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) },
		"emptied": func(t *testing.T, path string) error {
			ended(tool.Text("done"), nil)(t, openAt(t, filepath.Dir(path)), action("x"))
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.WriteFile(path, nil, 0o600))
		},
		"cut short": func(t *testing.T, path string) error {
			closed(t, path)
			return os.Truncate(path, 5000)
		},
		"scrambled": func(t *testing.T, path string) error {
			closed(t, path)
			data, err := os.ReadFile(path)
			for i := range data[100:] {
				data[100+i] ^= 0x5a
			}
			return errors.Join(err, os.WriteFile(path, data, 0o600))
		},
		"newer": func(t *testing.T, path string) error {
			openAt(t, filepath.Dir(path)).Close()
			db, err := sql.Open(sqlite.Driver, sqlite.DSN(path, nil))
			if err != nil {
				return err
			}
			_, err = db.Exec("PRAGMA user_version = 99")
			return errors.Join(err, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), fileName)
			if err := spoil(t, path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			if _, err := Open(filepath.Dir(path)); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v", err)
			}
			if after, _ := os.ReadFile(path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
}

// closed leaves a ledger of one call.
func closed(t *testing.T, path string) {
	t.Helper()
	l := openAt(t, filepath.Dir(path))
	ended(tool.Text("done"), nil)(t, l, action("x"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSpoiltInUse: nothing runs once the open file has gone bad or away.
func TestSpoiltInUse(t *testing.T) {
	for name, spoil := range map[string]func(l *Ledger) error{
		"removed": func(l *Ledger) error { return os.Remove(l.path) },
		"replaced": func(l *Ledger) error {
			return errors.Join(os.Rename(l.path, l.path+".old"), os.WriteFile(l.path, nil, 0o600))
		},
		"closed": func(l *Ledger) error { return l.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			l := openAt(t, t.TempDir())
			if err := spoil(l); err != nil {
				t.Fatal(err)
			}
			f := answers(tool.Write, tool.Text("done"), nil)
			if _, err := l.Run(t.Context(), action("x"), f); !errors.Is(err, tool.ErrNotRun) || !errors.Is(err, ErrUnusable) || f.runs.Load() > 0 {
				t.Errorf("got %v, %d runs", err, f.runs.Load())
			}
			f.effect = tool.ReadOnly
			if _, err := l.Run(t.Context(), action("x"), f); err != nil {
				t.Errorf("a read-only tool: %v", err)
			}
		})
	}
}

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	openAt(t, dir)
	for name, want := range map[string]os.FileMode{fileName: 0o600, runningFolder: 0o700} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// TestDurable: what is committed is on the disk, in any connection.
func TestDurable(t *testing.T) {
	l := openAt(t, t.TempDir())
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "fullfsync": "1"} {
		var got string
		if err := l.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, %v", pragma, got, err)
		}
	}
}

// TestKept: what is too long is cut, and says so; who ran the tool gets it whole.
func TestKept(t *testing.T) {
	l, a := openAt(t, t.TempDir()), action("x")
	a.Input = json.RawMessage(`{"text": "` + strings.Repeat("é", maxKept) + `"}`)
	long := tool.Result{Parts: []sdk.Part{
		sdk.TextPart("short"),
		{Kind: sdk.PartImage, MediaType: "image/png", Data: strings.Repeat("A", maxKept)},
		sdk.TextPart(strings.Repeat("é", maxKept)),
		sdk.TextPart("never reached"),
	}}
	e, err := l.Run(t.Context(), a, answers(tool.Write, long, nil))
	if diff := cmp.Diff(&long, e.Result); diff != "" || err != nil {
		t.Errorf("%v\n%.200s", err, diff)
	}
	got, err := l.Get(t.Context(), a.Key())
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Result.Parts; len(p) != 2 || p[0].Text != "short" || p[1].Text != "[image of 262144 bytes was not recorded]" {
		t.Errorf("got %.300v", p)
	}
	if len(got.Input) > maxKept+16 || !json.Valid(got.Input) {
		t.Errorf("an input of %d bytes is recorded", len(got.Input))
	}
	text := kept(tool.Text(strings.Repeat("é", maxKept))).Parts[0].Text
	if !strings.HasSuffix(text, "é\n[262144 more bytes were not recorded]") || len(text) > maxKept+50 {
		t.Errorf("ends with %q", text[len(text)-60:])
	}
}

func TestTrim(t *testing.T) {
	for name, c := range map[string]struct {
		limits limits
		want   string
	}{
		"nothing to do": {limits{age: time.Hour, calls: 100, bytes: 1 << 30}, "lost done1 done2 done3"},
		"too many":      {limits{age: time.Hour, calls: 2, bytes: 1 << 30}, "lost done3"},
		"too large":     {limits{age: time.Hour, calls: 100, bytes: 1}, "lost"},
		"too old":       {limits{age: -time.Hour, calls: 100, bytes: 1 << 30}, "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := openAt(t, dir)
			ended(tool.Result{}, errLost)(t, l, action("lost"))
			for _, n := range []string{"done1", "done2", "done3"} {
				ended(tool.Text("done"), nil)(t, l, action(n))
			}
			l.Close()
			l, err := open(dir, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			var got []string
			for _, n := range []string{"lost", "done1", "done2", "done3"} {
				if _, err := l.Get(t.Context(), action(n).Key()); err == nil {
					got = append(got, n)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
