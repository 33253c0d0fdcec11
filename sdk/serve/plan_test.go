package serve_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// planner is a plugin with a plan: a failed attempt is followed by one on the
// fallback, and one under way is moved there if it is told to.
type planner struct {
	plan sdk.Plan // published when it is configured
	host sdk.Host

	mu       sync.Mutex
	asked    []sdk.Call // without their streams
	outcomes []sdk.Outcome
	move     bool
}

func (p *planner) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "under-test", Version: "1", Plan: true, Hook: sdk.HookSpec{OnDown: sdk.OnDownWait}}
}

func (p *planner) Configure(_ context.Context, h sdk.Host, _ sdk.Config) error {
	p.host = h
	h.Plan(p.plan)
	return nil
}

func (p *planner) Outcome(o sdk.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes = append(p.outcomes, o)
}

func (p *planner) LLMStream(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	p.mu.Lock()
	p.asked = append(p.asked, sdk.Call{Request: c.Request, Past: c.Past, Running: c.Running})
	move := p.move
	p.mu.Unlock()
	var s sdk.Stream
	var err error
	switch {
	case c.Running != nil && move:
		c.Running.Stream.Close()
		sdk.AwaitVisible(ctx, c.Running.Stream)
		s, err = c.Reenter(ctx, to(c.Request, fallback))
	case c.Running != nil:
		s = c.Running.Stream
	case len(c.Past) > 0:
		s, err = c.Reenter(ctx, to(c.Request, fallback))
	default:
		s, err = next(ctx, c.Request)
	}
	if err != nil {
		return nil, err
	}
	if f := sdk.AwaitVisible(ctx, s); f != nil {
		if c.Running == nil || move {
			return nil, f
		}
		s, err = c.Reenter(ctx, to(c.Request, fallback))
	}
	return s, err
}

// questions are the turns that it has had.
func (p *planner) questions() []sdk.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]sdk.Call(nil), p.asked...)
}

// ruleFor is a rule for the class of r.
func ruleFor(r sdk.Request) sdk.Rule {
	c, _ := sdk.RequestClassOf(&r)
	return sdk.Rule{
		Class: c, Dispatch: sdk.Dispatch{Kind: sdk.KindPrimary, Reason: "head", Tag: "tag"},
		Content: sdk.ContentLimit{Base: 10 * time.Second, PerPrompt: time.Millisecond}, Keys: []string{"k1", "k2"},
	}
}

func planFor(r sdk.Request) sdk.Plan {
	return sdk.Plan{TTL: 30 * time.Second, Rules: []sdk.Rule{ruleFor(r)}}
}

// TestPlannedCallSendsNothing: on the healthy path not a byte crosses before the
// outcome does; the attempt is what the rule says.
func TestPlannedCallSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &planner{plan: planFor(primary)}
		h := newLosable(t, p)
		var orders []sdk.Dispatch
		h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
			orders = append(orders, r.Dispatch)
			return reported(r, sdk.AnswerText(r.Model, "ok"))
		}
		synctest.Wait()
		var crossed atomic.Bool
		h.wire(0).after(0, func() { crossed.Store(true) })
		r := primary
		r.Shape.PromptTokens = 2000
		for range 2 {
			text, f := h.ask(t.Context(), r)
			checkAnswer(t, text, f, "ok", "", "")
		}
		if synctest.Wait(); crossed.Load() {
			t.Error("something crossed to the plugin or from it")
		}
		want := sdk.Dispatch{Kind: sdk.KindPrimary, Reason: "head", Tag: "tag", Key: "k1", Limits: sdk.Limits{FirstContent: 12 * time.Second}}
		second := want
		second.Key = "k2"
		if d := cmp.Diff([]sdk.Dispatch{want, second}, orders); d != "" {
			t.Errorf("orders (-want +got):\n%s", d)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(p.questions()); n != 0 || h.remote.Planned() != 2 {
			t.Errorf("asked %d times, %d calls planned", n, h.remote.Planned())
		}
		if !crossed.Load() || len(p.outcomes) != 2 || !p.outcomes[0].Planned || p.outcomes[0].Tag != "tag" || p.outcomes[0].Kind != sdk.KindPrimary {
			t.Errorf("outcomes: %+v", p.outcomes)
		}
		if pending, _ := h.outbox.Pending(); pending != 0 {
			t.Errorf("%d outcomes not acknowledged", pending)
		}
	})
}

