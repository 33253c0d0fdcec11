package llm_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/llm"
	"spillway/host/state/record"
	"spillway/sdk"
)

// generation is a vendor's stream that may be followed.
type generation struct {
	sdk.Stream
	request sdk.Request
	failure *sdk.Failure // how it ends
	hosted  bool
}

func (g *generation) AwaitVisible(ctx context.Context) *sdk.Failure {
	return sdk.AwaitVisible(ctx, g.Stream)
}
func (g *generation) Resumes() bool { return g.request.Dispatch.Resume }
func (g *generation) Broken() (sdk.Attempted, bool) {
	return sdk.Attempted{Route: g.request.Route(), Failure: g.failure, Committed: true}, g.Resumes() && !g.hosted
}

// Events of generations.
func text(s string) sdk.Event { return sdk.Event{Kind: sdk.KindTextDelta, Text: s} }
func block(k sdk.BlockKind) sdk.Event {
	return sdk.Event{Kind: sdk.KindBlockStart, Block: k, ID: "c", Name: "f"}
}
func used(in, out int) sdk.Event {
	return sdk.Event{Kind: sdk.KindUsage, Usage: &sdk.Usage{Input: in, Output: out}}
}

var (
	start  = sdk.Event{Kind: sdk.KindStart, ID: "x", Model: "m"}
	end    = sdk.Event{Kind: sdk.KindBlockEnd}
	finish = sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop}
	lost   = sdk.FailEvent(sdk.NewFailure(sdk.CodeTransport, "test", "lost"))
)

// chain resumes on the next of its routes.
func chain(resume bool) llm.Listener {
	return listener("chain", func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		if c.Depth > 0 {
			return next(ctx, c.Request)
		}
		r := c.Request
		r.Dispatch.Resume = resume
		r.Provider = string(rune('a' + len(c.Past)))
		if len(c.Past) > 0 {
			r.Dispatch.Kind = sdk.KindResume
			next = c.Reenter
		}
		s, err := next(ctx, r)
		if err != nil {
			return nil, err
		}
		if f := sdk.AwaitVisible(ctx, s); f != nil {
			return nil, f
		}
		return s, nil
	})
}

