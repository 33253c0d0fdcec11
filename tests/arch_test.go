package tests

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edges are the imports between siblings of host/ that are allowed, each with
// its reason. Whatever else a package of host/ imports of ours is sdk, or a
// package below itself.
var edges = map[string]map[string]string{
	"host": {
		"host/dialect":      "a call's payload is in a dialect",
		"host/llm":          "it makes the waterfall",
		"host/profile":      "it reads the profile",
		"host/provider":     "it makes the providers",
		"host/sim":          "the module provider-sim",
		"host/state":        "it opens the store",
		"host/state/record": "it begins each request's record",
		"host/story":        "what runs, as status shows it",
		"host/supervisor":   "it starts the plugins",
		"host/telemetry":    "the module telemetry",
		"profiles":          "the vendor data",
	},
	"host/agent": {
		"host":              "it makes the model calls",
		"host/dialect":      "what a prompt needs from who serves it",
		"host/llm":          "a call has a payload",
		"host/state/record": "what it tells of a switch",
	},
	"host/agent/session": {"host/filelock": "one process has a session"},
	"host/agent/ledger": {
		"host/filelock":   "one process runs a call",
		"host/agent/tool": "it runs tools, and keeps their results",
		"host/sqlite":     "how its file is opened",
	},
	"host/agent/tools": {"host/agent/tool": "they are tools"},
	"host/agent/mcp": {
		"host/agent/tool": "it makes tools",
		"host/procgroup":  "a server is ended with what it started",
		"host/profile":    "variables and headers are secrets",
	},
	"host/cli": {
		"host":                 "it composes the runtime",
		"host/agent":           "run gives it a task",
		"host/agent/ledger":    "what a person decides about a tool call, and the command ledger",
		"host/agent/session":   "the conversations of run",
		"host/agent/mcp":       "the tools of a profile's MCP servers",
		"host/agent/tool":      "the tools of the profile's rows",
		"host/agent/tools":     "the built-in ones of them",
		"host/control":         "status and explain ask a running host",
		"host/dialect/failure": "classify reads recorded answers",
		"host/doctor":          "the command doctor",
		"host/drill":           "the command drill",
		"host/gateway":         "serve",
		"host/profile":         "config dump, and where profiles are",
		"host/sim":             "the command sim",
		"host/state":           "status and explain read the store of a host that is gone",
		"host/state/record":    "the notices of run",
		"host/story":           "what people read",
		"host/supervisor":      "classify starts the plugin that judges",
		"host/web":             "the page of serve",
		"profiles":             "the built-in profiles",
	},
	"host/cmd/spillway": {"host/cli": "main"},
	"host/control": {
		"host/filelock":     "one process has the socket",
		"host/profile":      "where the socket is",
		"host/state/record": "what explain asks for",
		"host/story":        "what status asks for",
	},
	"host/dialect":             {"host/sse": "encoders write frames"},
	"host/dialect/dialecttest": {"host/sse": "it reads a client's stream"},
	"host/dialect/grammar":     {"host/sse": "it reads what a client is sent"},
	"host/doctor": {
		"host":          "it checks the profile",
		"host/control":  "whether a host runs",
		"host/profile":  "where the profile's files are",
		"host/provider": "why a vendor lists no models",
		"host/state":    "whether the store opens",
	},
	"host/drill": {
		"host":              "it runs the profile",
		"host/gateway":      "with which status an error is told",
		"host/llm":          "it makes a call of a prompt",
		"host/profile":      "it reads which routes are listed, and where",
		"host/sim":          "the vendors that take the real ones' places",
		"host/state/record": "who was asked, and what it moved",
		"host/story":        "the reader's language, and reasons in words",
	},
	"host/gateway": {
		"host":                 "it makes the calls",
		"host/dialect":         "requests and answers are in one",
		"host/dialect/grammar": "samples of answers are checked",
		"host/llm":             "it relays raw answers",
		"host/profile":         "the token is a secret",
		"host/state":           "the metrics show plugins' statuses",
		"host/state/record":    "what the access log and the metrics tell of a request",
		"host/telemetry":       "the names of the metrics",
	},
	"host/profile": {"host/filelock": "one process saves at a time"},
	"host/llm": {
		"host/dialect":      "a payload is in one, a raw frame has its mark",
		"host/profile":      "a client's credential is a secret",
		"host/state/record": "a trace is a record in the making",
	},
	"host/provider": {
		"host/dialect":         "it speaks them",
		"host/dialect/failure": "it judges what came back",
		"host/llm":             "it is the waterfall's terminal",
		"host/profile":         "keys are secrets",
		"host/sse":             "it reads frames",
	},
	"host/state": {
		"host/sqlite":       "how its file is opened",
		"host/state/record": "it stores them",
	},
	"host/story": {
		"host/agent/ledger":  "it tells what became of tool calls",
		"host/agent/session": "it lists conversations",
		"host/agent/tool":    "their results",
		"host/state/record":  "it tells them",
	},
	"host/supervisor": {"host/procgroup": "a plugin is ended with what it started"},
	"host/telemetry": {
		"host/profile":      "a collector's headers are secrets",
		"host/state/record": "spans are made of them",
	},
	"host/web": {
		"host":              "it shows what runs, and gives it orders",
		"host/profile":      "what settings are changed and where they are",
		"host/state":        "which requests are asked for",
		"host/state/record": "it draws requests",
		"host/story":        "what people read of them",
	},
}

