package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spillway/host/agent/tool"
	"spillway/sdk"
)

func TestReadFile(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{
		"three.txt": "one\ntwo\r\nthree", "empty": "", "binary": "MZ\x00\x01", "latin1.txt": "caf\xe9\n", "long.txt": strings.Repeat("é", 3000) + "\nnext\n",
		"many.txt": strings.Repeat("line\n", 2500), "dir/x.go": "package x\n", "large": strings.Repeat("x", 2000), "README.md": "hello\n",
	})
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		input  in
		want   string // begins so; ends so after the "…"
		failed bool
	}{
		"whole":          {in{"path": "three.txt"}, "     1\tone\n     2\ttwo\n     3\tthree\n", false},
		"part":           {in{"path": "three.txt", "offset": 2, "limit": 1}, "     2\ttwo\n[lines 2 to 2 of 3; go on with offset 3]\n", false},
		"beyond":         {in{"path": "three.txt", "offset": 4}, "three.txt has 3 lines, none from 4 on", true},
		"offset 0":       {in{"path": "three.txt", "offset": 0}, "offset 0, limit 2000: both must be 1 or more", true},
		"empty":          {in{"path": "empty"}, "empty is empty", false},
		"binary":         {in{"path": "binary"}, "binary is no text: it has 4 bytes and looks like application/octet-stream", true},
		"no UTF-8":       {in{"path": "latin1.txt"}, "latin1.txt is no text: it has 5 bytes and looks like text/plain; charset=utf-8", true},
		"long line":      {in{"path": "long.txt"}, "     1\téé…é […4000 more bytes]\n     2\tnext\n", false},
		"many lines":     {in{"path": "many.txt"}, "     1\tline\n…  2000\tline\n[lines 1 to 2000 of 2500; go on with offset 2001]\n", false},
		"folder":         {in{"path": "dir"}, "dir is a folder: list_files shows what is in it", true},
		"pipe":           {in{"path": "pipe"}, "pipe is no regular file", true},
		"too large":      {in{"path": "large"}, "large has 2000 bytes, more than the 1000 that", true},
		"other case":     {in{"path": "readme.txt"}, "readme.txt does not exist; there is: README.md", true},
		"deep":           {in{"path": "dir/sub/x.js"}, "dir/sub/x.js does not exist; there is: dir/", true},
		"nothing like":   {in{"path": "qqq"}, "qqq does not exist, nor does anything like it; list_files shows what does", true},
		"below a file":   {in{"path": "three.txt/a"}, "three.txt/a: not a directory", true},
		"path forgotten": {in{}, "path is empty", true},
	} {
		t.Run(name, func(t *testing.T) {
			config := ""
			if name == "too large" {
				config = `{"maxBytes": 1000}`
			}
			got, failed := call(t, files(t, folder, "read_file", config), c.input)
			begin, end, _ := strings.Cut(c.want, "…")
			if name == "long line" {
				begin, end = "     1\téé", "é […4000 more bytes]\n     2\tnext\n"
			}
			if !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || failed != c.failed {
				t.Errorf("got %.300q, failed %v; want %q", got, failed, c.want)
			}
		})
	}
}

func TestReadImage(t *testing.T) {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	put(t, folder, map[string]string{"a.png": data.String(), "large.png": data.String() + strings.Repeat("x", maxImage)})
	r, err := files(t, folder, "read_file", "").Run(t.Context(), tool.Call{Input: json.RawMessage(`{"path": "a.png"}`)})
	want := tool.Result{Parts: []sdk.Part{
		sdk.TextPart(fmt.Sprintf("a.png (image/png, %d bytes):", data.Len())),
		{Kind: sdk.PartImage, MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(data.Bytes())},
	}}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if text, failed := call(t, files(t, folder, "read_file", ""), in{"path": "large.png"}); !failed || !strings.Contains(text, "more than the 3750000") {
		t.Errorf("got %q", text)
	}
}