// TestPlanIsNotForAll: which calls are asked about although a plan stands.
func TestPlanIsNotForAll(t *testing.T) {
	long := primary
	long.Shape.PromptTokens = 1001
	hosted := primary
	hosted.Shape.HostedTools = true
	other := primary
	other.Wants.Strict = true
	own := primary
	own.Own = map[string]string{"a": "mine"}
	tests := []struct {
		name    string
		request sdk.Request
		change  func(*sdk.Rule)
		after   time.Duration
		ttl     time.Duration
		want    bool // planned
	}{
		{name: "the class", request: primary, want: true},
		{name: "long prompt", request: long, change: func(r *sdk.Rule) { r.MaxPrompt = 1000 }},
		{name: "long limit", request: long, change: func(r *sdk.Rule) { r.Content.Most = 11 * time.Second }},
		{name: "a vendor's tools", request: hosted},
		{name: "another class", request: other},
		{name: "no own credential", request: primary, change: func(r *sdk.Rule) { r.Own = true }},
		{name: "own credential", request: own, change: func(r *sdk.Rule) { r.Own = true }, want: true},
		{name: "not sound", request: primary, change: func(r *sdk.Rule) { r.Dispatch.Delay = time.Second }},
		{name: "before its end", request: primary, after: 30*time.Second - 1, ttl: 30 * time.Second, want: true},
		{name: "at its end", request: primary, after: 30 * time.Second, ttl: 30 * time.Second},
		{name: "no plan lasts for ever", request: primary, after: time.Minute, ttl: time.Hour},
		{name: "without time", request: primary, ttl: -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rule := ruleFor(primary)
				if tt.change != nil {
					tt.change(&rule)
				}
				if tt.ttl == 0 {
					tt.ttl = time.Second
				}
				p := &planner{plan: sdk.Plan{TTL: tt.ttl, Rules: []sdk.Rule{rule}}}
				h := newLosable(t, p)
				synctest.Wait()
				time.Sleep(tt.after)
				text, f := h.ask(t.Context(), tt.request)
				checkAnswer(t, text, f, "bypassed", "", "")
				if planned := len(p.questions()) == 0; planned != tt.want {
					t.Errorf("planned: %t", planned)
				}
			})
		})
	}
}

// TestPlannedFailureAsks: an attempt that fails becomes an ordinary turn, also of
// a successor, who is told of it as of any that a predecessor made.
func TestPlannedFailureAsks(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("process lost ", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, q := &planner{plan: planFor(primary)}, &planner{}
				h := newLosable(t, p, q)
				h.upstream = func(_ context.Context, r sdk.Request, n int) sdk.Stream {
					if r.Route() == fallback {
						return sdk.AnswerText(r.Model, "from b")
					}
					if lost {
						h.wire(0).cut()
						synctest.Wait()
					}
					return sdk.Fail(failure(sdk.CodeServer))
				}
				synctest.Wait()
				text, f := h.ask(t.Context(), primary)
				checkAnswer(t, text, f, "from b", "", "")
				asked := p
				if lost {
					asked = q
				}
				calls := asked.questions()
				if len(calls) != 1 || len(calls[0].Past) != 1 {
					t.Fatalf("got %+v, want one question with one attempt in the past", calls)
				}
				a := calls[0].Past[0]
				if a.Route != primary.Route() || a.Key != "k1" || a.Tag != "tag" || a.Kind != sdk.KindPrimary || !a.Planned || a.Failure.Code != sdk.CodeServer || a.Started.IsZero() {
					t.Errorf("past: %+v", a)
				}
				if n, m := len(p.questions()), len(q.questions()); n+m != 1 {
					t.Errorf("%d and %d questions", n, m)
				}
			})
		})
	}
}

// TestPlanEnds with its process and when it is drained: calls are asked about then.
func TestPlanEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(h *losable)
	}{
		{"crash", func(h *losable) { h.wire(0).cut() }},
		{"drain", func(h *losable) { _ = h.wire(0).session.Drain(context.Background()) }},
		{"withdrawn", func(h *losable) { h.plan(sdk.Plan{}) }},
		{"replaced", func(h *losable) {
			other := primary
			other.Model = "other"
			h.plan(planFor(other))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, q := &planner{plan: planFor(primary)}, &planner{}
				h := newLosable(t, p, q)
				h.planner = p
				synctest.Wait()
				tt.end(h)
				synctest.Wait()
				text, f := h.ask(t.Context(), primary)
				checkAnswer(t, text, f, "bypassed", "", "")
				if n := len(p.questions()) + len(q.questions()); n != 1 {
					t.Errorf("asked %d times, want once", n)
				}
			})
		})
	}
}

