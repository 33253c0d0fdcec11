package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host"
	"spillway/host/agent"
	"spillway/host/agent/ledger"
	"spillway/host/agent/session"
	"spillway/host/agent/tool"
	"spillway/host/dialect"
	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// models answers calls with what a test has written down, in order.
type models struct {
	t       *testing.T
	mu      sync.Mutex
	answers []func(ctx context.Context, p *sdk.Prompt) sdk.Stream
	prompts []*sdk.Prompt
	in      []host.Inbound
}

func (m *models) Graph() *host.Graph { return new(host.Graph) }

func (m *models) Resolve(string, dialect.Dialect) (host.Alias, error) {
	return host.Alias{Route: sdk.Route{Provider: "p", Model: "m"}}, nil
}

func (m *models) Call(ctx context.Context, in host.Inbound) (*llm.Call, sdk.Stream) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := in.Payload.Prompt()
	if err != nil {
		m.t.Error(err)
	}
	m.prompts, m.in = append(m.prompts, p), append(m.in, in)
	c := &llm.Call{ID: fmt.Sprintf("req_%d", len(m.prompts)), Payload: in.Payload, Trace: llm.NewTrace(record.Request{}, nil, nil)}
	if len(m.answers) == 0 {
		m.t.Errorf("call %d was not expected; the last message: %v", len(m.prompts), p.Messages[len(p.Messages)-1])
		return c, sdk.Fail(sdk.NewFailure(sdk.CodeInvalidRequest, "test", "not expected"))
	}
	next := m.answers[0]
	m.answers = m.answers[1:]
	return c, next(ctx, p)
}

type answer = func(context.Context, *sdk.Prompt) sdk.Stream

func says(text string) answer {
	return func(context.Context, *sdk.Prompt) sdk.Stream { return sdk.AnswerText("m", text) }
}

// calls is an answer that calls tools, "name arguments" each.
func calls(list ...string) answer {
	return func(context.Context, *sdk.Prompt) sdk.Stream {
		events := []sdk.Event{{Kind: sdk.KindStart, Model: "m"}}
		for i, c := range list {
			name, args, _ := strings.Cut(c, " ")
			events = append(events,
				sdk.Event{Kind: sdk.KindBlockStart, Index: i, Block: sdk.BlockToolCall, Name: name, ID: fmt.Sprintf("c%d", i)},
				sdk.Event{Kind: sdk.KindToolCallDelta, Index: i, Text: args},
				sdk.Event{Kind: sdk.KindBlockEnd, Index: i})
		}
		return sdk.Answer(append(events, sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishToolCalls})...)
	}
}

func fails(f sdk.Failure) answer {
	return func(context.Context, *sdk.Prompt) sdk.Stream { return sdk.Fail(&f) }
}

// breaks is an answer that dies after some of its text.
func breaks(text string) answer {
	return func(context.Context, *sdk.Prompt) sdk.Stream {
		return sdk.Answer(
			sdk.Event{Kind: sdk.KindStart, Model: "m"},
			sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText},
			sdk.Event{Kind: sdk.KindTextDelta, Text: text},
			sdk.FailEvent(sdk.NewFailure(sdk.CodeTransport, "test", "cut")))
	}
}

// note is a tool that takes notes: it counts how often each text was written.
type note struct {
	mu     sync.Mutex
	effect tool.Effect
	ran    []string
	run    func(ctx context.Context, text string) (tool.Result, error) // in the place of success
}

func (n *note) Spec() tool.Spec {
	return tool.Spec{Name: "note", Schema: json.RawMessage(`{"type":"object"}`), Effect: n.effect}
}

func (n *note) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ Text string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tool.Result{}, errors.Join(tool.ErrNotRun, err)
	}
	n.mu.Lock()
	n.ran = append(n.ran, in.Text)
	run := n.run
	n.mu.Unlock()
	if run != nil {
		return run(ctx, in.Text)
	}
	return tool.Text("noted " + in.Text), nil
}

// desk is an agent at work in a test.
type desk struct {
	models  *models
	note    *note
	store   *session.Store
	session *session.Session
	options agent.Options
	events  []agent.Event
}