func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{"script.sh": "old", "locked": "old", "target": "old", "dir/x": ""})
	for name, mode := range map[string]os.FileMode{"script.sh": 0o750, "locked": 0o444} {
		if err := os.Chmod(filepath.Join(folder, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(t, folder, map[string]string{".git/hooks/x": ""})
	for link, to := range map[string]string{"link": "target", "hooks": ".git/hooks"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		input  in
		want   string
		failed bool
	}{
		"new, with folders": {in{"path": "a/b/new.txt", "content": "hi\n"}, "created a/b/new.txt, 3 bytes", false},
		"replaced":          {in{"path": "script.sh", "content": "new"}, "replaced script.sh, 3 bytes", false},
		"emptied":           {in{"path": "dir/x", "content": ""}, "replaced dir/x, 0 bytes", false},
		"through a link":    {in{"path": "link", "content": "new"}, "replaced target, 3 bytes", false},
		"git's own":         {in{"path": ".git/config", "content": "x"}, ".git/config is git's own; use the commands of git", true},
		"git's, by a link":  {in{"path": "hooks/pre-commit", "content": "x"}, "hooks/pre-commit is git's own; use the commands of git", true},
		"git's, deeper":     {in{"path": "a/.GIT/x", "content": "x"}, "a/.GIT/x is git's own; use the commands of git", true},
		"write-protected":   {in{"path": "locked", "content": "new"}, "locked is write-protected (mode -r--r--r--)", true},
		"a folder":          {in{"path": "dir", "content": "new"}, "dir is no regular file", true},
		"the folder itself": {in{"path": ".", "content": "new"}, ". is no regular file", true},
		"below a file":      {in{"path": "target/new", "content": "new"}, "target/new: not a directory", true},
		"no content":        {in{"path": "nothing"}, "content is missing", true},
		"too large":         {in{"path": "large", "content": strings.Repeat("x", 101)}, "101 bytes are more than the 100 that may be written to a file", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, failed := call(t, files(t, folder, "write_file", `{"maxBytes": 100}`), c.input); got != c.want || failed != c.failed {
				t.Errorf("got %q, failed %v; want %q", got, failed, c.want)
			}
			if path := filepath.Join(folder, fmt.Sprint(c.input["path"])); !c.failed && get(t, path) != c.input["content"] {
				t.Errorf("holds %q", get(t, path))
			}
		})
	}
	if info, err := os.Stat(filepath.Join(folder, "script.sh")); err != nil || info.Mode() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(filepath.Join(folder, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".spillway-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct {
		text, old, new string
		all            bool
		want           string
		err            string
	}{
		"once":            {text: "a\nb\nc\n", old: "b\n", new: "x\ny\n", want: "a\nx\ny\nc\n"},
		"removed":         {text: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n"},
		"twice":           {text: "a\nb\na\n", old: "a", new: "x", err: "old_text stands there 2 times, in lines 1, 3; give more of what is around it, or set replace_all"},
		"everywhere":      {text: "a\nb\na\n", old: "a", new: "x", all: true, want: "x\nb\nx\n"},
		"absent":          {text: "a\n", old: "b", new: "c", err: "old_text does not stand there; read_file shows what does"},
		"other space":     {text: "x\n\tif a {\n", old: "    if a {\n", new: "c", err: "old_text does not stand there exactly so, but its first line is in line 2; mind white space and what follows: read_file shows it"},
		"empty":           {text: "a", old: "", new: "b", err: "old_text is empty; write_file writes a whole file"},
		"no change":       {text: "a", old: "a", new: "a", err: "old_text and new_text are the same"},
		"CRLF":            {text: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "x\n", want: "x\r\nc\r\n"},
		"CRLF, one line":  {text: "a\r\nb\r\n", old: "b", new: "x", want: "a\r\nx\r\n"},
		"CRLF, as it is":  {text: "a\r\nb\r\n", old: "a\r\n", new: "", want: "b\r\n"},
		"overlapping":     {text: "aaa", old: "aa", new: "b", want: "ba"},
		"special signs":   {text: "$1 \\n %s", old: "$1 \\n", new: "%d $0", want: "%d $0 %s"},
		"grows":           {text: strings.Repeat("a", 500), old: "a", new: strings.Repeat("b", 1<<20), all: true, err: "it would have 524288000 bytes, more than the 1000 that may be written to a file"},
		"not normalised":  {text: "e\u0301", old: "é", new: "e", err: "old_text does not stand there; read_file shows what does"},
		"many, cut short": {text: strings.Repeat("a\n", 30), old: "a", new: "b", err: "old_text stands there 30 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, …; give more of what is around it, or set replace_all"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := edit(c.text, c.old, c.new, c.all, 1000)
			if got != c.want || fmt.Sprint(err) != errText(c.err) {
				t.Errorf("got %q, %v; want %q, %s", got, err, c.want, errText(c.err))
			}
		})
	}
}

func errText(s string) string {
	if s == "" {
		return "<nil>"
	}
	return s
}

// FuzzEdit: an edit changes what it was asked to and nothing else, and can be undone.
func FuzzEdit(f *testing.F) {
	for _, seed := range [][3]string{
		{"package a\n\nfunc f() {}\n", "func f", "func g"}, {"a\r\nb\r\n", "a\nb", "c\nd"}, {"aaa", "aa", "a"}, {"", "x", "y"}, {"x", "x", ""}, {"a\r\nb\n", "b\n", "\n"},
	} {
		f.Add(seed[0], seed[1], seed[2], false)
		f.Add(seed[0], seed[1], seed[2], true)
	}
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		after, lines, err := edit(text, old, new, all, 1<<30)
		if err != nil {
			if after != "" {
				t.Error("an error, and a text")
			}
			return
		}
		if len(lines) == 0 || len(lines) > 1 && !all {
			t.Fatalf("lines %v", lines)
		}
		if !strings.Contains(text, old) { // by \r\n
			old, new = strings.ReplaceAll(old, "\n", "\r\n"), strings.ReplaceAll(new, "\n", "\r\n")
		}
		if want := len(text) + len(lines)*(len(new)-len(old)); len(after) != want {
			t.Errorf("%d bytes, want %d", len(after), want)
		}
		if before, _, _ := strings.Cut(text, old); !strings.HasPrefix(after, before+new) || lines[0] != strings.Count(before, "\n")+1 {
			t.Errorf("%q by %q for %q: %q, line %d", text, new, old, after, lines[0])
		}
	})
}

