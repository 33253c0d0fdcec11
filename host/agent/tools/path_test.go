package tools

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestEscapes: no path leaves the working folder, whichever tool it is given to.
func TestEscapes(t *testing.T) {
	base := t.TempDir()
	folder, outside := filepath.Join(base, "work"), filepath.Join(base, "outside")
	put(t, base, map[string]string{"work/in.txt": "in\n", "outside/secret.txt": "secret\n", "work2/secret.txt": "secret\n"})
	for link, target := range map[string]string{
		"file": "../outside/secret.txt", "folder": "../outside", "absolute": outside, "absolute-file": filepath.Join(outside, "secret.txt"),
		"dangling": "../outside/new.txt", "hop": "folder", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"../outside/secret.txt", "..", "a/../../outside/secret.txt", filepath.Join(outside, "secret.txt"), "/etc/passwd", "//etc/passwd",
		"file", "folder/secret.txt", "absolute/secret.txt", "absolute-file", "hop/secret.txt", "dangling", "loop", folder + "2/secret.txt",
		folder + "/../outside/secret.txt", "folder/new/deep.txt", "", "a\x00b", strings.Repeat("a/", 4000),
	} {
		for name, input := range map[string]in{
			"read_file": {}, "list_files": {}, "search_files": {"pattern": "secret"},
			"write_file": {"content": "changed"}, "edit_file": {"old_text": "secret", "new_text": "changed"},
		} {
			if path == "" && (name == "list_files" || name == "search_files") {
				continue // the working folder
			}
			input["path"] = path
			if text, failed := call(t, files(t, folder, name, ""), input); !failed && text != "no match\n" {
				t.Errorf("%s %q: %q", name, path, text)
			}
		}
	}
	if got := get(t, filepath.Join(outside, "secret.txt")) + get(t, filepath.Join(base, "work2/secret.txt")); got != "secret\nsecret\n" {
		t.Errorf("outside: %q", got)
	}
	if all, _ := filepath.Glob(filepath.Join(outside, "*")); len(all) != 1 {
		t.Errorf("outside: %v", all)
	}
	if text, failed := call(t, files(t, folder, "search_files", ""), in{"pattern": "secret"}); failed || text != "no match\n" {
		t.Errorf("searched: %q", text)
	}
}

// TestAbsolute: the folder may be named as the user knows it, and as it really is.
func TestAbsolute(t *testing.T) {
	base := t.TempDir()
	put(t, base, map[string]string{"real/a.txt": "here\n"})
	link := filepath.Join(base, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a.txt", "./a.txt", "b/../a.txt", link + "/a.txt", filepath.Join(base, "real/a.txt")} {
		if text, failed := call(t, files(t, link, "read_file", ""), in{"path": path}); failed || text != "     1\there\n" {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// TestRace exchanges a folder for a link that leads outside, over and over, while
// files in it are written.
func TestRace(t *testing.T) {
	base := t.TempDir()
	put(t, base, map[string]string{"work/dir/a.txt": "in\n", "outside/a.txt": "secret\n"})
	folder := filepath.Join(base, "work")
	dir, aside := filepath.Join(folder, "dir"), filepath.Join(folder, "aside")
	w, r := files(t, folder, "write_file", ""), files(t, folder, "read_file", "")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(dir, aside)
			os.Symlink("../outside", dir)
			os.Remove(dir)
			os.Rename(aside, dir)
		}
	})
	for range 200 {
		call(t, w, in{"path": "dir/a.txt", "content": "in\n"})
		if text, _ := call(t, r, in{"path": "dir/a.txt"}); strings.Contains(text, "secret") {
			t.Errorf("read %q", text)
		}
	}
	close(stop)
	wg.Wait()
	if got := get(t, filepath.Join(base, "outside/a.txt")); got != "secret\n" {
		t.Errorf("outside: %q", got)
	}
	if all, _ := filepath.Glob(filepath.Join(base, "outside/*")); len(all) != 1 {
		t.Errorf("outside: %v", all)
	}
}

// FuzzPath: what is taken for a path in the folder is one.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"a.txt", "/work/a", "/work/../etc", "/workshop/a", "a/../../b", "..", "./..", "/", "~", "a//b/", "..\\b", "/real/x/..", "\xff"} {
		f.Add(seed)
	}
	p := &place{path: "/work", real: "/real"}
	f.Fuzz(func(t *testing.T, path string) {
		name, err := p.local(path)
		if err != nil {
			return
		}
		full := filepath.Join(p.real, name)
		if full != p.real && !strings.HasPrefix(full, p.real+"/") || name == "" || strings.ContainsRune(name, 0) {
			t.Errorf("%q is taken for %q", path, name)
		}
	})
}