// TestPlanWithdrawnWhileCallsWait: each gets a turn with its attempt running, can
// be moved elsewhere or goes on, and nothing is made twice.
func TestPlanWithdrawnWhileCallsWait(t *testing.T) {
	const callers = 1500 // more than the queue holds
	tests := []struct {
		name   string
		move   bool
		answer string // of the silent vendor, after a while; "" a failure
		want   string
	}{
		{name: "moved", move: true, answer: "late", want: "from b"},
		{name: "left alone, it answers", answer: "late", want: "late"},
		{name: "left alone, it fails", want: "from b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &planner{plan: planFor(primary), move: tt.move}
				h := newLosable(t, p)
				h.planner = p
				h.upstream = func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
					if r.Route() == fallback {
						return sdk.AnswerText(r.Model, "from b")
					}
					return sdk.Hold(authored(func(yield func(sdk.Event, error) bool) {
						select {
						case <-ctx.Done():
						case <-time.After(5 * time.Second):
						}
						if tt.answer == "" || ctx.Err() != nil {
							yield(sdk.FailEvent(failure(sdk.CodeServer)), nil)
						} else if yield(sdk.Event{Kind: sdk.KindTextDelta, Text: tt.answer}, nil) {
							yield(sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}, nil)
						}
					}), 0)
				}
				synctest.Wait()
				var wg sync.WaitGroup
				began := time.Now()
				for range callers {
					wg.Go(func() {
						text, f := h.ask(t.Context(), primary)
						checkAnswer(t, text, f, tt.want, "", "")
					})
				}
				synctest.Wait()
				if n := len(p.questions()); n != 0 {
					t.Fatalf("asked %d times before the plan was withdrawn", n)
				}
				h.plan(sdk.Plan{})
				synctest.Wait()
				calls := p.questions()
				if len(calls) != callers {
					t.Fatalf("%d turns for %d calls that wait", len(calls), callers)
				}
				for _, c := range calls {
					if r := c.Running; r == nil || r.Route != primary.Route() || r.Tag != "tag" || r.Failure != nil || !r.Started.Equal(began) || len(c.Past) > 0 {
						t.Fatalf("turn: %+v", c)
					}
				}
				wg.Wait()
				if took := time.Since(began); tt.move && took != 0 {
					t.Errorf("moved after %s", took)
				}
				synctest.Wait()
				if n := len(p.questions()); n != callers {
					t.Errorf("%d turns, want %d", n, callers)
				}
			})
		})
	}
}

// TestPlanWithdrawnUnderFire: whatever the order of content, failures, withdrawals
// and losses, every call has its answer and none is made twice.
func TestPlanWithdrawnUnderFire(t *testing.T) {
	p := &planner{plan: planFor(primary), move: true}
	h := newLosable(t, p, &planner{plan: planFor(primary), move: true}, &planner{})
	h.planner = p
	h.upstream = func(ctx context.Context, r sdk.Request, n int) sdk.Stream {
		if r.Route() == fallback {
			return sdk.AnswerText(r.Model, "from b")
		}
		runtime.Gosched()
		if n%3 == 0 {
			return sdk.Fail(failure(sdk.CodeServer))
		}
		return sdk.AnswerText(r.Model, "from a")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				text, f := h.ask(t.Context(), primary)
				if f != nil || text != "from a" && text != "from b" {
					t.Errorf("%q, %v", text, f)
				}
				switch {
				case i == 0 && j%2 == 0:
					h.plan(sdk.Plan{})
				case i == 0:
					h.plan(planFor(primary))
				case i == 1 && j%90 == 89:
					h.current().cut()
				}
			}
		})
	}
	wg.Wait()
}

// TestHostilePlans are bounded and do no harm.
func TestHostilePlans(t *testing.T) {
	many := sdk.Plan{TTL: time.Hour}
	for i := range 10_000 {
		r := primary
		r.Model = fmt.Sprint("n", i)
		many.Rules = append(many.Rules, ruleFor(r))
	}
	huge := planFor(primary)
	huge.Rules[0].Dispatch.Tag = strings.Repeat("x", 2<<20)
	nonsense := sdk.Plan{TTL: -5, Rules: []sdk.Rule{{}, {Class: sdk.RequestClass{Route: sdk.Route{Provider: "\xff"}}, Keys: []string{"\xff"}}}}
	for name, plan := range map[string]sdk.Plan{"10 000 rules": many, "huge": huge, "nonsense": nonsense} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &planner{plan: planFor(primary)}
				h := newLosable(t, p)
				synctest.Wait()
				for range 1000 {
					p.host.Plan(plan)
				}
				synctest.Wait()
				last := primary
				last.Model = "n64"
				for _, r := range []sdk.Request{primary, last} {
					text, f := h.ask(t.Context(), r)
					checkAnswer(t, text, f, "bypassed", "", "")
				}
				if n := len(p.questions()); n != 2 {
					t.Errorf("asked %d times, want twice: neither has a rule", n)
				}
			})
		})
	}
}

