package story

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"spillway/host/state/record"
	"spillway/sdk"
)

// attack clears the screen, sets a title, rewrites the line, reorders it and
// hides in eight-bit controls.
const attack = "x\x1b[2J\x1b]0;owned\x07\r\n\b\u009b31m\u202e\u2066\x9b\x7f\x00\u200by"

// poison writes s into every string below v, and n elements into every slice.
func poison(v reflect.Value, s string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem(), s, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			poison(v.Index(i), s, n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(now))
			return
		}
		for _, field := range v.Fields() {
			poison(field, s, n)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Second))
	case reflect.Uint64:
		v.SetUint(7)
	}
}

// checkHarmless fails if text has a character that a terminal obeys, but for
// the colours that were wanted.
func checkHarmless(t *testing.T, text string, o Options) {
	t.Helper()
	if o.Colour {
		text = sgr.ReplaceAllString(text, "")
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%+v: character %U in %q", o, r, text)
		}
	}
}

func everyOptions(f func(Options)) {
	for _, lang := range []Language{English, Chinese} {
		for _, colour := range []bool{false, true} {
			for _, width := range []int{1, 0, 200} {
				f(Options{Colour: colour, Language: lang, Now: now, Width: width})
			}
		}
	}
}

// TestInjection fills every string of what is rendered, so that a field added
// later is covered too.
func TestInjection(t *testing.T) {
	var rec record.Request
	poison(reflect.ValueOf(&rec).Elem(), attack, 2)
	outcomes := []record.Outcome{record.Outcome(attack), record.OK, record.FailedClean, record.FailedMidstream, record.Cancelled, ""}
	kinds := []sdk.AttemptKind{
		sdk.AttemptKind(attack), sdk.KindPrimary, sdk.KindRetry, sdk.KindFailover, sdk.KindFallback, sdk.KindProbe, sdk.KindResume,
	}
	var view StatusView
	poison(reflect.ValueOf(&view).Elem(), attack, 2)
	var judgement Judgement
	poison(reflect.ValueOf(&judgement).Elem(), attack, 2)
	judgement.First.Rule = "status:429"

	everyOptions(func(o Options) {
		for i, kind := range kinds {
			rec.Outcome = outcomes[i%len(outcomes)]
			a := &rec.Attempts[0]
			a.Kind, a.Outcome, a.Action, a.Scope, a.JudgedScope = kind, record.AttemptFailed, sdk.ActionFallback, sdk.ScopeKey, sdk.ScopeKey
			a.Circuits[0].To = sdk.CircuitOpen
			var b strings.Builder
			if err := Request(&b, rec, o); err != nil {
				t.Fatal(err)
			}
			checkHarmless(t, b.String(), o)
			notice := Notice(rec.Attempts[0], &rec.Attempts[1], o)
			if strings.Contains(notice, "\n") {
				t.Fatalf("notice of several lines: %q", notice)
			}
			checkHarmless(t, notice, o)
		}
		var b strings.Builder
		if err := Status(&b, view, o); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, b.String(), o)
		for _, code := range sdk.Codes() {
			var b strings.Builder
			judgement.Final.Code = code
			if err := Judge(&b, judgement, o); err != nil {
				t.Fatal(err)
			}
			checkHarmless(t, b.String(), o)
		}
	})
}

func TestWriterFails(t *testing.T) {
	want := errors.New("disk full")
	if err := Request(broken{want}, record.Request{}, Options{}); !errors.Is(err, want) {
		t.Errorf("Request: got %v, want %v", err, want)
	}
	if err := Status(broken{want}, StatusView{}, Options{}); !errors.Is(err, want) {
		t.Errorf("Status: got %v, want %v", err, want)
	}
	if err := Judge(broken{want}, Judgement{}, Options{}); !errors.Is(err, want) {
		t.Errorf("Judge: got %v, want %v", err, want)
	}
}

type broken struct{ err error }

func (w broken) Write([]byte) (int, error) { return 0, w.err }

// FuzzRequest renders whatever reads as a record.
func FuzzRequest(f *testing.F) {
	paths, err := filepath.Glob("testdata/request/*.txtar")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds (%v)", err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.Files[0].Data, 80)
	}
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		var rec record.Request
		if json.Unmarshal(data, &rec) != nil {
			return
		}
		o := Options{Colour: true, Language: Chinese, Now: now, Width: min(width, 500)}
		var b strings.Builder
		if err := Request(&b, rec, o); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, b.String(), o)
	})
}
