package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spillway/sdk"
)

func user(text string) Entry {
	return Entry{Kind: KindUser, ID: "m1", Parts: []sdk.Part{sdk.TextPart(text)}}
}

func begin(t *testing.T) (*Store, *Session) {
	t.Helper()
	st := NewStore(filepath.Join(t.TempDir(), "sessions"))
	s, err := st.Begin("/work")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return st, s
}

func TestKept(t *testing.T) {
	st, s := begin(t)
	if err := s.Append(user("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Open(s.ID()); !errors.Is(err, ErrBusy) {
		t.Errorf("opened twice: got %v", err)
	}
	want := s.Entries()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(user("late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("appended after the end: got %v", err)
	}
	again, err := st.Open(s.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if diff := cmp.Diff(want, again.Entries(), cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	info, err := os.Stat(st.path(s.ID()))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v", info.Mode(), err)
	}
}

// A process dies in the middle of a line: cut the file at each byte in turn.
func TestTorn(t *testing.T) {
	st, s := begin(t)
	for _, e := range []Entry{user("hello"), {Kind: KindAnswer, Parts: []sdk.Part{sdk.TextPart("hi")}}} {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	path := st.path(s.ID())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(data), '\n') + 1
	for n := first; n <= len(data); n++ {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := st.Open(s.ID())
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		lines := strings.Count(string(data[:n]), "\n")
		if len(got.Entries()) != lines || got.Torn() != n-strings.LastIndexByte(string(data[:n]), '\n')-1 {
			t.Errorf("%d bytes: %d entries and %d torn", n, len(got.Entries()), got.Torn())
		}
		if err := got.Append(user("on")); err != nil {
			t.Fatal(err)
		}
		got.Close()
		if entries, err := st.Read(s.ID()); err != nil || len(entries) != lines+1 {
			t.Errorf("%d bytes: gone on: %d entries, %v", n, len(entries), err)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"a broken line within", "{\"kind\":\"session\",\"version\":1}\n{oops\n{\"kind\":\"user\"}\n", "line 2"},
		{"of a later version", "{\"kind\":\"session\",\"version\":2}\n", "written by a newer spillway: it has version 2, this one knows up to 1"},
		{"something else", "{\"kind\":\"user\"}\n", "want a session"},
		{"nothing", "", "no such session"},
	} {
		st := NewStore(t.TempDir())
		if err := os.WriteFile(st.path("s-x"), []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Open("s-x"); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if got, err := os.ReadFile(st.path("s-x")); err != nil || string(got) != tt.file {
			t.Errorf("%s: the file was changed: %q, %v", tt.name, got, err)
		}
	}
}

func TestStore(t *testing.T) {
	st, s := begin(t)
	if err := s.Append(user("first  question\nof all")); err != nil {
		t.Fatal(err)
	}
	child, err := st.Child(s, "ab12")
	if err != nil {
		t.Fatal(err)
	}
	child.Close()
	all, err := st.List()
	if err != nil || len(all) != 1 || all[0].Title != "first question of all" || all[0].Folder != "/work" {
		t.Errorf("list: got %+v, %v", all, err)
	}
	if id, err := st.Last("/work"); id != s.ID() || err != nil {
		t.Errorf("last: got %q, %v", id, err)
	}
	if _, err := st.Last("/elsewhere"); !errors.Is(err, ErrNotFound) {
		t.Errorf("last of another folder: got %v", err)
	}
	if err := st.Delete(s.ID()); !errors.Is(err, ErrBusy) {
		t.Errorf("deleted while in use: got %v", err)
	}
	s.Close()
	if err := st.Delete(s.ID()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(st.dir); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, id := range []string{"", "x", "../s-x", "s-../x", "s-A", strings.Repeat("s-", 200)} {
		if _, err := st.Open(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("open %q: got %v", id, err)
		}
	}
}

func TestOldestMakeRoom(t *testing.T) {
	st := NewStore(t.TempDir())
	line, err := json.Marshal(begun("/work"))
	if err != nil {
		t.Fatal(err)
	}
	for range maxKept + 2 {
		if err := os.WriteFile(st.path(NewID()), append(line, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := st.Begin("/work")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if all, err := st.List(); err != nil || len(all) != maxKept {
		t.Errorf("%d sessions, %v, want %d", len(all), err, maxKept)
	}
}

// FuzzParse: whatever a file holds, what is read of it can be written and read
// again, and becomes a conversation in which every call has its result.
func FuzzParse(f *testing.F) {
	for _, file := range []string{
		"{\"kind\":\"session\",\"version\":1}\n{\"kind\":\"user\",\"id\":\"m1\",\"parts\":[{\"kind\":\"text\",\"text\":\"hi\"}]}\n",
		"{\"kind\":\"session\",\"version\":1}\n{\"kind\":\"answer\",\"parts\":[{\"kind\":\"tool_call\",\"id\":\"c\",\"name\":\"n\"}]}\n{\"kind\":\"result\",\"id\":\"c\"}\n{\"kind\":\"ans",
		"{\"kind\":\"session\",\"version\":1}\n{\"kind\":\"user\"}\n{\"kind\":\"answer\"}\n{\"kind\":\"summary\",\"covers\":2,\"text\":\"so\"}\n{\"kind\":\"interrupted\"}\n",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, sound, err := parse(data)
		if err != nil {
			return
		}
		if sound > len(data) {
			t.Fatalf("%d of %d bytes", sound, len(data))
		}
		c := Read(entries)
		open := map[string]bool{}
		for _, m := range c.Messages {
			for _, p := range m.Parts {
				switch {
				case m.Role == sdk.RoleAssistant && p.Kind == sdk.PartToolCall:
					open[p.ID] = true
				case m.Role == sdk.RoleTool:
					delete(open, p.ID)
				}
			}
		}
		for _, p := range c.Pending {
			delete(open, p.ID)
		}
		if len(open) > 0 {
			t.Errorf("calls without results: %v", open)
		}
		Markdown("s", entries)
	})
}

const head = `{"kind":"session","at":"2026-01-02T03:04:05Z","version":1,"folder":"/w"}` + "\n"

// What a file says of itself is not believed where it would lead out of it.
func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"no head", `{"kind":"user"}` + "\n", "line 1: kind"},
		{"before the beginning", head + `{"kind":"summary","covers":-1}` + "\n", "line 2: sums up -1"},
		{"itself", head + `{"kind":"summary","covers":2}` + "\n", "line 2: sums up 2"},
		{"nothing", head + `{"kind":"summary"}` + "\n", "line 2: sums up 0"},
		{"damage", head + "{\n" + `{"kind":"user"}` + "\n", "line 2: unexpected end"},
	} {
		if _, _, err := parse([]byte(tt.data)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}
