package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// entry is one text of a table: 'key': ['English', 'Chinese'],
	entry = regexp.MustCompile(`^  '([^']+)': \['((?:[^'\\]|\\.)+)', '((?:[^'\\]|\\.)+)'\],$`)
	// uses is a text that is asked for by its whole key.
	uses  = regexp.MustCompile(`\bt\('([\w.]+)'`)
	holes = regexp.MustCompile(`\{\w+\}`)
	// quoted is a piece of text in a program.
	quoted = regexp.MustCompile("'([^']*)'|`([^`]*)`")
	// prose is what people would read: two words, a capital word, or Chinese.
	prose = regexp.MustCompile(`^[A-Z][a-z]+|[a-z]{2,} [a-z]{2,} [a-z]{2,}|\p{Han}`)
	han   = regexp.MustCompile(`\p{Han}`)
)

// names are what programs write with a capital letter.
var names = []string{"Content-Type", "If-Match", "Bearer ${token.value}", "Enter", "Escape"}

// table is every text of the page.
func table(t *testing.T) map[string][2]string {
	t.Helper()
	all := map[string][2]string{}
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, "words.js") {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			m := entry.FindStringSubmatch(line)
			if m == nil {
				if strings.Contains(line, "': [") {
					t.Errorf("%s:%d: not of the form 'key': ['English', 'Chinese'],", f.name, i+1)
				}
				continue
			}
			if _, twice := all[m[1]]; twice {
				t.Errorf("%s:%d: %s stands there twice", f.name, i+1, m[1])
			}
			all[m[1]] = [2]string{m[2], m[3]}
		}
	}
	return all
}

// TestWords: each text is there in both languages and holds the same values.
func TestWords(t *testing.T) {
	same := []string{"frame.otherLanguage"} // each says its own name in the other
	for key, w := range table(t) {
		in, out := holes.FindAllString(w[0], -1), holes.FindAllString(w[1], -1)
		slices.Sort(in)
		slices.Sort(out)
		if !slices.Equal(in, out) {
			t.Errorf("%s: %v in English, %v in Chinese", key, in, out)
		}
		if han.MatchString(w[0]) && !slices.Contains(same, key) {
			t.Errorf("%s: the English text is Chinese: %q", key, w[0])
		}
		if regexp.MustCompile(`[a-z]{3}`).MatchString(w[0]) && w[0] == w[1] {
			t.Errorf("%s: not translated: %q", key, w[0])
		}
	}
}

// TestProgramsHaveNoWords: whatever people read stands in a table, and what is asked
// for is there.
func TestProgramsHaveNoWords(t *testing.T) {
	words := table(t)
	for _, f := range files(t) {
		if !strings.HasSuffix(f.name, ".js") || strings.HasSuffix(f.name, "words.js") {
			continue
		}
		for i, line := range strings.Split(f.text, "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, m := range uses.FindAllStringSubmatch(code, -1) {
				if _, ok := words[m[1]]; !ok {
					t.Errorf("%s:%d: no words for %q", f.name, i+1, m[1])
				}
			}
			for _, m := range quoted.FindAllStringSubmatch(code, -1) {
				if text := m[1] + m[2]; prose.MatchString(text) && !slices.Contains(names, text) {
					t.Errorf("%s:%d: %q belongs into a table of words", f.name, i+1, text)
				}
			}
		}
	}
}

// TestEveryWordIsUsed: a key is spelt in some program, or made of a prefix that is.
func TestEveryWordIsUsed(t *testing.T) {
	var programs strings.Builder
	for _, f := range files(t) {
		for line := range strings.Lines(f.text) {
			if strings.HasSuffix(f.name, ".js") && !entry.MatchString(strings.TrimSuffix(line, "\n")) {
				programs.WriteString(line)
			}
		}
	}
	for key := range table(t) {
		area, _, _ := strings.Cut(key, ".")
		if !strings.Contains(programs.String(), "'"+key+"'") && !strings.Contains(programs.String(), "`"+area+".${") {
			t.Errorf("%s is used nowhere", key)
		}
	}
}
