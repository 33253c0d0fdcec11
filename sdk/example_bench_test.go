package sdk_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"spillway/sdk"
	"spillway/sdk/plugintest"
)

// plugin is a listener with a manifest.
type plugin struct{ sdk.HookFunc }

func (plugin) Manifest() sdk.Manifest { return sdk.Manifest{Name: "example", Version: "1.0.0"} }

// testBench is what a test's t is to plugintest, for examples, which have none.
type testBench struct {
	testing.TB
	cleanups []func()
}

func (*testBench) Helper()                           {}
func (b *testBench) Cleanup(f func())                { b.cleanups = append(b.cleanups, f) }
func (*testBench) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (b *testBench) end() {
	for _, f := range slices.Backward(b.cleanups) {
		f()
	}
}

// ask makes a call to anthropic/claude-sonnet-5 for each conversation, through
// a plugin in a host of its own, and prints what its caller gets.
func ask(p sdk.Plugin, vendors plugintest.Script, conversations ...string) {
	var tb testBench
	defer tb.end()
	h := plugintest.Start(&tb, p, plugintest.Options{Upstream: vendors.Upstream()})
	for _, c := range conversations {
		text, f := h.Ask(context.Background(), sdk.Request{Provider: "anthropic", Model: "claude-sonnet-5", Conversation: c})
		if f != nil {
			text = f.Error()
		}
		fmt.Printf("%s: %s\n", c, text)
	}
}
