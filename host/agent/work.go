package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"spillway/host/agent/ledger"
	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/sdk"
)

// job is a pending call on its way.
type job struct {
	call   Call
	tool   tool.Tool // nil: there is none of that name
	action ledger.Action
	bad    string // why it cannot be run, "" if it can
}

// jobs are the pending calls of a conversation.
func (a *Agent) jobs(c session.Conversation) []job {
	waiting := map[string]bool{}
	for _, p := range c.Pending {
		waiting[p.ID] = true
	}
	counts := map[string]int{}
	last := len(c.Calls) - len(c.Answer.Calls()) // where the last answer's begin
	var jobs []job
	for i, p := range c.Calls {
		j := job{
			call: Call{ID: p.ID, Tool: p.Name, Input: p.Input}, tool: a.tools[p.Name],
			action: ledger.Action{Session: a.o.Session.ID(), Message: c.User, Tool: p.Name, Input: p.Input},
		}
		// Every call counts, also one that was refused: the ordinal must be the same
		// whenever the same answers are read again.
		equal := j.action.Key()
		j.action.Ordinal = counts[equal]
		counts[equal]++
		if i < last || !waiting[p.ID] {
			continue
		}
		raw, invalid := c.Answer.Invalid[p.ID]
		switch {
		case j.tool == nil:
			j.bad = fmt.Sprintf("there is no tool %q", p.Name)
		case invalid:
			j.bad = fmt.Sprintf("the arguments are no JSON object: %.200q", raw)
		case c.Answer.Finish == sdk.FinishMaxTokens:
			j.bad = "not run: your answer was cut at the limit of its length, so the call may not be whole"
		default:
			j.action.Effect = j.tool.Spec().Effect
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func (j job) reads() bool { return j.bad != "" || j.action.Effect == tool.ReadOnly }

// work makes the pending calls: neighbours that only read at the same time, each
// of the others alone.
func (a *Agent) work(ctx context.Context, c session.Conversation) error {
	jobs := a.jobs(c)
	if err := a.plan(ctx, jobs); err != nil {
		return a.stopped(ctx, err)
	}
	for len(jobs) > 0 {
		n := 1
		for jobs[0].reads() && n < len(jobs) && jobs[n].reads() {
			n++
		}
		if err := a.together(ctx, jobs[:n]); err != nil {
			return a.stopped(ctx, err)
		}
		jobs = jobs[n:]
	}
	return nil
}

// stopped is why work ends, which is marked if it was the user's wish. Calls
// without a result stay pending: the ledger knows what became of them.
func (a *Agent) stopped(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if _, undecided := errors.AsType[*UndecidedError](err); undecided {
		return err
	}
	return ErrInterrupted
}

func (a *Agent) plan(ctx context.Context, jobs []job) error {
	var actions []ledger.Action
	for _, j := range jobs {
		if !j.reads() {
			actions = append(actions, j.action)
		}
	}
	if len(actions) == 0 {
		return nil
	}
	return a.o.Ledger.Plan(ctx, actions...)
}

// maxParallel bounds the calls that run at the same time.
const maxParallel = 8

func (a *Agent) together(ctx context.Context, jobs []job) error {
	var wg sync.WaitGroup
	errs := make([]error, len(jobs))
	slots := make(chan struct{}, maxParallel)
	for i, j := range jobs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = a.run(ctx, j)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// run makes a call and keeps its result. On error the call has none.
func (a *Agent) run(ctx context.Context, j job) error {
	if j.bad != "" {
		return a.finish(j, tool.Failed("%s", j.bad), 0)
	}
	refusal, err := a.consent(ctx, j)
	if err != nil {
		return err
	}
	if refusal != "" {
		return a.finish(j, tool.Failed("%s", refusal), 0)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.tell(Event{Kind: EventToolStart, Call: j.call, What: j.what()})
	began := time.Now()
	for tries := 1; ; tries++ {
		e, err := a.attempt(ctx, j)
		switch {
		case err == nil && e.Result != nil:
			return a.finish(j, *e.Result, time.Since(began))
		case err == nil: // the ledger promises one
			return fmt.Errorf("tool %s: call %s is %s and has no result", e.Tool, e.Key, e.State)
		case e.NeedsPerson():
			again, err := a.decide(ctx, e)
			if err != nil {
				return err
			}
			if !again {
				return &UndecidedError{Session: a.o.Session.ID(), Entry: e}
			}
		case ctx.Err() != nil:
			return err
		case isUndecided(err): // of a nested agent
			return err
		case errors.Is(err, ledger.ErrUnusable):
			return err
		case errors.Is(err, tool.ErrNotRun):
			return a.finish(j, tool.Failed("%v", err), time.Since(began))
		case errors.Is(err, ledger.ErrUnknown) && tries < maxTries: // it may be run again
		case errors.Is(err, ledger.ErrUnknown):
			return a.finish(j, tool.Failed("%v", err), time.Since(began))
		default:
			return err
		}
	}
}

// maxTries bounds how often an idempotent call is made whose outcome gets lost.
const maxTries = 2

func (a *Agent) attempt(ctx context.Context, j job) (ledger.Entry, error) {
	if a.o.Ledger != nil {
		return a.o.Ledger.Run(ctx, j.action, j.tool)
	}
	r, err := j.tool.Run(ctx, tool.Call{Key: j.action.Key(), Input: j.action.Input})
	if err != nil && ctx.Err() == nil { // it only reads
		r, err = tool.Failed("%v", err), nil
	}
	return ledger.Entry{Action: j.action, Result: &r}, err
}

func isUndecided(err error) bool {
	_, ok := errors.AsType[*UndecidedError](err)
	return ok
}

// finish keeps a call's result.
func (a *Agent) finish(j job, r tool.Result, took time.Duration) error {
	r.Parts = a.fitting(r.Parts)
	if err := a.o.Session.Append(session.Entry{Kind: session.KindResult, ID: j.call.ID, Parts: r.Parts, Failed: r.Error}); err != nil {
		return err
	}
	a.tell(Event{Kind: EventToolResult, Call: j.call, Result: r, Took: took})
	return nil
}

func (j job) what() string {
	if c, ok := j.tool.(tool.Confirmer); ok {
		what, _ := c.Confirm(j.call.Input)
		return what
	}
	return ""
}

// leave ends what an earlier message has left behind before another is taken. A
// call that nobody has begun is not made any more; one that was begun has a
// result, or a person decides about it.
func (a *Agent) leave(ctx context.Context, c session.Conversation) error {
	if len(c.Pending) == 0 {
		return nil
	}
	for _, j := range a.jobs(c) {
		if j.reads() {
			continue
		}
		e, err := a.o.Ledger.Get(ctx, j.action.Key())
		if errors.Is(err, ledger.ErrNotFound) || err == nil && e.State == ledger.Planned {
			continue
		}
		if err != nil {
			return err
		}
		if err := a.run(ctx, j); err != nil {
			return a.stopped(ctx, err)
		}
	}
	return nil
}
