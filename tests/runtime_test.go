package tests

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spillway/host"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/host/sim"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// The runtime in the test's own process, with plugins as real processes and
// vendors as real servers.

// vendors starts simulated vendors whose answers are numbered words, so that a
// gap, a repetition or two vendors in one answer are seen.
func vendors(t testing.TB, tokens int, gap time.Duration, scripts map[string]string) *sim.Server {
	t.Helper()
	var o sim.Options
	for _, name := range []string{"anthropic", "kimi-coding", "deepseek"} {
		script, ok := scripts[name]
		if !ok {
			continue
		}
		o.Vendors = append(o.Vendors, sim.Vendor{Name: name, Script: script, Answer: sim.Answer{Tokens: tokens, Gap: gap, Numbered: true}})
	}
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rows are the provider rows of a profile for simulated vendors.
func rows(s *sim.Server) string {
	var b strings.Builder
	for _, e := range s.Vendors() {
		fmt.Fprintf(&b, "- id: %s\n  name: provider-openai\n  config: {base_url: %s/v1, models: [m], key: %s}\n", e.Name(), e.URL(), canary)
	}
	return b.String()
}

// canary stands for a key that must appear nowhere.
const canary = "sk-canary-5a8f0e2b9c"

// open runs a profile made of the given rows.
func open(t testing.TB, cordis string, log *slog.Logger) *host.Runtime {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte(cordis), 0o600); err != nil {
		t.Fatal(err)
	}
	rt, err := host.Open(t.Context(), host.Options{Dir: dir, PluginDirs: []string{rig.Plugins(t)}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	for _, e := range rt.Graph().Entries() {
		if e.Error != "" {
			t.Fatalf("%s: %s", e.ID, e.Error)
		}
	}
	return rt
}

// ask makes a streamed call and returns its text, how it ended, and its id.
func ask(ctx context.Context, rt *host.Runtime, route sdk.Route) (string, *sdk.Failure, string) {
	call, s := rt.Call(ctx, host.Inbound{
		Route: route, Stream: true,
		Payload: llm.PromptPayload(&sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("go")}}}}),
	})
	var text strings.Builder
	var end *sdk.Failure
	finished := false
	for e, err := range s.Events() {
		if err != nil {
			end = sdk.NewFailure(sdk.CodePlugin, "test", err.Error())
			break
		}
		if e.Kind == sdk.KindTextDelta {
			text.WriteString(e.Text)
		}
		if e.Kind == sdk.KindFinish {
			finished, end = true, e.Failure
		}
	}
	if !finished && end == nil {
		end = sdk.NewFailure(sdk.CodeTransport, "test", "no finish event")
	}
	call.Trace.Finish(end, text.Len() > 0)
	return text.String(), end, call.ID
}

// whole is the numbered answer of one vendor.
func whole(vendor string, tokens int) string {
	words := make([]string, tokens)
	for i := range words {
		words[i] = fmt.Sprintf("w%d@%s", i, vendor)
	}
	return strings.Join(words, " ")
}
