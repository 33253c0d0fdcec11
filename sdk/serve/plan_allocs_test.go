package serve

import (
	"context"
	"testing"
	"time"

	"spillway/sdk"
	wirepb "spillway/sdk/serve/proto"
)

// measured is a source of one session without a process and an attempt without a
// vendor: what is allocated with them is the host's side of a planned call.
type measured struct {
	sdk.Stream // nobody ranges over it
	session    *Session
	outbox     Outbox
	remote     *Remote
	call       *sdk.Call
	next       sdk.Next
	tell       func(sdk.Outcome)
}

func (m *measured) Acquire(context.Context, time.Duration) (*Session, func(), error) {
	return m.session, func() {}, nil
}
func (m *measured) AwaitVisible(context.Context) *sdk.Failure { return nil }
func (m *measured) OnOutcome(f func(sdk.Outcome))             { m.tell = f }

func newMeasured(keys ...string) *measured {
	r := sdk.Request{Provider: "a", Model: "m", Stream: true, Shape: sdk.Shape{PromptTokens: 1000, Tools: 3}}
	class, _ := sdk.RequestClassOf(&r)
	m := &measured{
		session: &Session{link: newLink[*wirepb.ToPlugin](), turns: map[uint64]*hostTurn{}, plans: true},
		call:    sdk.NewCall(nil, "call-1", 0, r),
	}
	m.next = func(context.Context, sdk.Request) (sdk.Stream, error) { return m, nil }
	m.remote = NewRemote("measured", sdk.HookSpec{}, m, &m.outbox)
	m.outbox.attach(m.session.link, true)
	m.session.standing.set(sdk.Plan{TTL: sdk.MaxPlanTTL, Rules: []sdk.Rule{{
		Class: class, Keys: keys, Content: sdk.ContentLimit{Base: time.Second, PerPrompt: time.Millisecond},
		Dispatch: sdk.Dispatch{Kind: sdk.KindPrimary, Reason: "head", Tag: "tag"},
	}}})
	return m
}

// begin runs the call up to its first content, end up to its outcome.
func (m *measured) begin(ctx context.Context) { _, _ = m.remote.LLMStream(ctx, m.call, m.next) }

func (m *measured) end() {
	m.tell(sdk.Outcome{Call: "call-1", Attempt: 1, Route: m.call.Request.Route(), Key: "k1", Committed: true, Stream: true, Finish: sdk.FinishStop})
}

// hear takes what was sent, as a process that acknowledges it does.
func (m *measured) hear() {
	for len(m.session.link.queue) > 0 {
		<-m.session.link.queue
	}
	m.outbox.ack(m.session.link, m.outbox.seq)
}

// What the host's side of a planned call allocates, as measured, with nothing to
// spare for each call.
const (
	// allocsPlanned are those up to the first content: the question, the attempt
	// that the plan counts, its context and its outcome's listener.
	allocsPlanned = 6
	// allocsOutcome are those of an outcome until a process has acknowledged it.
	allocsOutcome = 2
	// allocsBatch are those of the frames for a batch of them, and of its timer.
	allocsBatch = 64
)

// TestPlannedCallAllocates: a planned call is there to be cheap, and what it
// costs must not grow unseen.
func TestPlannedCallAllocates(t *testing.T) {
	for name, keys := range map[string][]string{"no key": nil, "keys in turn": {"k1", "k2"}} {
		t.Run(name, func(t *testing.T) {
			m, ctx := newMeasured(keys...), t.Context()
			if n := testing.AllocsPerRun(100, func() { m.begin(ctx) }); n > allocsPlanned {
				t.Errorf("%v allocations up to the first content, at most %d", n, allocsPlanned)
			}
			n := testing.AllocsPerRun(20, func() {
				for range maxBatch {
					m.begin(ctx)
					m.end()
				}
				m.hear()
			})
			if limit := float64(maxBatch*(allocsPlanned+allocsOutcome) + allocsBatch); n > limit {
				t.Errorf("%v allocations of %d calls to the end, at most %v", n, maxBatch, limit)
			}
			if asked := m.session.last; asked != 0 || m.remote.Planned() == 0 {
				t.Errorf("%d turns, %d calls planned: the plan was not followed", asked, m.remote.Planned())
			}
		})
	}
}

// BenchmarkPlannedCall is the host's side of a planned call, to its first content
// and to the end.
func BenchmarkPlannedCall(b *testing.B) {
	for _, whole := range []bool{false, true} {
		name := "to the first content"
		if whole {
			name = "to the end"
		}
		b.Run(name, func(b *testing.B) {
			m, ctx := newMeasured("k1", "k2"), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				m.begin(ctx)
				if whole {
					m.end()
					m.hear()
				}
			}
		})
	}
}
