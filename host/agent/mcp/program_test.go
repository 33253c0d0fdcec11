package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

// programEnv makes the test binary an MCP server, of the kind that it names.
const programEnv = "SPILLWAY_TEST_MCP"

func TestMain(m *testing.M) {
	if kind, ok := os.LookupEnv(programEnv); ok {
		program(kind)
	}
	os.Exit(m.Run())
}

// program is an MCP server of this test binary.
func program(kind string) {
	switch kind {
	case "dead":
		fmt.Fprint(os.Stderr, "starting\nno licence for token-0123456789")
		os.Exit(3)
	case "deaf": // it reads nothing and says nothing
		<-context.Background().Done()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("{}")
		<-context.Background().Done()
	case "chatty":
		fmt.Println("Welcome to the server!\n\nlistening on stdio")
	case "loud":
		fmt.Fprintln(os.Stderr, "token-0123456789 is my token\x1b[31m")
	}
	if err := toolServer().Run(context.Background(), &mcpsdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// handler is a tool's, in a test server.
type handler = func(context.Context, map[string]string, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error)

func says(text string) *mcpsdk.CallToolResult {
	return &mcpsdk.CallToolResult{Content: []mcpsdk.Content{&mcpsdk.TextContent{Text: text}}}
}

// toolServer has a tool for each rule. Those that change something add a line to
// the file that they are given, so that a test can count.
func toolServer() *mcpsdk.Server {
	s := mcpsdk.NewServer(&mcpsdk.Implementation{Name: "test", Version: "1"}, nil)
	begun, cancelled := make(chan struct{}), make(chan struct{})
	add := func(name string, a *mcpsdk.ToolAnnotations, h handler) {
		s.AddTool(&mcpsdk.Tool{Name: name, Annotations: a, InputSchema: json.RawMessage(
			`{"type":"object","properties":{"file":{"type":"string"},"key":{"type":"string"}},"required":["key"]}`)},
			func(ctx context.Context, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
				var args map[string]string
				if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "arguments: want strings"}
				}
				return h(ctx, args, req)
			})
	}
	add("append", nil, func(_ context.Context, args map[string]string, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return says("appended"), appendLine(args["file"])
	})
	add("lose", nil, func(_ context.Context, args map[string]string, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		if err := appendLine(args["file"]); err != nil {
			return nil, err
		}
		os.Exit(4)
		return nil, nil
	})
	add("hang", nil, func(ctx context.Context, args map[string]string, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		if err := appendLine(args["file"]); err != nil {
			return nil, err
		}
		close(begun)
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})
	add("await", &mcpsdk.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, args map[string]string, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		<-map[string]chan struct{}{"begun": begun, "cancelled": cancelled}[args["what"]]
		return says(args["what"]), nil
	})
	add("echo", &mcpsdk.ToolAnnotations{IdempotentHint: true}, func(_ context.Context, args map[string]string, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		return says(fmt.Sprintf("argument %q, meta %q", args["key"], req.Params.Meta["spillway/key"])), nil
	})
	add("surroundings", nil, func(ctx context.Context, _ map[string]string, req *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		//lint:ignore SA1019 the version that is spoken has roots
		roots, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		return says(dir + "\n" + roots.Roots[0].URI + "\n" + strings.Join(os.Environ(), "\n")), nil
	})
	add("change", nil, func(context.Context, map[string]string, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		s.AddTool(&mcpsdk.Tool{Name: "extra", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
				return says("extra"), nil
			})
		return says("changed"), nil
	})
	add("fail", nil, func(_ context.Context, args map[string]string, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		res := says("it broke")
		res.IsError = true
		return res, nil
	})
	return s
}

func appendLine(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("done\n")
	return err
}

// executed counts the lines of file.
func executed(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// row is a row's config.
type row map[string]any

// programRow is a row of a program of this test binary.
func programRow(t *testing.T, kind string) row {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return row{"command": self, "env": map[string]any{programEnv: kind, "TOKEN": "token-0123456789"}}
}

func options(t *testing.T, r row) Options {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Options{ID: "box", Config: raw, Folder: dir, LookupEnv: os.LookupEnv, Log: slog.New(slog.DiscardHandler)}
}

func open(t *testing.T, r row) *Server {
	t.Helper()
	s, err := Open(t.Context(), options(t, r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// use runs a tool of s.
func use(ctx context.Context, t *testing.T, s *Server, name, input string) (tool.Result, error) {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Spec().Name == toolName(s.id, name) {
			return one.Run(ctx, tool.Call{Key: "key-1", Input: json.RawMessage(input)})
		}
	}
	t.Fatalf("no tool %q", name)
	return tool.Result{}, nil
}

// mustUse runs a tool whose result is known, and returns its text.
func mustUse(t *testing.T, s *Server, name, input string) string {
	t.Helper()
	res, err := use(t.Context(), t, s, name, input)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return textOf(res)
}

func textOf(res tool.Result) string {
	var b strings.Builder
	for _, p := range res.Parts {
		if p.Kind == sdk.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func fileInput(file string) string { return fmt.Sprintf(`{"file":%q}`, file) }
