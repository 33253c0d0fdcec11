package story_test

import (
	"encoding/json"
	"testing"

	"spillway/host/agent/tool"
	"spillway/host/agent/tools"
	"spillway/host/story"
)

// The tools themselves say what they are about to do; what they change and where is
// shown as it is, whatever stands in it.
func TestActs(t *testing.T) {
	files, err := tools.Files(nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shell, err := tools.Shell(nil, t.TempDir(), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]tool.Confirmer{}
	for _, own := range append(files, shell...) {
		if c, ok := own.(tool.Confirmer); ok {
			named[own.Spec().Name] = c
		}
	}
	for _, tt := range []struct{ tool, input, en, zh string }{
		{"shell", `{"command": "echo $1 > run: x"}`, "run: echo $1 > run: x", "执行：echo $1 > run: x"},
		{"shell", `{"command": "a\nb"}`, "run: a ⏎ b", "执行：a ⏎ b"},
		{"shell", `{}`, "run a command", "执行一条命令"},
		{"write_file", `{"path": "a to b", "content": "12"}`, "write 2 bytes to a to b: “12”", "写入 2 字节到 a to b：“12”"},
		{"write_file", `[]`, "write a file", "写一个文件"},
		{"edit_file", `{"path": "p", "old_text": "a” becomes “b", "new_text": "${2}"}`, "edit p: “a” becomes “b” becomes “${2}”", "修改 p：“a” becomes “b” 改为 “${2}”"},
		{"edit_file", `[]`, "edit a file", "修改一个文件"},
	} {
		what, _ := named[tt.tool].Confirm(json.RawMessage(tt.input))
		for language, want := range map[story.Language]string{story.English: tt.en, story.Chinese: tt.zh} {
			talk := story.Talk{Options: story.Options{Language: language}}
			if got := talk.Asking(what); got != want {
				t.Errorf("asking: got %q, want %q", got, want)
			}
			if got := talk.Doing(tt.tool, json.RawMessage(tt.input), what); got != "● "+want {
				t.Errorf("doing: got %q, want %q", got, want)
			}
		}
	}
	if len(named) != 3 {
		t.Errorf("%d tools say what they do, want 3: their words are to be known here", len(named))
	}
	if got := (story.Talk{}).Doing("docs__find", json.RawMessage(`{"q":1}`), ""); got != `● docs__find {"q":1}` {
		t.Errorf("got %q", got)
	}
}