// TestResume: what a caller sees of an answer that breaks, and what whoever goes
// on with it is told.
func TestResume(t *testing.T) {
	broken := []sdk.Event{start, used(5, 1), block(sdk.BlockText), text("one "), text("two"), lost}
	tests := []struct {
		name        string
		keep        bool // the listener does not resume
		hosted      bool
		schema      bool
		generations [][]sdk.Event
		want        string // the caller's events
		prompts     int    // messages of the last prompt
	}{
		{name: "goes on", generations: [][]sdk.Event{broken, {start, used(9, 1), block(sdk.BlockReasoning), text("hm"), end, block(sdk.BlockText), text(" three"), end, used(9, 4), finish}},
			want: "start used(5,1) 0:open 0:one  0:two 0:end 1:open 1:\n\n[interrupted: TRANSPORT at a/m; continued by b/m]\n\n 1:end used(14,2) 2:open 2:hm 2:end 2:open 2: three 2:end used(14,5) stop", prompts: 3},
		{name: "twice", generations: [][]sdk.Event{broken, {start, text("three"), lost}, {text("four"), finish}},
			want: "start used(5,1) 0:open 0:one  0:two 0:end 1:open 1:\n\n[interrupted: TRANSPORT at a/m; continued by b/m]\n\n 1:end 2:three 3:open 3:\n\n[interrupted: TRANSPORT at b/m; continued by c/m]\n\n 3:end 4:four stop", prompts: 3},
		{name: "reasoning only", generations: [][]sdk.Event{{start, {Kind: sdk.KindReasoningDelta, Text: "hm"}, lost}, {text("one"), finish}},
			want: "start 0:hm 1:open 1:\n\n[interrupted: TRANSPORT at a/m; continued by b/m]\n\n 1:end 2:one stop", prompts: 1},
		{name: "nobody goes on", generations: [][]sdk.Event{broken, {sdk.FailEvent(sdk.NewFailure(sdk.CodeQuota, "test", "no"))}},
			want: "start used(5,1) 0:open 0:one  0:two TRANSPORT", prompts: 3},
		{name: "not wanted", keep: true, generations: [][]sdk.Event{broken}, want: "start used(5,1) 0:open 0:one  0:two TRANSPORT", prompts: 1},
		{name: "a schema", schema: true, generations: [][]sdk.Event{broken}, want: "start used(5,1) 0:open 0:one  0:two TRANSPORT", prompts: 1},
		{name: "a vendor's tool", hosted: true, generations: [][]sdk.Event{broken}, want: "start used(5,1) 0:open 0:one  0:two TRANSPORT", prompts: 1},
		{name: "a finished call", generations: [][]sdk.Event{{block(sdk.BlockToolCall), {Kind: sdk.KindToolCallDelta, Text: "{}"}, end, text("so"), lost}},
			want: "0:open 0:{} 0:end 0:so TRANSPORT", prompts: 1},
		{name: "half a call", generations: [][]sdk.Event{{text("so"), block(sdk.BlockToolCall), {Kind: sdk.KindToolCallDelta, Text: "{"}, lost}},
			want: "0:so 0:open 0:{ TRANSPORT", prompts: 1},
		{name: "very long", generations: [][]sdk.Event{{text(strings.Repeat("x", 1<<20)), text("y"), lost}}, want: "0:" + strings.Repeat("x", 1<<20) + " 0:y TRANSPORT", prompts: 1},
		{name: "a call afterwards", generations: [][]sdk.Event{broken, {block(sdk.BlockToolCall), {Kind: sdk.KindToolCallDelta, Text: "{}"}, end, {Kind: sdk.KindFinish, Finish: sdk.FinishToolCalls}}},
			want: "start used(5,1) 0:open 0:one  0:two 0:end 1:open 1:\n\n[interrupted: TRANSPORT at a/m; continued by b/m]\n\n 1:end 2:open 2:{} 2:end tool_calls", prompts: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &llm.Call{ID: "r", Request: sdk.Request{Provider: "a", Model: "m"}, Trace: llm.NewTrace(record.Request{Head: sdk.Route{Provider: "a", Model: "m"}}, nil, nil)}
			p := &sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("count")}}}}
			if tt.schema {
				p.Schema = &sdk.Schema{}
			}
			c.Payload = llm.PromptPayload(p)
			var last *sdk.Prompt
			n := 0
			term := terminalFunc(func(r sdk.Request, p *llm.Payload) sdk.Stream {
				last, _ = p.Prompt()
				c.Trace.Begin(r)
				g := &generation{Stream: sdk.Answer(tt.generations[n]...), request: r, failure: tt.generations[n][len(tt.generations[n])-1].Failure, hosted: tt.hosted}
				n++
				return g
			})
			w := llm.New(slog.New(slog.DiscardHandler), term, chain(!tt.keep))
			s := w.Resuming(t.Context(), c, w.Stream(t.Context(), c))
			if f := sdk.AwaitVisible(t.Context(), s); f != nil {
				t.Fatal(f)
			}
			if _, ok := sdk.Find[*generation](s); ok != tt.keep {
				t.Errorf("the vendor's own stream is found: %t", ok)
			}
			if diff := cmp.Diff(tt.want, seen(s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if n != len(tt.generations) || len(last.Messages) != tt.prompts {
				t.Errorf("%d generations, the last was told %+v", n, last.Messages)
			}
			if len(p.Messages) != 1 {
				t.Error("the caller's prompt was changed")
			}
			if tt.prompts == 3 && (!strings.HasPrefix(last.Messages[1].Parts[0].Text, "one two") || last.Messages[2].Role != sdk.RoleUser) {
				t.Errorf("told: %+v", last.Messages)
			}
			if kinds := c.Trace.Record().Attempts; n > 1 && kinds[n-1].Kind != sdk.KindResume {
				t.Errorf("kind %s", kinds[n-1].Kind)
			}
		})
	}
}

type terminalFunc func(r sdk.Request, p *llm.Payload) sdk.Stream

func (f terminalFunc) Dispatch(_ context.Context, _ *llm.Call, r sdk.Request, p *llm.Payload) sdk.Stream {
	return f(r, p)
}

// seen is a stream's events in short.
func seen(s sdk.Stream) string {
	var all []string
	for e, err := range s.Events() {
		switch {
		case err != nil:
			all = append(all, err.Error())
		case e.Kind == sdk.KindStart:
			all = append(all, "start")
		case e.Kind == sdk.KindUsage:
			all = append(all, fmt.Sprintf("used(%d,%d)", e.Usage.Input, e.Usage.Output))
		case e.Kind == sdk.KindBlockStart:
			all = append(all, fmt.Sprintf("%d:open", e.Index))
		case e.Kind == sdk.KindBlockEnd:
			all = append(all, fmt.Sprintf("%d:end", e.Index))
		case e.Kind == sdk.KindFinish && e.Failure != nil:
			all = append(all, string(e.Failure.Code))
		case e.Kind == sdk.KindFinish:
			all = append(all, string(e.Finish))
		default:
			all = append(all, fmt.Sprintf("%d:%s", e.Index, e.Text))
		}
	}
	return strings.Join(all, " ")
}
