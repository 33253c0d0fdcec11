package story

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"spillway/host/state/record"
)

var update = flag.Bool("update", false, "write the golden files")

// now is the present of the golden files, two minutes after their requests.
var now = time.Date(2026, 3, 1, 12, 2, 0, 0, time.UTC)

// sgr matches the only escape sequences that this package writes.
var sgr = regexp.MustCompile("\x1b\\[[0-9]*m")

// golden renders the first file of each archive in dir, and compares with the
// files that follow: both languages, each without and with colours, in which an
// escape character is shown as "^[".
func golden(t *testing.T, dir string, render func(t *testing.T, data []byte, o Options) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no golden files (%v)", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := a.Files[:1:1]
			for _, lang := range []Language{English, Chinese} {
				o := Options{Language: lang, Now: now}
				bare := render(t, a.Files[0].Data, o)
				o.Colour = true
				coloured := render(t, a.Files[0].Data, o)
				if d := cmp.Diff(bare, sgr.ReplaceAllString(coloured, "")); d != "" {
					t.Errorf("%s: colours change the text (-plain +coloured):\n%s", lang, d)
				}
				for l := range strings.Lines(bare) {
					if n := columns(strings.TrimSuffix(l, "\n")); n > defaultWidth {
						t.Errorf("%s: line of %d columns: %s", lang, n, l)
					}
				}
				got = append(got,
					txtar.File{Name: string(lang), Data: []byte(bare)},
					txtar.File{Name: string(lang) + ".colour", Data: []byte(strings.ReplaceAll(coloured, "\x1b", "^["))},
				)
			}
			if *update {
				a.Files = got
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(a.Files, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	golden(t, "request", func(t *testing.T, data []byte, o Options) string {
		return tell(t, data, o)
	})
}

func tell(t *testing.T, data []byte, o Options) string {
	t.Helper()
	var rec record.Request
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Request(&b, rec, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJudge(t *testing.T) {
	golden(t, "judge", func(t *testing.T, data []byte, o Options) string {
		var j Judgement
		if err := json.Unmarshal(data, &j); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Judge(&b, j, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}

func TestStatus(t *testing.T) {
	golden(t, "status", func(t *testing.T, data []byte, o Options) string {
		var s StatusView
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Status(&b, s, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}
