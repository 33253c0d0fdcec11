package sdk_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// Failover: when the vendor fails before anything was shown, the call goes to
// another one.
func Example() {
	failover := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, call.Request)
		if err != nil {
			return nil, err
		}
		if f := sdk.AwaitVisible(ctx, s); f == nil || f.Class() == sdk.ClassCaller {
			return s, nil // an answer, or a failure that no other vendor would mend
		}
		r := call.Request
		r.Provider, r.Model = "deepseek", "deepseek-flash"
		return call.Reenter(ctx, r)
	}

	vendors := plugintest.Script{
		"anthropic/claude-sonnet-5": {
			{Failure: sdk.NewFailure(sdk.CodeOverloaded, "example", "try again later")},
			{Failure: sdk.NewFailure(sdk.CodeInvalidRequest, "example", "no such parameter")},
			{Text: "hello from anthropic"},
		},
		"deepseek/deepseek-flash": {{Text: "hello from deepseek"}},
	}
	ask(plugin{HookFunc: failover}, vendors, "one", "two", "three")
	// Output:
	// one: hello from deepseek
	// two: INVALID_REQUEST: no such parameter
	// three: hello from anthropic
}

// The vendor is looked up after the last listener, so changing the request's
// route sends the call elsewhere. Nothing of the answer crosses the plugin.
func ExampleNext() {
	cheap := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		r := call.Request
		if r.Conversation == "small talk" {
			r.Provider, r.Model = "deepseek", "deepseek-flash"
		}
		return next(ctx, r)
	}

	vendors := plugintest.Script{
		"anthropic/claude-sonnet-5": {{Text: "from anthropic"}},
		"deepseek/deepseek-flash":   {{Text: "from deepseek"}},
	}
	ask(plugin{HookFunc: cheap}, vendors, "small talk", "a hard question")
	// Output:
	// small talk: from deepseek
	// a hard question: from anthropic
}

// A retry waits in the host, which the caller can cancel; the plugin never
// sleeps.
func ExampleAwaitVisible() {
	retry := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, call.Request)
		for try := 1; err == nil && try <= 3; try++ {
			f := sdk.AwaitVisible(ctx, s)
			if f == nil || f.Class() != sdk.ClassTransient {
				break
			}
			fmt.Printf("attempt %d: %v\n", f.Attempt, f)
			r := call.Request
			r.Dispatch = sdk.Dispatch{Kind: sdk.KindRetry, Reason: string(f.Code), Delay: time.Duration(try) * time.Second}
			s, err = call.Reenter(ctx, r)
		}
		return s, err
	}

	busy := plugintest.Answer{Failure: sdk.NewFailure(sdk.CodeServer, "example", "internal error")}
	vendors := plugintest.Script{"anthropic/claude-sonnet-5": {busy, busy, {Text: "here you are"}}}
	ask(plugin{HookFunc: retry}, vendors, "question")
	// Output:
	// attempt 1: SERVER: internal error
	// attempt 2: SERVER: internal error
	// question: here you are
}

// Map changes an answer on its way to the caller.
func ExampleMap() {
	discreet := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		s, err := next(ctx, call.Request)
		if err != nil {
			return nil, err
		}
		return sdk.Map(s, func(e sdk.Event) sdk.Event {
			e.Text = strings.ReplaceAll(e.Text, "hunter2", "*******")
			return e
		}), nil
	}

	vendors := plugintest.Script{"anthropic/claude-sonnet-5": {{Text: "the password is hunter2"}}}
	ask(plugin{HookFunc: discreet}, vendors, "question")
	// Output:
	// question: the password is *******
}

// A listener that uses neither next nor Reenter answers by itself.
func ExampleAnswer() {
	canned := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		if call.Request.Conversation != "ping" {
			return next(ctx, call.Request)
		}
		return sdk.Answer(
			sdk.Event{Kind: sdk.KindStart, Model: call.Request.Model},
			sdk.Event{Kind: sdk.KindBlockStart, Block: sdk.BlockText},
			sdk.Event{Kind: sdk.KindTextDelta, Text: "po"},
			sdk.Event{Kind: sdk.KindTextDelta, Text: "ng"},
			sdk.Event{Kind: sdk.KindBlockEnd},
			sdk.Event{Kind: sdk.KindUsage, Usage: &sdk.Usage{Output: 1}},
			sdk.Event{Kind: sdk.KindFinish, Finish: sdk.FinishStop},
		), nil
	}

	vendors := plugintest.Script{"anthropic/claude-sonnet-5": {{Text: "from anthropic"}}}
	ask(plugin{HookFunc: canned}, vendors, "ping", "question")
	// Output:
	// ping: pong
	// question: from anthropic
}

// A Failure is an error: a listener returns it to end the call. A caller's code
// says that no other vendor should be tried.
func ExampleFailure() {
	guard := func(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
		if call.Request.Provider == "anthropic" && call.Depth == 0 {
			return nil, sdk.NewFailure(sdk.CodePolicy, "guard.egress", "this data must not leave the country")
		}
		return next(ctx, call.Request)
	}

	ask(plugin{HookFunc: guard}, nil, "question")
	// Output:
	// question: POLICY: this data must not leave the country
}

// limiter is a plugin with settings that may change while it runs.
type limiter struct{ settings sdk.Live[limits] }

type limits struct {
	MaxTokens int `json:"maxTokens"`
}

func (*limiter) Manifest() sdk.Manifest { return sdk.Manifest{Name: "limiter", Version: "1.0.0"} }

func (l *limiter) Configure(_ context.Context, _ sdk.Host, c sdk.Config) error {
	return l.Settings(c, nil)
}

// Settings takes new settings, or refuses them and keeps the old ones.
func (l *limiter) Settings(c sdk.Config, _ []string) error {
	s := &limits{MaxTokens: 1000} // the defaults
	if err := c.Decode(s); err != nil {
		return err
	}
	if s.MaxTokens < 1 {
		return sdk.Faults{{Path: "maxTokens", Value: fmt.Sprint(s.MaxTokens), Message: "too small", Allowed: "1 or more"}}
	}
	l.settings.Store(s)
	return nil
}

func (l *limiter) LLMStream(ctx context.Context, call *sdk.Call, next sdk.Next) (sdk.Stream, error) {
	s := l.settings.Load() // these, to the end of the call
	if n := call.Request.Shape.PromptTokens; n > s.MaxTokens {
		return nil, sdk.NewFailure(sdk.CodeContextWindow, "limiter", fmt.Sprintf("%d tokens, at most %d", n, s.MaxTokens))
	}
	return next(ctx, call.Request)
}

func ExampleLive() {
	var tb testBench
	defer tb.end()
	h := plugintest.Start(&tb, new(limiter), plugintest.Options{Config: `{"maxTokens": 200}`})
	call := sdk.Request{Provider: "anthropic", Shape: sdk.Shape{PromptTokens: 500}}
	settings := func(json string) error {
		return h.Session().Settings(context.Background(), sdk.Config{JSON: []byte(json)}, []string{"maxTokens"})
	}

	_, f := h.Ask(context.Background(), call)
	fmt.Println(f)
	fmt.Println(settings(`{"maxTokens": 0}`))
	fmt.Println(settings(`{"maxTokens": "many"}`))
	fmt.Println(settings(`{}`))
	text, _ := h.Ask(context.Background(), call)
	fmt.Println(text)
	// Output:
	// CONTEXT_WINDOW_EXCEEDED: 500 tokens, at most 200
	// maxTokens: too small, got 0 (allowed: 1 or more)
	// maxTokens: got string, want int
	// <nil>
	// ok
}
