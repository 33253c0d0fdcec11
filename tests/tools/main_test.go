package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/agent/mcp"
	"spillway/host/agent/tool"
	"spillway/host/cli"
	"spillway/sdk"
	"spillway/tests/internal/rig"
)

// spillwayEnv makes the test binary the program spillway.
const spillwayEnv = "SPILLWAY_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(spillwayEnv) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if losing, ok := os.LookupEnv(relayEnv); ok {
		os.Exit(relay(losing, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// row is the config of a row of module mcp.
type row map[string]any

// program is a row of a server from npm.
func program(t *testing.T, name string, args ...string) row {
	t.Helper()
	script := filepath.Join(rig.NodeModules(t, "npm"), "@modelcontextprotocol", name, "dist", "index.js")
	return row{"command": "node", "args": append([]string{script}, args...), "startTimeoutMs": 60_000}
}

// folder is a working folder, by the name that servers know it by.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, id, dir string, r row) *mcp.Server {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.Open(t.Context(), mcp.Options{
		ID: id, Config: raw, Folder: dir, LookupEnv: os.LookupEnv,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func named(t *testing.T, s *mcp.Server, name string) tool.Tool {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Spec().Name == name {
			return one
		}
	}
	t.Fatalf("no tool %q", name)
	return nil
}

// use runs a tool whose result must be known.
func use(ctx context.Context, t *testing.T, s *mcp.Server, name string, input any) tool.Result {
	t.Helper()
	res, err := named(t, s, name).Run(ctx, tool.Call{Key: "key", Input: marshal(t, input)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func textOf(res tool.Result) string {
	var b strings.Builder
	for _, p := range res.Parts {
		switch p.Kind {
		case sdk.PartText:
			b.WriteString(p.Text)
		default:
			fmt.Fprintf(&b, "<%s %s>", p.Kind, p.MediaType)
		}
	}
	return b.String()
}
