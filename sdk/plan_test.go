package sdk_test

import (
	"fmt"
	"testing"
	"time"

	"spillway/sdk"
)

func TestContentLimit(t *testing.T) {
	l := sdk.ContentLimit{Base: 10 * time.Second, PerPrompt: time.Millisecond, Pace: 15 * time.Second, Most: time.Minute}
	whole := sdk.ContentLimit{Base: 10 * time.Second, PerOutput: 50 * time.Millisecond, Assumed: 1000, Least: 30 * time.Second}
	tests := []struct {
		name           string
		limit          sdk.ContentLimit
		prompt, output int
		want           time.Duration // 0: the plugin is asked
	}{
		{"raised by the pace", l, 0, 0, 15 * time.Second},
		{"beyond the pace", l, 8000, 0, 18 * time.Second},
		{"the pace at most doubles", sdk.ContentLimit{Base: 10 * time.Second, Pace: time.Minute}, 0, 0, 20 * time.Second},
		{"at most", l, 50_000, 0, time.Minute},
		{"too long", l, 50_001, 0, 0},
		{"whole", whole, 0, 2000, 110 * time.Second},
		{"whole, assumed", whole, 0, 0, time.Minute},
		{"whole, least", whole, 0, 10, 30 * time.Second},
		{"absurd prompt", whole, 1 << 40, 0, 0},
		{"absurd output", whole, 0, 1 << 62, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.limit.For(&sdk.Request{MaxTokens: tt.output, Shape: sdk.Shape{PromptTokens: tt.prompt}})
			if ok != (tt.want != 0) || ok && got != tt.want {
				t.Errorf("got %v, %t, want %v", got, ok, tt.want)
			}
		})
	}
}

func TestRuleSound(t *testing.T) {
	good := sdk.Rule{Dispatch: sdk.Dispatch{Limits: sdk.Limits{Connect: time.Second}}, Content: sdk.ContentLimit{Base: time.Second, PerPrompt: time.Second}}
	if !good.Sound() {
		t.Error("a good rule is refused")
	}
	for i, spoil := range []func(*sdk.Rule){
		func(r *sdk.Rule) { r.Dispatch.Delay = 1 },
		func(r *sdk.Rule) { r.Dispatch.Limits.Idle = -1 },
		func(r *sdk.Rule) { r.Content.Base = 25 * time.Hour },
		func(r *sdk.Rule) { r.Content.PerOutput = time.Second + 1 },
		func(r *sdk.Rule) { r.Content.Assumed = -1 },
		func(r *sdk.Rule) { r.MaxPrompt = -1 },
	} {
		r := good
		if spoil(&r); r.Sound() {
			t.Errorf("%d: a bad rule is taken: %+v", i, r)
		}
	}
}

// TestPickKey: conversations keep their keys when another key goes, and without
// one the keys are used in turn.
func TestPickKey(t *testing.T) {
	keys := []string{"k1", "k2", "k3"}
	for turn, want := range []string{"k1", "k2", "k3", "k1"} {
		if got := sdk.PickKey(keys, "", uint64(turn)); got != want {
			t.Errorf("turn %d got %s, want %s", turn, got, want)
		}
	}
	used := map[string]int{}
	for i := range 300 {
		talk := fmt.Sprint("conversation-", i)
		key := sdk.PickKey(keys, talk, uint64(i))
		used[key]++
		if key != "k3" && sdk.PickKey(keys[:2], talk, 0) != key {
			t.Errorf("%s leaves %s, which is still there", talk, key)
		}
	}
	for _, key := range keys {
		if used[key] < 60 {
			t.Errorf("%s has %d of 300 conversations", key, used[key])
		}
	}
}

func TestRequestClassOf(t *testing.T) {
	r := sdk.Request{Provider: "a", Model: "1", Shape: sdk.Shape{Tools: 3, PromptTokens: 7}}
	larger := r
	larger.Shape.Tools, larger.Shape.PromptTokens, larger.MaxTokens = 9, 900, 5
	c, ok := sdk.RequestClassOf(&r)
	if d, _ := sdk.RequestClassOf(&larger); !ok || c != d {
		t.Errorf("sizes make a difference: %+v and %+v", c, d)
	}
	r.Shape.HostedTools = true
	if _, ok := sdk.RequestClassOf(&r); ok {
		t.Error("a request with a vendor's tools has a class")
	}
}
