package plugintest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// plugin passes calls on, or does what hook says, and keeps its host and the
// outcomes.
type plugin struct {
	hook     sdk.HookFunc
	host     sdk.Host
	outcomes chan sdk.Outcome
}

func (p *plugin) Manifest() sdk.Manifest {
	return sdk.Manifest{Name: "under-test", Version: "1", Hook: sdk.HookSpec{MaxDepth: 16}}
}

func (p *plugin) LLMStream(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	if p.hook != nil {
		return p.hook(ctx, c, next)
	}
	return next(ctx, c.Request)
}

func (p *plugin) Configure(_ context.Context, h sdk.Host, c sdk.Config) error {
	p.host = h
	if strings.Contains(string(c.JSON), "bad") {
		return sdk.Faults{{Path: "x", Message: "is bad"}}
	}
	return nil
}

func (p *plugin) Outcome(o sdk.Outcome) {
	if p.outcomes != nil {
		p.outcomes <- o
	}
}

var (
	request = sdk.Request{Provider: "a", Model: "m"}
	busy    = sdk.NewFailure(sdk.CodeOverloaded, "test", "busy")
)

func code(f *sdk.Failure) sdk.Code {
	if f == nil {
		return ""
	}
	return f.Code
}

func TestScript(t *testing.T) {
	script := plugintest.Script{
		"a/m": {{Text: "one"}, {Failure: busy}, {Text: "half", Failure: busy}, {Text: "last"}},
		"b":   {{Text: "without a model"}},
		"c/m": {},
	}
	up := script.Upstream()
	for i, want := range []struct {
		route sdk.Request
		text  string
		code  sdk.Code
	}{
		{request, "one", ""},
		{sdk.Request{Provider: "b"}, "without a model", ""}, // each route has its own count
		{request, "", sdk.CodeOverloaded},
		{request, "half", sdk.CodeOverloaded},
		{request, "last", ""},
		{request, "last", ""}, // the last answer repeats
		{sdk.Request{Provider: "c", Model: "m"}, "", sdk.CodeUnknownModel},
		{sdk.Request{Provider: "d", Model: "m"}, "", sdk.CodeUnknownModel},
	} {
		text, f := plugintest.Collect(up(t.Context(), want.route, 1))
		if text != want.text || code(f) != want.code {
			t.Errorf("%d, %s: got %q, %v, want %q, %q", i, want.route.Route(), text, f, want.text, want.code)
		}
		if f == busy {
			t.Errorf("%d: the script's own failure was given away; whoever changes it changes the script", i)
		}
	}
	// An upstream counts for itself.
	if text, _ := plugintest.Collect(script.Upstream()(t.Context(), request, 1)); text != "one" {
		t.Errorf("another upstream: got %q, want the first answer", text)
	}
}

func TestScriptAfter(t *testing.T) {
	after := make(chan struct{})
	up := plugintest.Script{"a/m": {{Text: "late", After: after}}}.Upstream()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone fishing"))
	_, f := plugintest.Collect(up(ctx, request, 1))
	if code(f) != sdk.CodeAborted || f.Message != "gone fishing" {
		t.Errorf("call that ended: got %v, want ABORTED and why", f)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if text, _ := plugintest.Collect(up(t.Context(), request, 1)); text != "late" {
			t.Errorf("got %q, want late", text)
		}
	})
	close(after)
	wg.Wait()
}

