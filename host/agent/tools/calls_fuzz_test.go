package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spillway/host/agent/tool"
)

// FuzzCalls: whatever a model gives the file tools for input, nothing outside
// the folder is read or written, be it by a path, a link or a pattern, and the
// answer is bounded.
func FuzzCalls(f *testing.F) {
	for i, input := range []string{
		`{"path":"a.txt"}`, `{"path":"../outside/secret.txt"}`, `{"path":"link/secret.txt"}`, `{"path":"a.txt","offset":-1,"limit":9e99}`,
		`{"pattern":"(a+)+$","path":"."}`, `{"pattern":"canary","path":"link"}`, `{"pattern":"**/../**"}`, `{"pattern":"[","path":"/"}`,
		`{"path":"new/b.txt","content":"x"}`, `{"path":"link/b.txt","content":"x"}`, `{"path":".git/config","content":"x"}`,
		`{"path":"a.txt","old":"one","new":"two"}`, `{"path":"a.txt","old_text":"","new_text":"x"}`, `null`, `{"path":"\u0000"}`, `[`,
	} {
		f.Add(byte(i), input)
	}
	const secret = "canary-7f3a"
	f.Fuzz(func(t *testing.T, which byte, input string) {
		base := t.TempDir()
		folder, outside := filepath.Join(base, "work"), filepath.Join(base, "outside")
		for _, dir := range []string{folder, outside} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		hidden := filepath.Join(outside, "secret.txt")
		for file, text := range map[string]string{hidden: secret, filepath.Join(folder, "a.txt"): "one\ntwo\n"} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
			t.Fatal(err)
		}
		all, err := Files(json.RawMessage(`{"maxBytes":4096}`), folder)
		if err != nil {
			t.Fatal(err)
		}
		one := all[int(which)%len(all)]
		r, err := one.Run(t.Context(), tool.Call{Key: "k", Input: json.RawMessage(input)})
		if err != nil {
			return
		}
		size := 0
		for _, p := range r.Parts {
			size += len(p.Text)
			if strings.Contains(p.Text, secret) && !strings.Contains(input, secret) {
				t.Errorf("%s %s tells what lies outside: %s", one.Spec().Name, input, p.Text)
			}
		}
		if limit := 64<<10 + 8*len(input); size > limit {
			t.Errorf("%s %s: %d bytes", one.Spec().Name, input, size)
		}
		text, err := os.ReadFile(hidden)
		files, _ := os.ReadDir(outside)
		if err != nil || string(text) != secret || len(files) != 1 {
			t.Errorf("%s %s changed what lies outside: %q, %v, %v", one.Spec().Name, input, text, files, err)
		}
	})
}
