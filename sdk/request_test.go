package sdk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/sdk"
)

func TestShows(t *testing.T) {
	const all = sdk.DefaultVisible
	tests := []struct {
		kind sdk.EventKind
		in   sdk.Visible // the set in which it is visible
	}{
		{sdk.KindStart, 0},
		{sdk.KindBlockStart, 0},
		{sdk.KindTextDelta, sdk.VisibleText},
		{sdk.KindReasoningDelta, sdk.VisibleReasoning},
		{sdk.KindToolCallDelta, sdk.VisibleToolCall},
		{sdk.KindBlockEnd, 0},
		{sdk.KindUsage, 0},
		{sdk.KindFinish, 0},
		{sdk.KindFinish + 1, 0}, // from a newer peer
		{0, 0},
	}
	for _, tt := range tests {
		full, empty := sdk.Event{Kind: tt.kind, Text: "x"}, sdk.Event{Kind: tt.kind}
		for v := range all + 1 {
			want := tt.in&v != 0
			if v == 0 { // stands for the default
				want = tt.in != 0
			}
			if got := v.Shows(full); got != want {
				t.Errorf("kind %d under %03b: got %t, want %t", tt.kind, v, got, want)
			}
			if v.Shows(empty) {
				t.Errorf("kind %d under %03b: an empty one is visible", tt.kind, v)
			}
		}
	}
}

func TestRoute(t *testing.T) {
	r := sdk.Request{Provider: "kimi-coding", Model: "k3"}
	if got := r.Route().String(); got != "kimi-coding/k3" {
		t.Errorf("got %q", got)
	}
	r.Model = ""
	if got := r.Route().String(); got != "kimi-coding" {
		t.Errorf("without a model: got %q", got)
	}
}

func TestMergeUsage(t *testing.T) {
	have := sdk.Usage{Input: 10, Output: 1, CacheRead: 4}
	got := have.Merge(sdk.Usage{Output: 7, CacheWrite: 2, Reasoning: 3})
	want := sdk.Usage{Input: 10, Output: 7, CacheRead: 4, CacheWrite: 2, Reasoning: 3}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := have.Merge(sdk.Usage{}); got != have {
		t.Errorf("merged with nothing: got %+v, want %+v", got, have)
	}
}

func TestFailEvent(t *testing.T) {
	for _, c := range sdk.Codes() {
		want := sdk.FinishError
		if c == sdk.CodeAborted {
			want = sdk.FinishAborted
		}
		f := sdk.NewFailure(c, "test", "")
		if e := sdk.FailEvent(f); e.Kind != sdk.KindFinish || e.Finish != want || e.Failure != f {
			t.Errorf("%s: got %+v, want finish %s", c, e, want)
		}
	}
}

func TestCatalogueProvider(t *testing.T) {
	c := sdk.Catalogue{Providers: []sdk.Provider{{Name: "a"}, {Name: "b", Loopback: true}}}
	if p, ok := c.Provider("b"); !ok || !p.Loopback {
		t.Errorf("got %+v, %t", p, ok)
	}
	if p, ok := c.Provider("c"); ok {
		t.Errorf("got %+v for a name that is not there", p)
	}
}
