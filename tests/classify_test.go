package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"spillway/host/dialect/failure"
	"spillway/plugin/failover/classify"
	"spillway/sdk"
)

// The catalogue of recorded vendor answers, with the right verdict of each.
const catalogue = "testdata/vendor-errors"

type recorded struct {
	failure.Record
	Expected struct {
		Code       sdk.Code  `json:"code"`
		Class      sdk.Class `json:"class"`
		Scope      sdk.Scope `json:"scope"`
		RetryAfter *float64  `json:"retry_after_s"`
	} `json:"expected"`
	Acceptable []sdk.Code `json:"acceptable"` // codes that are right too
}

func readCatalogue(t *testing.T, file string) []recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(catalogue, file))
	if err != nil {
		t.Fatal(err)
	}
	var rs []recorded
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var r recorded
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return rs
}

// readAcceptable returns the codes that are right too, by record.
func readAcceptable(t *testing.T) map[string][]sdk.Code {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(catalogue, "also-acceptable.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows map[string]struct {
		Acceptable []sdk.Code `json:"acceptable"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	codes := make(map[string][]sdk.Code, len(rows))
	for id, row := range rows {
		codes[id] = row.Acceptable
	}
	return codes
}

// recordedAt is the time at which every record is judged.
var recordedAt = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

func newClassifier(t *testing.T) *classify.Classifier {
	t.Helper()
	c, faults := classify.New(nil)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

func wrongWait(got time.Duration, want *float64) bool {
	return want != nil && math.Abs(got.Seconds()-*want) > 0.001
}

// TestCatalogue runs both stages, the host's tables and the plugin's wording,
// over every recorded answer. The shares are floors: a vendor whose word is read
// wrongly is a mistake that somebody pays for.
func TestCatalogue(t *testing.T) {
	acceptable := readAcceptable(t)
	for _, tt := range []struct {
		file          string
		codes, scopes float64
	}{
		{"dev.jsonl", 0.97, 0.93},
		{"held.jsonl", 0.97, 0.95},
	} {
		t.Run(tt.file, func(t *testing.T) {
			checkCatalogue(t, readCatalogue(t, tt.file), acceptable, tt.codes, tt.scopes)
		})
	}
}

func checkCatalogue(t *testing.T, records []recorded, acceptable map[string][]sdk.Code, leastCodes, leastScopes float64) {
	t.Helper()
	c := newClassifier(t)
	codes, scopes := 0, 0
	confusion := make(map[[2]sdk.Code]int)
	for _, r := range records {
		got := c.Refine(r.Vendor, *failure.From(r.Evidence(recordedAt)))
		want := r.Expected
		right := got.Code == want.Code || slices.Contains(acceptable[r.ID], got.Code) || slices.Contains(r.Acceptable, got.Code)
		switch {
		case right:
			codes++
		default:
			confusion[[2]sdk.Code{want.Code, got.Code}]++
			t.Logf("%s: code %s, want %s (rule %s, message %q)", r.ID, got.Code, want.Code, got.Rule, got.Message)
		}
		if got.Scope == want.Scope || right && got.Code != want.Code {
			scopes++
		} else {
			t.Logf("%s: scope %s, want %s (%s by rule %s)", r.ID, got.Scope, want.Scope, got.Code, got.Rule)
		}
		if got.Code == sdk.CodeQuota && !right {
			t.Errorf("%s: QUOTA by rule %s, want %s", r.ID, got.Rule, want.Code)
		}
		if (want.Class == sdk.ClassCaller) != (got.Class() == sdk.ClassCaller) && !right {
			t.Errorf("%s: class %s by rule %s, want %s", r.ID, got.Class(), got.Rule, want.Class)
		}
		if wrongWait(got.RetryAfter, want.RetryAfter) {
			t.Errorf("%s: retry after %v from %s, want %v s", r.ID, got.RetryAfter, got.HintSource, *want.RetryAfter)
		}
	}
	t.Logf("%d records: %d codes right, %d scopes right", len(records), codes, scopes)
	if share := float64(codes) / float64(len(records)); share < leastCodes {
		t.Errorf("codes right: %.3f, want at least %.2f; confusion (want, got): %v", share, leastCodes, confusion)
	}
	if share := float64(scopes) / float64(len(records)); share < leastScopes {
		t.Errorf("scopes right: %.3f, want at least %.2f", share, leastScopes)
	}
}

// TestDocumentedAnswers runs both stages over answers built from the vendors'
// published error lists, over bare statuses, and over traps. All must be right.
func TestDocumentedAnswers(t *testing.T) {
	c := newClassifier(t)
	for _, r := range readCatalogue(t, "own.jsonl") {
		got := c.Refine(r.Vendor, *failure.From(r.Evidence(recordedAt)))
		want := r.Expected
		if got.Code != want.Code || got.Scope != want.Scope {
			t.Errorf("%s: %s at the %s by rule %s, want %s at the %s (status %d, message %q)",
				r.ID, got.Code, got.Scope, got.Rule, want.Code, want.Scope, r.Status, got.Message)
		}
		if wrongWait(got.RetryAfter, want.RetryAfter) {
			t.Errorf("%s: retry after %v from %q, want %v s", r.ID, got.RetryAfter, got.HintSource, *want.RetryAfter)
		}
	}
}

// TestRulesAreNoSentences keeps the rules general: none may spell out what one
// vendor says, neither a recorded message nor any text as long as a sentence, nor
// name a record.
func TestRulesAreNoSentences(t *testing.T) {
	const maxWords, maxHan = 6, 8
	var (
		words = regexp.MustCompile(`[A-Za-z']{2,}(?: [A-Za-z']+)*`)
		han   = regexp.MustCompile(`\p{Han}+`)
	)
	literals := ruleLiterals(t, "../host/dialect/failure", "../plugin/failover/classify")
	for _, l := range literals {
		for _, run := range words.FindAllString(l, -1) {
			if n := len(strings.Fields(run)); n > maxWords {
				t.Errorf("%d words in a row: %q", n, run)
			}
		}
		for _, run := range han.FindAllString(l, -1) {
			if n := len([]rune(run)); n > maxHan {
				t.Errorf("%d characters in a row: %q", n, run)
			}
		}
	}
	all := strings.ToLower(strings.Join(literals, "\n"))
	for _, r := range slices.Concat(readCatalogue(t, "dev.jsonl"), readCatalogue(t, "held.jsonl")) {
		message := strings.ToLower(failure.From(r.Evidence(recordedAt)).Message)
		if len(strings.Fields(message)) > 3 && strings.Contains(all, message) {
			t.Errorf("%s: its whole message %q stands in a rule", r.ID, message)
		}
		if strings.Contains(all, strings.ToLower(r.ID)) {
			t.Errorf("the name of record %s stands in a rule", r.ID)
		}
	}
}

// ruleLiterals returns the string literals of the packages that hold rules.
func ruleLiterals(t *testing.T, dirs ...string) []string {
	t.Helper()
	var all []string
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no Go files in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for n := range ast.Preorder(f) {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					s, err := strconv.Unquote(l.Value)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, s)
				}
			}
		}
	}
	return all
}
