package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestListFiles(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{
		"main.go": "", "src/a.ts": "", "src/deep/b.tsx": "", "src/deep/c.js": "", ".git/HEAD": "", ".env": "", "build/out.js": "", "keep.log": "", "x.log": "",
		"src/build": "", ".gitignore": "# made\n/build/\n*.log\n!keep.log\n\n", "src/.git": "gitdir: elsewhere",
	})
	if err := os.Symlink("src", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		input  in
		want   string
		failed bool
	}{
		"all":            {in{}, ".env .gitignore keep.log link main.go src/ src/a.ts src/build src/deep/ src/deep/b.tsx src/deep/c.js", false},
		"ignored, too":   {in{"ignored": true, "pattern": "*.{log,js}"}, "build/out.js keep.log src/deep/c.js x.log", false},
		"a folder":       {in{"path": "src/deep"}, "src/deep/b.tsx src/deep/c.js", false},
		"by name":        {in{"pattern": "*.ts"}, "src/a.ts", false},
		"by path":        {in{"pattern": "src/**/*.{ts,tsx}"}, "src/a.ts src/deep/b.tsx", false},
		"nothing":        {in{"pattern": "*.rs"}, "nothing below . matches *.rs", false},
		"no folder":      {in{"path": "sr"}, "sr does not exist; there is: src", true},
		"a file":         {in{"path": "main.go"}, "main.go: not a directory", true},
		"broken pattern": {in{"pattern": "[z-a]"}, `pattern "[z-a]": not a pattern of names`, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := call(t, files(t, folder, "list_files", ""), c.input)
			if failed != c.failed {
				t.Errorf("failed %v", failed)
			}
			if strings.HasSuffix(got, "\n") {
				got = strings.Join(strings.Fields(got), " ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestListBounded(t *testing.T) {
	folder := t.TempDir()
	content := map[string]string{"z": ""}
	for i := range maxEntries + 10 {
		content[fmt.Sprintf("deep/%04d", i)] = ""
	}
	put(t, folder, content)
	got, _ := call(t, files(t, folder, "list_files", ""), in{})
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != maxEntries+1 || lines[maxEntries] != "[there is more: name a folder or a pattern]" || !strings.Contains(got, "\nz\n") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestSearchFiles(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{
		"a.go": "package a\n\nfunc F() {}\nfunc G() {}\n// end\n", "b.txt": "Func\r\nother\r\n", "bin": "func\x00", ".git/x": "func", "large": strings.Repeat("func\n", 300),
		"gen/g.go": "func Gen() {}\n", ".gitignore": "gen\n",
	})
	const config = `{"maxBytes": 1000}`
	const tail = "[1 files of more than 1000 bytes were not searched]\n"
	for name, c := range map[string]struct {
		input  in
		want   string
		failed bool
	}{
		"plain":         {in{"pattern": `^func \w`}, "a.go:3: func F() {}\na.go:4: func G() {}\n" + tail, false},
		"ignoring case": {in{"pattern": "func$", "ignore_case": true}, "b.txt:1: Func\n" + tail, false},
		"around":        {in{"pattern": "F\\(", "context": 1}, "a.go-2- \na.go:3: func F() {}\na.go-4- func G() {}\n" + tail, false},
		"two around":    {in{"pattern": "package|end", "context": 1}, "a.go:1: package a\na.go-2- \n--\na.go-4- func G() {}\na.go:5: // end\n" + tail, false},
		"adjacent":      {in{"pattern": "^func", "context": 1, "files": "*.go"}, "a.go-2- \na.go:3: func F() {}\na.go:4: func G() {}\na.go-5- // end\n", false},
		"by name":       {in{"pattern": "func", "files": "*.go", "ignored": true}, "a.go:3: func F() {}\na.go:4: func G() {}\ngen/g.go:1: func Gen() {}\n", false},
		"one file":      {in{"pattern": "other", "path": "b.txt"}, "b.txt:2: other\n", false},
		"none":          {in{"pattern": "nowhere", "path": "a.go"}, "no match\n", false},
		"no expression": {in{"pattern": "f("}, "pattern: error parsing regexp: missing closing ): `f(`; to search for the text itself put \\ before special characters", true},
		"no pattern":    {in{}, "pattern has 0 bytes (allowed: 1 to 1024)", true},
		"no folder":     {in{"pattern": "x", "path": "nope"}, "nope does not exist, nor does anything like it; list_files shows what does", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, failed := call(t, files(t, folder, "search_files", config), c.input)
			if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed {
				t.Errorf("failed %v\n%s", failed, diff)
			}
		})
	}
	put(t, folder, map[string]string{"many": strings.Repeat("x\n", 300)})
	got, _ := call(t, files(t, folder, "search_files", ""), in{"pattern": "^x$"})
	if n := strings.Count(got, "many:"); n != maxMatches || !strings.HasSuffix(got, "[there are more than these 200 matches: search a folder, or for something narrower]\n") {
		t.Errorf("%d matches, %q", n, got[len(got)-100:])
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		yes, not string
	}{
		{"*.go", "a.go b/c.go .go", "a.go.txt go a.GO"},
		{"/*.go", "", "a.go"},
		{"src/*.go", "src/a.go", "src/b/a.go a.go x/src/a.go"},
		{"**/*.go", "a.go b/a.go b/c/a.go", "a.js"},
		{"src/**", "src/a src/b/c", "a src"},
		{"a?c", "abc x/aéc", "ac abbc"},
		{"[a-c]x", "ax x/cx", "dx"},
		{"[!a]x", "bx", "ax"},
		{"[^a]x", "bx", "ax"},
		{"{a,b{c,d}}.x", "a.x bc.x bd.x", "b.x abc.x"},
		{`\*.x`, "*.x", "a.x"},
		{"a+(b).x", "a+(b).x", "aab.x"},
		{"[", "[", "a"},
		{"}", "}", "a"},
	} {
		g, err := newGlob(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for name := range strings.FieldsSeq(c.yes) {
			if !g.match(name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for name := range strings.FieldsSeq(c.not) {
			if g.match(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
	for _, bad := range []string{"{a", "[z-a]", strings.Repeat("x", maxPattern+1)} {
		if _, err := newGlob(bad); err == nil {
			t.Errorf("%.10s is a pattern", bad)
		}
	}
}

// FuzzGlob: no pattern does harm, and a name without special characters matches
// itself alone.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"*.go", "src/**/*.{ts,tsx}", "[!a-z]?", `\{`, "{a,{b,c}", "[]]", "[[:alpha:]]", "a.b"} {
		f.Add(seed, "src/a.go")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g, err := newGlob(pattern)
		if err != nil {
			return
		}
		got := g.match(name)
		if pattern != "" && !strings.ContainsAny(pattern, `*?[]{},\/`) && got != (pattern == filepath.Base(name)) && !strings.ContainsAny(name, "/") {
			t.Errorf("%q matches %q: %v", pattern, name, got)
		}
	})
}