// source is one Go file's package folder and imports of ours.
type source struct {
	folder  string
	file    string
	imports []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		s := source{folder: filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../")), file: path}
		for _, i := range f.Imports {
			s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ours is an import's folder if it is of this module.
func ours(path string) (string, bool) { return strings.CutPrefix(path, "spillway/") }

func TestImports(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.file, "_test.go") {
			continue
		}
		for _, imp := range s.imports {
			folder, mine := ours(imp)
			switch {
			case s.folder == "sdk" && strings.Contains(imp, "."), s.folder == "sdk" && mine:
				t.Errorf("%s imports %s: sdk is standard library only, since plugin authors import it", s.file, imp)
			case !mine:
			case strings.HasPrefix(s.folder, "sdk/") && !strings.HasPrefix(folder, "sdk"):
				t.Errorf("%s imports %s: sdk imports nothing of ours but sdk", s.file, imp)
			case strings.HasPrefix(s.folder, "plugin/") && strings.HasPrefix(folder, "host"),
				strings.HasPrefix(s.folder, "host") && strings.HasPrefix(folder, "plugin"):
				t.Errorf("%s imports %s: plugins and host meet only at the wire", s.file, imp)
			case strings.HasPrefix(s.folder, "host") && !strings.HasPrefix(folder, "sdk") && !strings.HasPrefix(folder, s.folder+"/"):
				if edges[s.folder][folder] == "" {
					t.Errorf("%s imports %s: not in the map of tests/arch_test.go; give the edge and its reason", s.file, imp)
				}
				used[s.folder+" "+folder] = true
			case s.folder == "host" && strings.HasPrefix(folder, "host/"):
				if edges["host"][folder] == "" {
					t.Errorf("%s imports %s: not in the map of tests/arch_test.go; give the edge and its reason", s.file, imp)
				}
				used["host "+folder] = true
			}
		}
	}
	for from, to := range edges {
		for folder := range to {
			if !used[from+" "+folder] && !strings.HasPrefix(folder, from+"/") {
				t.Errorf("edge %s -> %s is not used: remove it from the map", from, folder)
			}
		}
	}
}

// TestBrainIsPure: no clock, lock, goroutine, randomness, log or I/O in the
// brain.
func TestBrainIsPure(t *testing.T) {
	forbidden := []string{"os", "io", "log", "log/slog", "math/rand", "math/rand/v2", "sync", "sync/atomic", "net", "net/http", "context", "runtime"}
	for _, s := range sources(t) {
		if s.folder != "plugin/failover/brain" || strings.HasSuffix(s.file, "_test.go") {
			continue
		}
		for _, imp := range s.imports {
			if slices.Contains(forbidden, imp) {
				t.Errorf("%s imports %s", s.file, imp)
			}
		}
		text, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"time.Now", "time.Since", "time.After", "time.Sleep", "time.NewTimer", "\tgo "} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: %q: time is an argument here", s.file, word)
			}
		}
	}
}

// TestNames: packages are named for what they give, and each says so.
func TestNames(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		base := filepath.Base(s.folder)
		if slices.Contains([]string{"util", "utils", "common", "helpers", "manager", "types", "models", "vendor"}, base) {
			t.Errorf("%s: a package called %s says nothing", s.file, base)
		}
		if strings.HasSuffix(s.file, "_test.go") || strings.HasSuffix(s.file, ".pb.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), s.file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[s.folder] = documented[s.folder] || f.Doc != nil
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", folder)
		}
	}
}

// skips is a call that skips a test, a benchmark or a fuzz target.
var skips = regexp.MustCompile(`\b[tbf]\.Skip(Now|f)?\(`)

// TestNoSleep: tests wait on conditions. In a synctest bubble the clock jumps,
// so sleeping there is exact; what bubbles share stands in files called bubble.
func TestNoSleep(t *testing.T) {
	for _, s := range sources(t) {
		if !strings.HasSuffix(s.file, "_test.go") || filepath.Base(s.file) == "arch_test.go" {
			continue
		}
		text, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		bubble := strings.Contains(string(text), `"testing/synctest"`) || filepath.Base(s.file) == "bubble_test.go"
		if strings.Contains(string(text), "time.Sleep(") && !bubble {
			t.Errorf("%s: time.Sleep outside a bubble", s.file)
		}
		if skips.Match(text) {
			t.Errorf("%s: skips silently", s.file)
		}
	}
}
