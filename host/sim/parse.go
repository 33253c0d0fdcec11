package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxScript = 64 << 10
	maxSteps  = 1000
	maxSize   = 1 << 30
)

// Parse reads a script. Its text form is a list of steps with semicolons
// between them:
//
//	429 retry-after=2; 500*3; ok
//
// Each request takes one step, the last one holds for all that follow; a list
// that ends with "; repeat" starts again instead. A step is a name, an argument
// for some, and options:
//
//	NAME[=ARGUMENT][*TIMES] [OPTION=VALUE ...]
//
// TIMES is a number of requests ("500*3") or a time ("503*60s") that begins
// when the step's turn comes. refuse takes no request, so it needs a time
// unless it is the last step. Values with spaces or semicolons are put in
// single or double quotes.
//
// Every step that answers takes after=DURATION, header.NAME=VALUE and
// retry-after=VALUE. A header's value of the form date+5s or epoch+5s becomes
// that moment. Answers take tokens=N, reasoning=N, gap=DURATION, tool=NAME
// ("*" for the first one offered) and args=JSON.
//
// A script of several lines has a list of steps for some of the requests in
// each; the first line that matches holds:
//
//	model=kimi-k2 => 429; ok
//	key=k_0123456789ab => invalid-key
//	offers=Bash => tool=Bash
//	ok
//
// An error names the step and what would be right.
func Parse(text string) (Script, error) {
	var s Script
	if len(text) > maxScript {
		return s, fmt.Errorf("script: %d bytes, at most %d", len(text), maxScript)
	}
	if !utf8.ValidString(text) {
		return s, errors.New("script: not UTF-8")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		r, err := parseRule(line)
		if err != nil {
			return Script{}, fmt.Errorf("script: %w", err)
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

func parseRule(line string) (rule, error) {
	var r rule
	if slices.ContainsFunc([]string{"model=", "key=", "offers="}, func(p string) bool { return strings.HasPrefix(line, p) }) {
		head, steps, ok := strings.Cut(line, "=>")
		if !ok {
			return r, fmt.Errorf(`%q: want "=>" between the requests and the steps`, line)
		}
		line = steps
		for word := range strings.FieldsSeq(head) {
			name, value, _ := strings.Cut(word, "=")
			switch {
			case name == "model" && value != "":
				r.model = value
			case name == "key" && isFingerprint(value):
				r.key = value
			case name == "offers" && value != "":
				r.tool = value
			default:
				return r, fmt.Errorf("%q: want model=NAME, key=FINGERPRINT or offers=TOOL", word)
			}
		}
	}
	texts, err := split(line, func(c rune) bool { return c == ';' })
	if err != nil {
		return r, err
	}
	if n := len(texts); n > 1 && texts[n-1] == "repeat" {
		r.cycle, texts = true, texts[:n-1]
	}
	if len(texts) == 0 || len(texts) > maxSteps {
		return r, fmt.Errorf("%d steps, want 1 to %d", len(texts), maxSteps)
	}
	for i, t := range texts {
		st, err := parseStep(t)
		if err == nil && st.name == "refuse" {
			err = r.checkRefuse(&st, i == len(texts)-1)
		}
		if err != nil {
			return r, fmt.Errorf("step %d %q: %w", i+1, t, err)
		}
		r.steps = append(r.steps, st)
	}
	return r, nil
}

func (r rule) checkRefuse(s *step, last bool) error {
	switch {
	case !r.any():
		return errors.New("a port refuses every request")
	case s.times > 1:
		return errors.New("it takes no request: want a time, like refuse*30s")
	case s.during == 0 && (r.cycle || !last):
		return errors.New("it takes no request, so no other step would follow: want a time, like refuse*30s")
	}
	return nil
}

func parseStep(text string) (step, error) {
	s := step{times: 1, hold: forever, tokens: unset, reasoning: unset, gap: unset}
	words, err := split(text, func(c rune) bool { return c == ' ' || c == '\t' })
	if err != nil {
		return s, err
	}
	if len(words) == 0 {
		return s, errors.New("empty")
	}
	s.text = strings.Join(words, " ")

	head, times, repeated := cutLast(words[0], '*')
	if repeated {
		if err := s.setTimes(times); err != nil {
			return s, err
		}
	}
	name, arg, given := strings.Cut(head, "=")
	def, ok := define(name)
	if !ok {
		return s, fmt.Errorf("unknown step; want a status from 400 to 599 or one of %s", strings.Join(stepNames(), ", "))
	}
	s.name, s.refusal = name, def.refusal
	if !given {
		arg = def.unset
	}
	if err := s.setArgument(def, unquote(arg), given); err != nil {
		return s, err
	}
	for _, word := range words[1:] {
		name, value, given := strings.Cut(word, "=")
		if !given {
			return s, fmt.Errorf("%q: want OPTION=VALUE", word)
		}
		if err := s.setOption(def, name, unquote(value)); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *step) setTimes(text string) error {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 {
		s.times = n
		return nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		s.during = d
		return nil
	}
	return fmt.Errorf("%q after *: want a number from 1 or a duration", text)
}

func (s *step) setArgument(def definition, arg string, given bool) (err error) {
	if def.arg == noArgument && given || def.arg != noArgument && arg == "" {
		return fmt.Errorf("%s= takes %v", def.name, def.arg)
	}
	switch def.arg {
	case noArgument:
	case position:
		s.at, err = parsePosition(arg)
	case ordinal:
		s.at, err = parseCount(arg, 1)
	case duration:
		s.wait, err = parseDuration(arg)
	case size:
		s.size, err = parseSize(arg)
	case anything:
		s.word = arg
	case recorded:
		s.record, err = findRecord(arg)
	}
	if def.name == "tool" || def.name == "call" {
		s.tool = arg
	}
	return err
}

func (s *step) setOption(def definition, name, value string) (err error) {
	header, isHeader := strings.CutPrefix(name, "header.")
	if name == "retry-after" {
		header, isHeader = name, true
	}
	common := def.name != "refuse" && (isHeader || name == "after")
	if !common && !slices.Contains(strings.Fields(def.options), name) {
		return fmt.Errorf("option %q: %s takes %s", name, def.name, def.allowed())
	}
	switch {
	case isHeader:
		if !isToken(header) || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return fmt.Errorf("header %q: want a name and a value of one line", header)
		}
		s.headers = append(s.headers, [2]string{header, value})
	case name == "after":
		s.after, err = parseDuration(value)
	case name == "for":
		s.hold, err = parseDuration(value)
	case name == "gap":
		s.gap, err = parseDuration(value)
	case name == "tokens":
		s.tokens, err = parseCount(value, 0)
	case name == "reasoning":
		s.reasoning, err = parseCount(value, 0)
	case name == "tool":
		s.tool = value
	case name == "args":
		if s.args = value; !strings.HasPrefix(value, "{") || !json.Valid([]byte(value)) {
			err = fmt.Errorf("args %q: want a JSON object", value)
		}
	case name == "body":
		s.record, err = findRecord(value)
	}
	return err
}

func (d definition) allowed() string {
	if d.name == "refuse" {
		return "none"
	}
	return strings.Join(append(strings.Fields(d.options), "after", "retry-after", "header.NAME"), ", ")
}
