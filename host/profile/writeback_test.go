package profile

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// value reads a value of a test.
func value(t *testing.T, data []byte) *Value {
	t.Helper()
	v, err := ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// folder makes a profile with a patch, nil for none, and returns where the
// patch is.
func folder(t *testing.T, patch *string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, PatchFile)
	if patch != nil {
		put(t, file, *patch)
	}
	return dir, file
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

var commentText = regexp.MustCompile(`# .*`)

// TestOriginalWriteback plays the cases of the original's editor. It writes the
// whole file anew; we change only what must be, so the bytes are ours. What must
// be the same is what the file means, row by row, and every comment that the
// original keeps: those of lines that neither of us touches, and ours keeps some
// more. Where nothing but the new row is written, as for a file that was
// missing, the bytes are compared too.
func TestOriginalWriteback(t *testing.T) {
	data, err := os.ReadFile("testdata/writeback-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name  string
			Input struct {
				ID, Name, Bundle            string
				ProfilePatch, Home, Overlay *string
				Next                        json.RawMessage
			}
			Expect struct{ File, Error string }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			dir, patch := folder(t, c.Input.ProfilePatch)
			o := Options{Bundle: []byte(c.Input.Bundle)}
			if c.Input.Home != nil {
				o.Home = t.TempDir()
				put(t, filepath.Join(o.Home, PatchFile), *c.Input.Home)
			}
			if c.Input.Overlay != nil {
				o.Overlays = []string{filepath.Join(t.TempDir(), "overlay.yml")}
				put(t, o.Overlays[0], *c.Input.Overlay)
			}
			before := text(t, patch)
			_, err := Save(t.Context(), dir, o, Edit{ID: c.Input.ID, Next: func(x *Editable) (*Value, error) {
				if string(c.Input.Next) == `"<inherited>"` {
					return x.Inherited, nil
				}
				return value(t, c.Input.Next), nil
			}})
			got := text(t, patch)
			if c.Expect.Error != "" {
				if err == nil || got != before {
					t.Fatalf("got error %v and the file\n%s", err, got)
				}
				over, ok := errors.AsType[*OverriddenError](err)
				if strings.HasPrefix(c.Expect.Error, "Configuration for") && (!ok || !strings.HasPrefix(err.Error(), c.Expect.Error) || over.Pos.Layer == "" || over.Pos.Line == 0) {
					t.Errorf("got error %v, want %s with layer and line", err, c.Expect.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rowsOfText(t, c.Expect.File), rowsOfText(t, got)); diff != "" {
				t.Errorf("rows (-want +got):\n%s\n%s", diff, got)
			}
			for _, comment := range commentText.FindAllString(c.Expect.File, -1) {
				if !strings.Contains(got, comment) {
					t.Errorf("comment %q is lost in\n%s", comment, got)
				}
			}
			if c.Input.ProfilePatch == nil && got != c.Expect.File {
				t.Errorf("got\n%s\nwant\n%s", got, c.Expect.File)
			}
		})
	}
}

// rowsOfText is what a patch file means.
func rowsOfText(t *testing.T, text string) any {
	t.Helper()
	list, err := ParsePatch(Layer{Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return decode(t, (&Value{kind: kindList, items: list.rows}).appendJSON(nil))
}

const failoverRow = "- insert:\n  - id: f\n    name: failover\n    config: {a: 1}\n"

// TestSaveBytes tells byte by byte what is left alone.
func TestSaveBytes(t *testing.T) {
	tests := []struct {
		name, patch, next, want string
	}{
		{"a key changes in its place", "- id: f # mine\n  config: # why\n    # threshold\n    a:   2   # two\n    b: 'x'   # bee\n# end\n", `{"a":3,"b":"x"}`,
			"- id: f # mine\n  config: # why\n    # threshold\n    a:   3   # two\n    b: 'x'   # bee\n# end\n"},
		{"a key more", "- id: f\n  config:\n    a: 2 # two\n\n# end\n", `{"a":2,"b":["x",{"provider":"z","model":"m"}]}`,
			"- id: f\n  config:\n    a: 2 # two\n    b:\n      - x\n      - provider: z\n        model: m\n\n# end\n"},
		{"a key less", "- id: f\n  config:\n    a: 2 # two\n    # about b\n    b: 3 # bee\n    c: 4\n", `{"a":2,"c":4}`,
			"- id: f\n  config:\n    a: 2 # two\n    # about b\n    # bee\n    c: 4\n"},
		{"items move with their comments", "- id: f\n  config:\n    p:\n    - a # first\n    # about b\n    - {provider: b,  model: 'm'} # second\n    - c\n  disabled: false\n", `{"p":["c",{"provider":"b","model":"m"},"a","d"]}`,
			"- id: f\n  config:\n    p:\n    - c\n    # about b\n    - {provider: b,  model: 'm'} # second\n    - a # first\n    - d\n  disabled: false\n"},
		{"an item changes in its place", "- id: f\n  config:\n    p:\n      - provider: a # A\n        model: x # X\n      - b # B\n", `{"p":[{"provider":"a","model":"z"},"b"]}`,
			"- id: f\n  config:\n    p:\n      - provider: a # A\n        model: z # X\n      - b # B\n"},
		{"flows stay flows", "- {id: f, config: {p: [a,  'b', \"c\"], x: !env KEY}} # row\n", `{"p":["c","a"],"x":{"__jsExpr":"process.env.KEY"}}`,
			"- {id: f, config: {p: [\"c\", a], x: !env KEY}} # row\n"},
		{"a key more in a flow", "- {id: f, disabled: false}\n", `{"a":3}`, "- {id: f, disabled: false, config: {a: 3}}\n"},
		{"text of several lines", "- id: f\n  config:\n    a: 2\n    t: |\n      # not a comment\n      more\n    # a comment\n- id: g\n", `{"a":3,"t":"# not a comment\nmore\n"}`,
			"- id: f\n  config:\n    a: 3\n    t: |\n      # not a comment\n      more\n    # a comment\n- id: g\n"},
		{"back to what is inherited", "# top\n- id: f # mine\n  config:\n    a: 2 # two\n# end\n", `{"a":1}`, "# top\n# mine\n[]\n# end\n"},
		{"line breaks of Windows", "- id: f\r\n  config:\r\n    a: 2 # two\r\n    p:\r\n    - x # X\r\n    - y\r\n", `{"a":3,"p":["y","x"],"q":1}`,
			"- id: f\r\n  config:\r\n    a: 3 # two\r\n    p:\r\n    - y\r\n    - x # X\r\n    q: 1\r\n"},
		{"JSON stays JSON", `[{"id": "f", "config": {"a": 2, "t": "\ud83d\ude00"}}]`, `{"a":3,"t":"😀","p":["x"]}`,
			`[{"id": "f", "config": {"a": 3, "t": "😀", "p": ["x"]}}]`},
		{"no row yet in JSON", `[{"id": "g"}]`, `{"a":3}`, `[{"id": "g"}, {"id":"f","name":"failover","config":{"a":3}}]`},
		{"a mark at the beginning", "\ufeff- id: f\n  config: {a: 2}\n", `{"a":3}`, "\ufeff- id: f\n  config: {a: 3}\n"},
		{"an alias", "- id: g\n  config: &c {a: 2}\n- id: f\n  config: *c # as g\n", `{"a":3}`, "- id: g\n  config: &c {a: 2}\n- id: f\n  config: # as g\n    a: 3\n"},
		{"no line end", "- id: f\n  disabled: false", `{"a":3}`, "- id: f\n  disabled: false\n  config:\n    a: 3"},
		{"a list that was empty", "# head\n[ # none\n] # yet\n# foot\n", `{"a":3}`, "# head\n# none\n# yet\n- id: f\n  name: failover\n  config:\n    a: 3\n# foot\n"},
		{"config before its id", "- config: {a: 2} # two\n  # the one\n  id: f\n  disabled: false\n", `{"a":1}`, "# two\n# the one\n- id: f\n  disabled: false\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, file := folder(t, &tt.patch)
			saved, err := Save(t.Context(), dir, Options{Bundle: []byte(failoverRow)}, Edit{ID: "f", Next: func(*Editable) (*Value, error) {
				return value(t, []byte(tt.next)), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, text(t, file)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
			}
			if !saved.Written {
				t.Error("not said to be written")
			}
		})
	}
}

// TestSaveRefused tells what is left undone, and that nothing is written then.
func TestSaveRefused(t *testing.T) {
	broken := errors.New("does not start")
	tests := []struct {
		name, patch string
		edit        Edit
		want        func(error) bool
	}{
		{"another revision", "[]\n", Edit{ID: "f", Revision: "0"}, func(err error) bool { return errors.Is(err, ErrChanged) }},
		{"no such entry", "[]\n", Edit{ID: "nobody"}, func(err error) bool { return errors.Is(err, ErrNoEntry) }},
		{"not accepted", "[] # none\n", Edit{ID: "f", Accept: func(ctx context.Context) error { return broken }}, func(err error) bool { return errors.Is(err, broken) }},
		{"an anchor that others need", "- id: f\n  config: &c {a: 2}\n- id: g\n  config: *c\n", Edit{ID: "f"}, func(err error) bool {
			e, ok := errors.AsType[*Error](err)
			return ok && strings.Contains(e.Message, "cannot be changed")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, file := folder(t, &tt.patch)
			tt.edit.Next = func(*Editable) (*Value, error) { return value(t, []byte(`{"a":3}`)), nil }
			_, err := Save(t.Context(), dir, Options{Bundle: []byte(failoverRow)}, tt.edit)
			if !tt.want(err) {
				t.Errorf("got error %v", err)
			}
			if diff := cmp.Diff(tt.patch, text(t, file)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSaveMissingRestored checks that a file that was not there is gone again.
func TestSaveMissingRestored(t *testing.T) {
	dir, file := folder(t, nil)
	_, err := Save(t.Context(), dir, Options{Bundle: []byte(failoverRow)}, Edit{
		ID: "f", Next: func(*Editable) (*Value, error) { return value(t, []byte(`{"a":3}`)), nil },
		Accept: func(context.Context) error { return errors.New("no") },
	})
	if _, stat := os.Stat(file); err == nil || !errors.Is(stat, os.ErrNotExist) {
		t.Errorf("got error %v, and the file: %v", err, stat)
	}
}

// TestSaveBesideEditor checks that a file that is edited while a save is worked out
// is not overwritten, neither then nor when the save is not accepted.
func TestSaveBesideEditor(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		dir, file := folder(t, new("[]\n"))
		const theirs = "- id: f\n  config: {a: 7}\n"
		_, err := Save(t.Context(), dir, Options{Bundle: []byte(failoverRow)}, Edit{
			ID: "f",
			Next: func(*Editable) (*Value, error) {
				if when == "before" {
					put(t, file, theirs)
				}
				return value(t, []byte(`{"a":3}`)), nil
			},
			Accept: func(context.Context) error {
				put(t, file, theirs)
				return errors.New("no")
			},
		})
		if err == nil || text(t, file) != theirs || errors.Is(err, ErrChanged) != (when == "before") {
			t.Errorf("%s it is written: got error %v and\n%s", when, err, text(t, file))
		}
	}
}

func TestSaveThroughLink(t *testing.T) {
	dir, file := folder(t, nil)
	real := filepath.Join(t.TempDir(), "real.yml")
	put(t, real, "[]\n")
	if err := os.Symlink(real, file); err != nil {
		t.Fatal(err)
	}
	o := Options{Bundle: []byte(failoverRow)}
	edit := Edit{ID: "f", Next: func(*Editable) (*Value, error) { return value(t, []byte(`{"a":3}`)), nil }}
	if _, err := Save(t.Context(), dir, o, edit); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(text(t, real), "a: 3") {
		t.Errorf("the link is %v, %v; the file holds\n%s", info.Mode(), err, text(t, real))
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(t.Context(), dir, o, edit); err == nil {
		t.Error("saved through a link to nothing")
	}
}

// TestSaveTogether checks that saves of several goroutines, each on what it has
// read, lose nothing: one that comes late is told so.
func TestSaveTogether(t *testing.T) {
	dir, file := folder(t, new("[]\n"))
	o := Options{Bundle: []byte(failoverRow)}
	const savers = 4
	done := make(chan error, savers)
	for i := range savers {
		go func() {
			for {
				x, err := ReadEditable(dir, o, "f")
				if err != nil {
					done <- err
					return
				}
				_, err = Save(t.Context(), dir, o, Edit{ID: "f", Revision: x.Revision, Next: func(x *Editable) (*Value, error) {
					next := &Value{kind: kindMap, fields: slices.Clone(x.Config.fields)}
					next.at = map[string]int{}
					for i, f := range next.fields {
						next.at[f.key] = i
					}
					next.set(field{key: string(rune('p' + i)), value: &Value{kind: kindBool, truth: true}})
					return next, nil
				}})
				if !errors.Is(err, ErrChanged) {
					done <- err
					return
				}
			}
		}()
	}
	for range savers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want := map[string]any{"id": "f", "name": "failover", "config": map[string]any{"a": 1.0, "p": true, "q": true, "r": true, "s": true}}
	if diff := cmp.Diff([]any{want}, rowsOfText(t, text(t, file))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestSaveLarge saves into one long line of many values, for which an editor that
// looked for each place from the line's beginning would need minutes.
func TestSaveLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"id": "f", "config": {"a": 2}}`)
	for b.Len() < MaxFile/4 {
		b.WriteString(`, {"id":"é"}`)
	}
	b.WriteString("]\n")
	dir, file := folder(t, new(b.String()))
	_, err := Save(t.Context(), dir, Options{Bundle: []byte(failoverRow)}, Edit{ID: "f", Next: func(*Editable) (*Value, error) {
		return value(t, []byte(`{"a":3}`)), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(b.String(), `"a": 2`, `"a": 3`, 1); text(t, file) != want {
		t.Error("the file is not the old one with one number changed")
	}
}