func TestEditFile(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{"a.go": "one\ntwo\nthree\n", "binary": "one\x00"})
	e := files(t, folder, "edit_file", "")
	if got, failed := call(t, e, in{"path": "a.go", "old_text": "two", "new_text": "2"}); failed || got != "edited a.go in line 2" {
		t.Errorf("got %q", got)
	}
	if got, failed := call(t, e, in{"path": "b.go", "old_text": "two", "new_text": "2"}); !failed || !strings.HasPrefix(got, "b.go does not exist") {
		t.Errorf("got %q", got)
	}
	if got, failed := call(t, e, in{"path": "binary", "old_text": "one", "new_text": "2"}); !failed || got != "binary is no text" {
		t.Errorf("got %q", got)
	}
	if got := get(t, filepath.Join(folder, "a.go")); got != "one\n2\nthree\n" {
		t.Errorf("holds %q", got)
	}
}

// TestEditsAtOnce: the calls of one answer run at the same time, and none undoes
// another.
func TestEditsAtOnce(t *testing.T) {
	folder := t.TempDir()
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "line %02d old\n", i)
	}
	put(t, folder, map[string]string{"a": text.String()})
	e := files(t, folder, "edit_file", "")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if got, failed := call(t, e, in{"path": "a", "old_text": fmt.Sprintf("%02d old", i), "new_text": fmt.Sprintf("%02d new", i)}); failed {
				t.Error(got)
			}
		})
	}
	wg.Wait()
	if got := get(t, filepath.Join(folder, "a")); got != strings.ReplaceAll(text.String(), "old", "new") {
		t.Errorf("holds %q", got)
	}
}