func newDesk(t *testing.T, answers ...answer) *desk {
	t.Helper()
	d := &desk{models: &models{t: t, answers: answers}, note: &note{}, store: session.NewStore(t.TempDir())}
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if d.session, err = d.store.Begin("/work"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.session.Close() })
	d.options = agent.Options{
		Models: d.models, Session: d.session, Tools: []tool.Tool{d.note}, Ledger: l, Child: d.store.Child,
		Tell: func(e agent.Event) { d.events = append(d.events, e) },
	}
	return d
}

// again opens the session anew, as another process would after a crash.
func (d *desk) again(t *testing.T) {
	t.Helper()
	if err := d.session.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.session, err = d.store.Open(d.session.ID()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.session.Close() })
	d.options.Session = d.session
}

func (d *desk) agent(t *testing.T) *agent.Agent {
	t.Helper()
	a, err := agent.New(d.options)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (d *desk) send(t *testing.T, text string) error {
	t.Helper()
	return d.agent(t).Send(t.Context(), sdk.TextPart(text))
}

// kinds are the session's entries in short.
func (d *desk) kinds() []string {
	var kinds []string
	for _, e := range d.session.Entries() {
		kinds = append(kinds, string(e.Kind))
	}
	return kinds
}

func (d *desk) told(kind agent.EventKind) (found []agent.Event) {
	for _, e := range d.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func TestTurns(t *testing.T) {
	d := newDesk(t,
		calls(`note {"text":"a"}`, `note {"text":"b"}`),
		calls(`note {"text":"a"}`), // an equal call, but another one
		says("done"))
	a := d.agent(t)
	if err := a.Send(t.Context(), sdk.TextPart("take notes")); err != nil {
		t.Fatal(err)
	}
	if got := a.Text(); got != "done" {
		t.Errorf("text: got %q", got)
	}
	if diff := cmp.Diff([]string{"a", "b", "a"}, d.note.ran); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
	last := d.models.prompts[2].Messages
	var roles []sdk.Role
	for _, m := range last {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]sdk.Role{"user", "assistant", "tool", "assistant", "tool"}, roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	want := []sdk.Part{
		{Kind: sdk.PartToolResult, ID: "c0", Name: "note", Result: []sdk.Part{sdk.TextPart("noted a")}},
		{Kind: sdk.PartToolResult, ID: "c1", Name: "note", Result: []sdk.Part{sdk.TextPart("noted b")}},
	}
	if diff := cmp.Diff(want, last[2].Parts); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if in := d.models.in[2]; in.Conversation != d.session.ID() || !in.Shape.ToolResult || !in.Shape.ParallelTools || in.Shape.Tools != 2 {
		t.Errorf("inbound: got %+v", in)
	}
}

// What a model gets wrong is told to it, and nothing is run.
func TestBadCalls(t *testing.T) {
	d := newDesk(t, calls(`note [1]`, `note {"text":`, `paint {}`), says("sorry"))
	if err := d.send(t, "go"); err != nil {
		t.Fatal(err)
	}
	if len(d.note.ran) != 0 {
		t.Errorf("ran %q", d.note.ran)
	}
	results := d.models.prompts[1].Messages[2].Parts
	for i, want := range []string{`no JSON object: "[1]"`, `no JSON object: "{\"text\":"`, `there is no tool "paint"`} {
		if got := results[i].Result[0].Text; !results[i].Error || !strings.Contains(got, want) {
			t.Errorf("result %d: got %q, want %q", i, got, want)
		}
	}
	for i, p := range d.models.prompts[1].Messages[1].Parts {
		if string(p.Input) != "{}" {
			t.Errorf("call %d: the history has %s, want an object", i, p.Input)
		}
	}
}

// A broken answer is withdrawn: nothing of it is told again, and it is asked for
// once more.
func TestWithdrawn(t *testing.T) {
	d := newDesk(t, breaks("The answer is"), says("42"))
	if err := d.send(t, "what is it?"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"session", "user", "withdrawn", "answer"}, d.kinds()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if len(d.models.prompts[1].Messages) != 1 {
		t.Errorf("second call: got %v", d.models.prompts[1].Messages)
	}
	if got := d.told(agent.EventWithdrawn); len(got) != 1 || got[0].Failure.Code != sdk.CodeTransport {
		t.Errorf("withdrawn: got %v", got)
	}
	if got := session.Markdown("s", d.session.Entries()); !strings.Contains(got, "The answer is") {
		t.Errorf("the session does not show what was withdrawn: %s", got)
	}
}

func TestWithdrawnForGood(t *testing.T) {
	var all []answer
	for range 5 {
		all = append(all, breaks("half"))
	}
	d := newDesk(t, all...)
	err := d.send(t, "go")
	if f, ok := errors.AsType[*agent.FailedError](err); !ok || !f.Begun {
		t.Errorf("got %v", err)
	}
}

// endless is an answer whose vendor never ends it.
type endless []sdk.Event

func (endless) Close() error { return nil }

func (all endless) Events() iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		for i := 0; yield(all[i%len(all)], nil); i++ {
		}
	}
}

