// Package call measures one call inside a process, without a gateway: with no
// plugin, with the failover plugin whose answer is spliced, and with a plugin
// that every event crosses. "make bench" runs it.
package call

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host"
	"spillway/host/llm"
	"spillway/host/profile"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// TestMain removes the programs if a benchmark had them built.
func TestMain(m *testing.M) {
	code := m.Run()
	if flag.Lookup("test.bench").Value.String() != "" {
		rig.Remove()
	}
	os.Exit(code)
}

// events is the length of a streamed answer.
const events = 100

// vendor answers at once, so that what is left is the way there and back.
func vendor(b *testing.B) string {
	frame := `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`
	var stream strings.Builder
	for range events {
		stream.WriteString("data: " + frame + "\n\n")
	}
	stream.WriteString(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	whole := fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":200}}`, strings.Repeat("word ", 200))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(stream.String()))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(whole))
	}))
	b.Cleanup(s.Close)
	return s.URL + "/v1"
}

func open(b *testing.B, plugin string) *host.Runtime {
	b.Helper()
	rows := fmt.Sprintf("- id: v\n  name: provider-openai\n  config: {base_url: %q, models: [m]}\n", vendor(b))
	switch plugin {
	case "spliced":
		rows += "- id: failover\n  name: failover\n  config: {priority: [v/m]}\n"
	case "relayed":
		rows += "- {id: shout, name: shout}\n"
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, profile.BaseFile), []byte(rows), 0o600); err != nil {
		b.Fatal(err)
	}
	rt, err := host.Open(b.Context(), host.Options{Dir: dir, PluginDirs: []string{rig.Plugins(b)}, Log: slog.New(slog.DiscardHandler), Memory: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(rt.Close)
	return rt
}

func call(b *testing.B, rt *host.Runtime, stream bool) {
	c, s := rt.Call(context.Background(), host.Inbound{
		Route: sdk.Route{Provider: "v", Model: "m"}, Stream: stream,
		Payload: llm.PromptPayload(&sdk.Prompt{Messages: []sdk.Message{{Role: sdk.RoleUser, Parts: []sdk.Part{sdk.TextPart("go")}}}}),
	})
	var f *sdk.Failure
	n := 0
	for e, err := range s.Events() {
		if err != nil {
			b.Fatal(err)
		}
		if e.Kind == sdk.KindTextDelta {
			n++
		}
		f = e.Failure
	}
	c.Trace.Finish(f, true)
	if f != nil || stream && n != events {
		b.Fatalf("got %d events, %v", n, f)
	}
}

func BenchmarkCall(b *testing.B) {
	for _, kind := range []struct {
		name   string
		stream bool
	}{{"whole", false}, {"stream", true}} {
		for _, plugin := range []string{"none", "spliced", "relayed"} {
			b.Run(fmt.Sprintf("answer=%s/plugin=%s", kind.name, plugin), func(b *testing.B) {
				rt := open(b, plugin)
				call(b, rt, kind.stream)
				for b.Loop() {
					call(b, rt, kind.stream)
				}
			})
		}
	}
}