// TestChangedMeanwhile: a file that somebody else changes while it is edited is left
// to them.
func TestChangedMeanwhile(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{"a": "old\n"})
	p, err := openPlace(folder, 100)
	if err != nil {
		t.Fatal(err)
	}
	root, name, err := p.open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, was, err := p.content(root, name)
	if err != nil {
		t.Fatal(err)
	}
	put(t, folder, map[string]string{"a": "somebody else's\n"})
	if err := p.replace(root, name, was, []byte("new\n")); err == nil || !strings.Contains(err.Error(), "read it again") {
		t.Errorf("got %v", err)
	}
	if err := p.replace(root, name, nil, []byte("new\n")); err == nil {
		t.Error("replaced a file that was not there before")
	}
	if got := get(t, filepath.Join(folder, "a")); got != "somebody else's\n" {
		t.Errorf("holds %q", got)
	}
}

func TestFilesConfirm(t *testing.T) {
	folder := t.TempDir()
	for _, ask := range []bool{false, true} {
		config := fmt.Sprintf(`{"confirm": %v}`, ask)
		for name, c := range map[string]struct{ input, want string }{
			"write_file": {`{"path": "a\nb", "content": "four"}`, "write 4 bytes to a ⏎ b: “four”"},
			"edit_file":  {`{"path": "a", "old_text": "x\ny", "new_text": "z"}`, `edit a: “x ⏎ y” becomes “z”`},
		} {
			got, asked := files(t, folder, name, config).(tool.Confirmer).Confirm(json.RawMessage(c.input))
			if got != c.want || asked != ask {
				t.Errorf("%s: %q, %v; want %q, %v", name, got, asked, c.want, ask)
			}
		}
	}
}

func TestNotBegun(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := cancelled(t)
	defer cancel()
	_, err := files(t, folder, "write_file", "").Run(ctx, tool.Call{Input: json.RawMessage(`{"path": "a", "content": ""}`)})
	if !errors.Is(err, tool.ErrNotRun) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "a")); err == nil {
		t.Error("written all the same")
	}
}

// The profile may lie in the working folder: its keys are not read, and what it lets
// an agent do is not written.
func TestClosed(t *testing.T) {
	folder := t.TempDir()
	put(t, folder, map[string]string{"profile/cordis.yml": "key: canary", "profiles": "mine"})
	if err := os.Symlink("profile", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	all, err := Files(nil, folder, filepath.Join(folder, "link"), filepath.Join(folder, "none"), filepath.Join(folder, "later.yml"))
	for _, c := range []struct {
		tool   string
		input  in
		failed bool
	}{
		{"read_file", in{"path": "profile/cordis.yml"}, true},
		{"read_file", in{"path": "link/cordis.yml"}, true},
		{"edit_file", in{"path": "profile/cordis.yml", "old_text": "key", "new_text": "k"}, true},
		{"write_file", in{"path": "link/cordis.patch.yml", "content": "x"}, true},
		{"write_file", in{"path": "none/cordis.yml", "content": "x"}, true},
		{"write_file", in{"path": "Later.YML", "content": "x"}, true},
		{"search_files", in{"pattern": "canary"}, false},
		{"read_file", in{"path": "profiles"}, false},
	} {
		got, failed := call(t, named(t, all, err, c.tool), c.input)
		if failed != c.failed || strings.Contains(got, "canary") {
			t.Errorf("%s %v: %q, failed %v", c.tool, c.input, got, failed)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "profile", "cordis.patch.yml")); err == nil {
		t.Error("the patch was written")
	}
}
