package supervisor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the module, seen from here.
const root = "../.."

// sources are the packages whose tests TRAPS.md names, and their folders.
var sources = map[string]string{
	"serve": "sdk/serve", "story": "host/story", "supervisor": "host/supervisor", "tests": "tests",
}

var (
	testName = regexp.MustCompile(`^\w+\.Test\w+(/\w+)?$`)
	noTest   = regexp.MustCompile(`^none: .{10,}`)
)

// TestTraps: every row of TRAPS.md names tests that are there, or says why it
// has none.
func TestTraps(t *testing.T) {
	known := map[string]bool{}
	for pkg, dir := range sources {
		for _, name := range testsIn(t, filepath.Join(root, dir)) {
			known[pkg+"."+name] = true
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "tests/testdata/script/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		known["tests.TestScripts/"+strings.TrimSuffix(filepath.Base(file), ".txtar")] = true
	}
	text, err := os.ReadFile("TRAPS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, n := 0, 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || line == "| trap | what we do | held by |" || line == "|---|---|---|" {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			t.Errorf("TRAPS.md:%d: %d cells, want 3", n, len(cells))
			continue
		}
		held := strings.TrimSpace(cells[2])
		if noTest.MatchString(held) {
			continue
		}
		for name := range strings.SplitSeq(held, ", ") {
			switch {
			case !testName.MatchString(name):
				t.Errorf("TRAPS.md:%d: %q is neither package.TestName nor \"none: \" and a reason", n, name)
			case !known[name]:
				t.Errorf("TRAPS.md:%d: there is no %s", n, name)
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows: the table is cut or was not read", rows)
	}
}

func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || files == nil {
		t.Fatalf("no tests in %s (%v)", dir, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// unused are names of what TRAPS.md says is not used.
var unused = map[string]bool{
	"AutoMTLS": true, "GRPCBrokerMultiplex": true, "GracefulStop": true, "KeepaliveParams": true, "NextId": true, "Pdeathsig": true,
	"Reattach": true, "SecureConfig": true, "VersionedPlugins": true, "WithKeepaliveParams": true,
}

// TestNotUsed: they are used nowhere on the boundary, whether set, called or
// read.
func TestNotUsed(t *testing.T) {
	for _, dir := range []string{"host/supervisor", "sdk/serve"} {
		err := fs.WalkDir(os.DirFS(filepath.Join(root, dir)), ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(root, dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && unused[id.Name] {
					t.Errorf("%s: %s", set.Position(id.Pos()), id.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
