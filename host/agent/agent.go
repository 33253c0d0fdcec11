package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"spillway/host"
	"spillway/host/agent/ledger"
	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/sdk"
)

// Models makes the model calls. It is a *host.Runtime.
type Models interface {
	Call(ctx context.Context, in host.Inbound) (*llm.Call, sdk.Stream)
	Resolve(model string, d dialect.Dialect) (host.Alias, error)
	Graph() *host.Graph
}

// Options say what an agent works with. Models and Session must be set.
type Options struct {
	Models   Models
	Session  *session.Session
	Model    string        // who is asked first; "" for the profile's first route
	System   string        // instructions, in the place of the built-in ones
	MaxTurns int           // model calls that may follow one message; 0: 100
	MaxWait  time.Duration // for one message in all, while nobody can serve

	Tools  []tool.Tool
	Ledger *ledger.Ledger // must be set if a tool does more than read
	// Child is the session of a nested agent; nil keeps it in memory.
	Child func(parent *session.Session, name string) (*session.Session, error)

	// Tell hears what happens. It must not block for long. May be nil.
	Tell func(Event)
	// Confirm asks a person whether a call may be made. Without it the call is
	// refused.
	Confirm func(context.Context, Question) (Consent, error)
	// Decide asks a person about a write whose outcome is unknown. Without it the
	// work ends with an UndecidedError.
	Decide func(context.Context, Unknown) (Decision, error)
}

const defaultMaxTurns = 100

// Agent works on one session.
type Agent struct {
	o     Options
	tools map[string]tool.Tool
	depth int // how many agents it is nested in
	*shared
}

// shared is what nested agents have in common with the first one.
type shared struct {
	mu      sync.Mutex // serialises Tell and Confirm
	allowed map[string]bool
	told    sdk.Route // the route that the user was told of last
	serving sdk.Route // the route of which the user knows that it answers
}

// New returns an agent.
func New(o Options) (*Agent, error) {
	if o.MaxTurns == 0 {
		o.MaxTurns = defaultMaxTurns
	}
	return nested(o, 0, &shared{allowed: map[string]bool{}})
}

func nested(o Options, depth int, s *shared) (*Agent, error) {
	a := &Agent{o: o, depth: depth, shared: s}
	if err := a.SetTools(o.Tools); err != nil {
		return nil, err
	}
	return a, nil
}

// SetModel changes who is asked first, from the next model call on. Whoever wants
// that knows whom to expect.
func (a *Agent) SetModel(model string) {
	a.o.Model = model
	a.mu.Lock()
	a.told, a.serving = sdk.Route{}, sdk.Route{}
	a.mu.Unlock()
}

// SetTools changes the tools that the model may call, from the next message on.
func (a *Agent) SetTools(tools []tool.Tool) error {
	all := tools
	if len(tools) > 0 && a.depth < maxDepth {
		all = append(tools[:len(tools):len(tools)], &task{parent: a})
	}
	named := map[string]tool.Tool{}
	for _, t := range all {
		name := t.Spec().Name
		if named[name] != nil {
			return fmt.Errorf("tool %q: there are two of that name", name)
		}
		if t.Spec().Effect != tool.ReadOnly && a.o.Ledger == nil {
			return fmt.Errorf("tool %q changes something: it needs a ledger", name)
		}
		named[name] = t
	}
	a.o.Tools, a.tools = tools, named
	return nil
}

// Send goes on with a message of the user: Say, then Go.
func (a *Agent) Send(ctx context.Context, parts ...sdk.Part) error {
	if err := a.Say(ctx, parts...); err != nil {
		return err
	}
	return a.Go(ctx)
}

// Say takes a message of the user, which the session has when it returns. What was
// left of earlier work is ended first: calls that had begun are looked after,
// others are not made any more. Errors are those of Go.
func (a *Agent) Say(ctx context.Context, parts ...sdk.Part) error {
	if err := a.leave(ctx, session.Read(a.o.Session.Entries())); err != nil {
		return err
	}
	users := 1
	for _, e := range a.o.Session.Entries() {
		if e.Kind == session.KindUser {
			users++
		}
	}
	// Made of the number alone: a nested agent that is begun again has the same.
	return a.o.Session.Append(session.Entry{Kind: session.KindUser, ID: fmt.Sprintf("m%d", users), Parts: parts})
}

// Go goes on where the session stands, until the model has nothing more to do.
//
// The error is nil when the last answer is complete; an *UndecidedError; a
// *FailedError; ErrInterrupted when ctx ended; ErrTurns; ErrCut or ErrRefused; or
// one of the session's or the ledger's.
func (a *Agent) Go(ctx context.Context) error {
	ctx = withPatience(ctx, a.o.MaxWait)
	for {
		c := session.Read(a.o.Session.Entries())
		var err error
		switch {
		case len(c.Pending) > 0:
			err = a.work(ctx, c)
		case c.Done:
			return a.ended(c)
		case c.Answers >= a.o.MaxTurns:
			return fmt.Errorf("%w: %d answers to one message", ErrTurns, c.Answers)
		default:
			err = a.answer(ctx, c)
		}
		if err != nil {
			return err
		}
	}
}

// ended is what the last answer's end means.
func (a *Agent) ended(c session.Conversation) error {
	if c.Answer == nil {
		return nil
	}
	switch c.Answer.Finish {
	case sdk.FinishMaxTokens:
		return ErrCut
	case sdk.FinishRefusal:
		return ErrRefused
	case sdk.FinishStop, sdk.FinishToolCalls, sdk.FinishError, sdk.FinishAborted:
	}
	return nil
}

// Text is what the last answer says.
func (a *Agent) Text() string {
	c := session.Read(a.o.Session.Entries())
	if c.Answer == nil {
		return ""
	}
	return session.Text(c.Answer.Parts)
}