// An answer that does not end is given up before it has taken all memory.
func TestEndless(t *testing.T) {
	for name, e := range map[string]endless{
		"text": {{Kind: sdk.KindTextDelta, Text: strings.Repeat("x", 1<<20)}},
		"calls": {
			{Kind: sdk.KindBlockStart, Block: sdk.BlockToolCall, Name: "note", ID: "c"},
			{Kind: sdk.KindBlockEnd},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, slices.Repeat([]answer{func(context.Context, *sdk.Prompt) sdk.Stream { return e }}, 5)...)
			err := d.send(t, "go")
			if failed, ok := errors.AsType[*agent.FailedError](err); !ok || failed.Failure.Code != sdk.CodeServer {
				t.Errorf("got %v", err)
			}
		})
	}
}

// After a crash the work goes on where it stopped, wherever that was: cut the
// session's file after each entry in turn.
func TestCrashAnywhere(t *testing.T) {
	script := func() []answer {
		return []answer{calls(`note {"text":"a"}`, `note {"text":"b"}`), calls(`note {"text":"a"}`), says("done")}
	}
	whole := newDesk(t, script()...)
	if err := whole.send(t, "go"); err != nil {
		t.Fatal(err)
	}
	entries := whole.session.Entries()
	for n := 2; n <= len(entries); n++ {
		t.Run(fmt.Sprint(n, entries[n-1].Kind), func(t *testing.T) {
			answered := 0
			for _, e := range entries[:n] {
				if e.Kind == session.KindAnswer {
					answered++
				}
			}
			d := newDesk(t, script()[answered:]...)
			d.options.Ledger = whole.options.Ledger
			// The session under its own name, so that the ledger knows its calls.
			store := session.NewStore(t.TempDir())
			d.session = session.NewMemory(whole.session.ID(), "/work")
			d.options.Session, d.options.Child = d.session, store.Child
			for _, e := range entries[1:n] {
				if err := d.session.Append(e); err != nil {
					t.Fatal(err)
				}
			}
			a := d.agent(t)
			if err := a.Go(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(d.note.ran) != 0 {
				t.Errorf("ran again: %q", d.note.ran)
			}
			if a.Text() != "done" {
				t.Errorf("text: got %q", a.Text())
			}
			if diff := cmp.Diff(len(entries), len(d.session.Entries())); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// A call of which nobody knows whether it happened stops the work, also in the
// next process, until a person has decided.
func TestUndecided(t *testing.T) {
	lost := func(context.Context, string) (tool.Result, error) {
		return tool.Result{}, errors.New("the line is dead")
	}
	for _, tt := range []struct {
		name    string
		verdict ledger.Verdict
		runs    int
		result  string
	}{
		{"it happened", ledger.Happened, 1, "This was done"},
		{"it did not", ledger.NotHappened, 2, "noted a"},
		{"nobody can tell", ledger.StaysUnknown, 1, "It is not known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, calls(`note {"text":"a"}`), says("done"))
			d.note.run = lost
			err := d.send(t, "go")
			u, ok := errors.AsType[*agent.UndecidedError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			d.again(t)
			if err := d.agent(t).Go(t.Context()); !errors.Is(err, ledger.ErrUnknown) || len(d.note.ran) != 1 {
				t.Errorf("the next process: got %v and %d runs", err, len(d.note.ran))
			}
			if err := d.send(t, "go on"); !errors.Is(err, ledger.ErrUnknown) {
				t.Errorf("another message: got %v", err)
			}
			if tt.verdict == ledger.Happened { // as "spillway ledger settle" does
				if _, err := d.options.Ledger.Settle(t.Context(), u.Entry.Key, tt.verdict, "", ""); err != nil {
					t.Fatal(err)
				}
			} else {
				d.options.Decide = func(context.Context, agent.Unknown) (agent.Decision, error) {
					return agent.Decision{Verdict: tt.verdict}, nil
				}
			}
			d.note.run = nil
			if err := d.agent(t).Go(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(d.note.ran) != tt.runs {
				t.Errorf("runs: got %d, want %d", len(d.note.ran), tt.runs)
			}
			messages := d.models.prompts[1].Messages
			if got := messages[len(messages)-1].Parts[0].Result[0].Text; !strings.Contains(got, tt.result) {
				t.Errorf("result: got %q, want %q", got, tt.result)
			}
		})
	}
}

// When the user interrupts, what came is kept, and the model is told.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	half := func(ctx context.Context, _ *sdk.Prompt) sdk.Stream {
		cancel()
		return sdk.Answer(
			sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText},
			sdk.Event{Kind: sdk.KindTextDelta, Text: "I was about to"},
			sdk.FailEvent(sdk.NewFailure(sdk.CodeAborted, "test", "gone")))
	}
	d := newDesk(t, half, says("as you wish"))
	if err := d.agent(t).Send(ctx, sdk.TextPart("go")); !errors.Is(err, agent.ErrInterrupted) {
		t.Fatalf("got %v", err)
	}
	d.again(t)
	if err := d.send(t, "something else"); err != nil {
		t.Fatal(err)
	}
	want := []sdk.Message{
		{Role: "user", Parts: []sdk.Part{sdk.TextPart("go")}},
		{Role: "assistant", Parts: []sdk.Part{sdk.TextPart("I was about to")}},
		{Role: "user", Parts: []sdk.Part{
			sdk.TextPart("[The user interrupted you here. What stands above is not complete, and nothing more was done.]"),
			sdk.TextPart("something else"),
		}},
	}
	if diff := cmp.Diff(want, d.models.prompts[1].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// A tool that is interrupted in its middle may have happened: a person is asked
// before the next message.
func TestInterruptedTool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := newDesk(t, calls(`note {"text":"a"}`, `note {"text":"b"}`), says("done"))
	d.note.run = func(ctx context.Context, _ string) (tool.Result, error) {
		cancel()
		return tool.Result{}, ctx.Err()
	}
	err := d.agent(t).Send(ctx, sdk.TextPart("go"))
	if _, ok := errors.AsType[*agent.UndecidedError](err); !ok {
		t.Fatalf("got %v", err)
	}
	asked := 0
	d.options.Decide = func(context.Context, agent.Unknown) (agent.Decision, error) {
		asked++
		return agent.Decision{Verdict: ledger.StaysUnknown}, nil
	}
	if err := d.send(t, "leave it"); err != nil {
		t.Fatal(err)
	}
	if asked != 1 || len(d.note.ran) != 1 {
		t.Errorf("asked %d times, ran %q", asked, d.note.ran)
	}
	results := d.models.prompts[1].Messages[2].Parts
	if got := results[1].Result[0].Text; !strings.Contains(got, "not run") {
		t.Errorf("the second call: got %q", got)
	}
}

func TestTooManyTurns(t *testing.T) {
	d := newDesk(t, calls(`note {"text":"a"}`), calls(`note {"text":"b"}`))
	d.options.MaxTurns = 2
	if err := d.send(t, "go"); !errors.Is(err, agent.ErrTurns) {
		t.Errorf("got %v", err)
	}
}

// Calls that only read run at the same time.
func TestParallel(t *testing.T) {
	d := newDesk(t, calls(`note {"text":"a"}`, `note {"text":"b"}`), says("done"))
	d.note.effect = tool.ReadOnly
	var both sync.WaitGroup
	both.Add(2)
	d.note.run = func(context.Context, string) (tool.Result, error) {
		both.Done()
		both.Wait()
		return tool.Text("seen"), nil
	}
	if err := d.send(t, "go"); err != nil {
		t.Fatal(err)
	}
}
