package story

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"spillway/sdk"
)

// Where the failover plugin's source has the reasons that it gives: what these
// functions return, what these take as an argument called a reason, and what is
// assigned to a reason.
var (
	giveReasons = []string{"unfit", "clause", "lack", "narrowed", "forbidden", "String of reachability"}
	takeReasons = map[string]int{"advance": 2, "giveUp": 2, "stop": 2, "send": 4} // the argument's place
)

// notReasons are never in a record: states of a route that is asked.
var notReasons = []string{"half-open", "open", "unknown"}

// TestEveryReasonHasWords reads the plugin's source, so that a reason without
// words fails here, and so do words for a reason that is gone.
func TestEveryReasonHasWords(t *testing.T) {
	found := map[string]bool{}
	for _, file := range parsed(t, "../../plugin/failover/brain", "../../plugin/failover/driver") {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				reasonsIn(d, func(e ast.Expr) { found[sample(e)] = true })
			case *ast.GenDecl:
				constants(d, func(e ast.Expr) { found[sample(e)] = true })
			}
		}
	}
	delete(found, "")
	for _, s := range notReasons {
		if !found[s] {
			t.Errorf("%q is not in the source any more", s)
		}
		delete(found, s)
	}
	for s := range found {
		for _, w := range []*lexicon{&english, &chinese} {
			if says := w.reason(s); says == s || says == "" || strings.Contains(says, "%!") {
				t.Errorf("%s: reason %q has no words: %q", w.language, s, says)
			}
		}
	}
	for _, r := range reasons {
		if name, ok := strings.CutPrefix(r.word, "no "); ok && slices.Contains(capabilities, name) {
			continue
		}
		if !found[r.word] {
			t.Errorf("no reason %q in the plugin's source", r.word)
		}
	}
	for _, r := range endings {
		if !found["RATE_LIMIT"+r.word] && !found["head is out"+r.word] {
			t.Errorf("no reason ends in %q in the plugin's source", r.word)
		}
	}
}

// capabilities are those of package sdk.
var capabilities = []string{
	sdk.CapTools, sdk.CapParallelTools, sdk.CapVision, sdk.CapDocuments, sdk.CapReasoning, sdk.CapStructured, sdk.CapStreaming,
}

func TestEveryCapabilityHasWords(t *testing.T) {
	for _, c := range capabilities {
		if english.find(reasons, "no "+c) == "" {
			t.Errorf("no words for a candidate without %s", c)
		}
	}
}

// TestEveryPhraseHasWords reads the names of the plugin's rules of wording.
func TestEveryPhraseHasWords(t *testing.T) {
	found := map[string]bool{}
	for _, file := range parsed(t, "../../plugin/failover/classify") {
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if k, ok := kv.Key.(*ast.Ident); ok && k.Name == "name" {
					if s := literal(kv.Value); s != "" {
						found[strings.TrimSuffix(s, "-zh")] = true
					}
				}
			}
			return true
		})
	}
	for s := range found {
		if english.find(phrases, s) == "" {
			t.Errorf("no words for the rule %q", s)
		}
	}
	for _, p := range phrases {
		if !found[p.word] {
			t.Errorf("no rule %q in the plugin's source", p.word)
		}
	}
}

// reasonsIn yields the expressions of f that are reasons.
func reasonsIn(f *ast.FuncDecl, yield func(ast.Expr)) {
	if f.Body == nil {
		return
	}
	gives := slices.Contains(giveReasons, f.Name.Name) || slices.Contains(giveReasons, f.Name.Name+" of "+receiver(f))
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				if gives {
					yield(e)
				}
			}
		case *ast.CallExpr:
			name := callee(n)
			if i, ok := takeReasons[name]; ok && i < len(n.Args) {
				yield(n.Args[i])
			}
			if slices.Contains(giveReasons, name) {
				for _, e := range n.Args {
					yield(e)
				}
			}
		case *ast.AssignStmt:
			for i, e := range n.Lhs {
				if i < len(n.Rhs) && aReason(e) {
					if n.Tok == token.ADD_ASSIGN {
						yield(&ast.BinaryExpr{X: &ast.BasicLit{Kind: token.STRING, Value: `"head is out"`}, Op: token.ADD, Y: n.Rhs[i]})
						continue
					}
					yield(n.Rhs[i])
				}
			}
		case *ast.KeyValueExpr:
			if aReason(n.Key) {
				yield(n.Value)
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "candidate" && len(n.Elts) == 2 {
				yield(n.Elts[1])
			}
		}
		return true
	})
}

// constantReasons are the constants that hold one.
var constantReasons = []string{"nothingLeft", "Unwaited"}

func constants(d *ast.GenDecl, yield func(ast.Expr)) {
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 && slices.Contains(constantReasons, v.Names[0].Name) {
			yield(v.Values[0])
		}
	}
}

func aReason(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "reason" || e.Name == "Reason"
	case *ast.SelectorExpr:
		return e.Sel.Name == "Reason"
	}
	return false
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func callee(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// sample is a reason that the expression may give, with values filled in, ""
// if it holds no text of its own.
func sample(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.BinaryExpr:
		x, y := sample(e.X), sample(e.Y)
		if x == "" && y == "" {
			return ""
		}
		// What stands before a text is a code, what stands behind it a name.
		return cmp.Or(x, "RATE_LIMIT") + cmp.Or(y, "vision")
	case *ast.CallExpr:
		if callee(e) == "Sprintf" {
			format := literal(e.Args[0])
			if format == "contract %s@%d: %s" {
				return fmt.Sprintf(format, "coding", 2, "no vision")
			}
			return strings.NewReplacer("%s", "unknown", "%d", "8000").Replace(format)
		}
	}
	return ""
}

func literal(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		s, _ := strconv.Unquote(l.Value)
		return s
	}
	return ""
}

// parsed are the Go files of folders, without their tests.
func parsed(t *testing.T, folders ...string) (files []*ast.File) {
	t.Helper()
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no source (%v)", folder, err)
		}
		for _, p := range paths {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
	}
	return files
}