// TestOutcomes: every attempt that a plugin returned has one outcome, however
// its answer was left.
func TestOutcomes(t *testing.T) {
	awaited := func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, c.Request)
		if err != nil {
			return nil, err
		}
		if f := sdk.AwaitVisible(ctx, s); f != nil {
			return c.Reenter(ctx, c.Request)
		}
		return s, nil
	}
	tests := []struct {
		name    string
		hook    sdk.HookFunc
		answers []plugintest.Answer
		leave   func(sdk.Stream)
		want    sdk.Outcome
	}{
		{"read", nil, []plugintest.Answer{{Text: "x"}}, readAll, sdk.Outcome{Attempt: 1, Committed: true, Finish: sdk.FinishStop}},
		{"failed", nil, []plugintest.Answer{{Failure: busy}}, readAll, sdk.Outcome{Attempt: 1, Finish: sdk.FinishError, Failure: busy}},
		{"failed after content", nil, []plugintest.Answer{{Text: "x", Failure: busy}}, readAll, sdk.Outcome{Attempt: 1, Committed: true, Finish: sdk.FinishError, Failure: busy}},
		{"second attempt", awaited, []plugintest.Answer{{Failure: busy}, {Text: "x"}}, readAll, sdk.Outcome{Attempt: 2, Committed: true, Finish: sdk.FinishStop}},
		{"left", nil, []plugintest.Answer{{Text: "x"}}, func(s sdk.Stream) {
			for range s.Events() {
				break
			}
		}, sdk.Outcome{Attempt: 1, Finish: sdk.FinishAborted, Failure: sdk.NewFailure(sdk.CodeAborted, "", "")}},
		{"closed after it was awaited", awaited, []plugintest.Answer{{Text: "x"}}, func(s sdk.Stream) { s.Close() },
			sdk.Outcome{Attempt: 1, Committed: true, Finish: sdk.FinishAborted, Failure: sdk.NewFailure(sdk.CodeAborted, "", "")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &plugin{hook: tt.hook, outcomes: make(chan sdk.Outcome, 4)}
			h := plugintest.Start(t, p, plugintest.Options{Upstream: plugintest.Script{"a/m": tt.answers}.Upstream()})
			tt.leave(h.Call(t.Context(), request))
			got := <-p.outcomes
			tt.want.Seq, tt.want.Call, tt.want.Route = 1, "call-1", request.Route()
			ignore := cmp.Options{
				cmpopts.IgnoreFields(sdk.Outcome{}, "Started", "FirstContent", "Took"),
				cmp.Comparer(func(a, b *sdk.Failure) bool { return code(a) == code(b) }),
			}
			if d := cmp.Diff(tt.want, got, ignore); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got.Started.IsZero() || got.Took < got.FirstContent || got.Committed != (got.FirstContent > 0) {
				t.Errorf("started %v, first content after %v of %v, committed %t", got.Started, got.FirstContent, got.Took, got.Committed)
			}
		})
	}
}

func readAll(s sdk.Stream) { plugintest.Collect(s) }

// TestDepth: re-entry is bounded, and the depth is the host's to count.
func TestDepth(t *testing.T) {
	var depths []int
	p := &plugin{hook: func(ctx context.Context, c *sdk.Call, _ sdk.Next) (sdk.Stream, error) {
		depths = append(depths, c.Depth)
		return c.Reenter(ctx, c.Request)
	}}
	_, f := plugintest.Start(t, p, plugintest.Options{}).Ask(t.Context(), request)
	if code(f) != sdk.CodePlugin || !strings.Contains(f.Message, sdk.ErrTooDeep.Error()) {
		t.Errorf("got %v, want %v", f, sdk.ErrTooDeep)
	}
	if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, depths); d != "" {
		t.Errorf("depths (-want +got):\n%s", d)
	}
}

func TestOpenRefused(t *testing.T) {
	_, err := plugintest.Open(t, &plugin{}, plugintest.Options{Config: `{"x": "bad"}`})
	if d := cmp.Diff(sdk.Faults{{Path: "x", Message: "is bad"}}, err); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestReports: what a plugin tells its host can be looked at.
func TestReports(t *testing.T) {
	p := &plugin{}
	catalogue := sdk.Catalogue{Revision: 3, Providers: []sdk.Provider{{Name: "a", Models: []sdk.Model{{ID: "m", Context: 8}}, Keys: []string{"k"}}}}
	h := plugintest.Start(t, p, plugintest.Options{Catalogue: catalogue})
	if d := cmp.Diff(catalogue, p.host.Catalogue()); d != "" {
		t.Errorf("catalogue (-want +got):\n%s", d)
	}
	decision := sdk.Decision{Call: "call-1", Attempt: 1, Code: sdk.CodeServer, Action: sdk.ActionStop}
	status := sdk.Status{Targets: []sdk.TargetStatus{{Scope: sdk.ScopeRoute, Target: "a/m", State: sdk.CircuitOpen}}}
	p.host.Record(decision)
	p.host.Report(status)
	p.host.Probe("a")
	if err := h.Session().Ping(t.Context()); err != nil { // frames keep their order
		t.Fatal(err)
	}
	if d := cmp.Diff([]sdk.Decision{decision}, h.Decisions()); d != "" {
		t.Errorf("decisions (-want +got):\n%s", d)
	}
	if d := cmp.Diff(status, h.Status()); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a"}, h.Probes()); d != "" {
		t.Errorf("probes (-want +got):\n%s", d)
	}
}

// TestPrompt: what a call says reaches a plugin that asks, and only so.
func TestPrompt(t *testing.T) {
	said := &sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("hello")}}}}
	p := &plugin{hook: func(ctx context.Context, c *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		got, err := c.Prompt(ctx)
		if err != nil {
			return nil, err
		}
		if c.Request.Prompt != nil || !cmp.Equal(got, said) {
			return nil, errors.New("the prompt came unasked, or changed")
		}
		return next(ctx, c.Request)
	}}
	r := request
	r.Prompt = said
	if text, f := plugintest.Start(t, p, plugintest.Options{}).Ask(t.Context(), r); text != "ok" || f != nil {
		t.Errorf("got %q, %v", text, f)
	}
}