// TestNoPlanWithoutBoth: a plan of a plugin that does not say so in its manifest,
// or under a host that always asks, is not kept.
func TestNoPlanWithoutBoth(t *testing.T) {
	p := &planner{plan: planFor(primary)}
	h := plugintest.Start(t, p, plugintest.Options{AskAlways: true})
	for range 3 {
		if text, f := h.Ask(t.Context(), primary); f != nil || text != "ok" {
			t.Errorf("%q, %v", text, f)
		}
	}
	if n := len(p.questions()); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// TestOutcomesGoToTheSuccessorOnce: those of a process that was lost before it
// acknowledged them; a failure does not wait.
func TestOutcomesGoToTheSuccessorOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, q := &planner{plan: planFor(primary)}, &planner{plan: planFor(primary)}
		h := newLosable(t, p, q)
		broken := false
		h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
			if broken {
				return reported(r, sdk.Answer(sdk.Event{Kind: sdk.KindTextDelta, Text: "x"}, sdk.FailEvent(failure(sdk.CodeTransport))))
			}
			return reported(r, sdk.AnswerText(r.Model, "ok"))
		}
		synctest.Wait()
		for range 3 {
			h.ask(t.Context(), primary)
		}
		if synctest.Wait(); len(p.outcomes) != 0 {
			t.Fatalf("%d outcomes at once, want them collected", len(p.outcomes))
		}
		h.wire(0).cut()
		synctest.Wait()
		if _, _, err := h.Acquire(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if synctest.Wait(); len(p.outcomes) != 0 || len(q.outcomes) != 3 {
			t.Fatalf("the lost process heard of %d outcomes, its successor of %d", len(p.outcomes), len(q.outcomes))
		}
		h.ask(t.Context(), primary)
		broken = true
		h.ask(t.Context(), primary)
		if synctest.Wait(); len(q.outcomes) != 5 {
			t.Errorf("the successor heard of %d outcomes, want 5: a failure goes at once, with what waits before it", len(q.outcomes))
		}
		for i, o := range q.outcomes {
			if o.Seq != uint64(i+1) {
				t.Errorf("outcome %d has number %d", i, o.Seq)
			}
		}
		time.Sleep(time.Second)
		if pending, _ := h.outbox.Pending(); pending != 0 {
			t.Errorf("%d outcomes are not acknowledged", pending)
		}
	})
}

// fragile breaks over every other outcome.
type fragile struct{ planner }

func (p *fragile) Outcome(o sdk.Outcome) {
	p.planner.Outcome(o)
	if o.Seq%2 == 1 {
		panic("boom")
	}
}

// TestOutcomeThatBreaksAnObserver costs the others of its batch nothing.
func TestOutcomeThatBreaksAnObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fragile{planner{plan: planFor(primary)}}
		h := newLosable(t, p)
		h.upstream = func(_ context.Context, r sdk.Request, _ int) sdk.Stream {
			return reported(r, sdk.AnswerText(r.Model, "ok"))
		}
		synctest.Wait()
		const calls = 5
		for range calls {
			h.ask(t.Context(), primary)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if pending, _ := h.outbox.Pending(); len(p.outcomes) != calls || pending != 0 {
			t.Errorf("heard of %d outcomes of %d, %d not acknowledged", len(p.outcomes), calls, pending)
		}
	})
}

// reporting is a stream that tells its outcome when it has ended.
type reporting struct {
	sdk.Stream
	request sdk.Request
	last    sdk.Event
	tell    func(sdk.Outcome)
}

// reported is s, the answer to r, as a host's stream.
func reported(r sdk.Request, s sdk.Stream) sdk.Stream {
	h := &reporting{request: r}
	h.Stream = sdk.Hold(authored(func(yield func(sdk.Event, error) bool) {
		defer func() {
			h.tell(sdk.Outcome{Route: r.Route(), Key: r.Dispatch.Key, Stream: r.Stream, Committed: true, Failure: h.last.Failure, Finish: h.last.Finish})
		}()
		for e, err := range s.Events() {
			h.last = e
			if !yield(e, err) {
				return
			}
		}
	}), 0)
	return h
}

func (h *reporting) OnOutcome(f func(sdk.Outcome)) { h.tell = f }
func (h *reporting) AwaitVisible(ctx context.Context) *sdk.Failure {
	return sdk.AwaitVisible(ctx, h.Stream)
}
