package story

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// escapes matches the terminal's control sequences that leave letters behind
// when only their control characters are dropped. A final byte is required, so
// that an unfinished sequence hides nothing.
var escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]`)

// safe makes a stranger's text harmless on a terminal: no escape sequences, no
// control characters, no characters that reorder or hide others. White space of
// any kind becomes spaces.
func safe(s string) string {
	s = escapes.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
}

// secrets matches what looks like an API key. Some vendors repeat the refused
// key in their message.
var secrets = regexp.MustCompile(`\b(?:sk|rk|pk|gsk|xai)[-_][\w*-]{8,}|\bAIza[\w-]{20,}|(?i:\bbearer\s+)\S{20,}`)

// message is a vendor's message on one line, without secrets.
func message(s string) string {
	s = strings.Join(strings.Fields(safe(s)), " ")
	return secrets.ReplaceAllString(s, "[redacted]")
}

// maxSentence bounds an error's text, in columns.
const maxSentence = 400

// sentence is an error's text, as message gives it.
func sentence(s string) string { return clip(message(s), maxSentence) }

// columns is how wide s stands in a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 { // the first combining mark
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if wide(r) {
		return 2
	}
	return 1
}

func wide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

// clip cuts s to n columns, with an ellipsis if something is lost.
func clip(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// pad fills s up to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(n-columns(s), 0))
}

// Block makes a stranger's text of several lines harmless on a terminal, as far as
// safe does that for one: lines and tabs stay.
func Block(s string) string {
	s = escapes.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// Line is a stranger's text on one harmless line of at most n columns, without what
// looks like a key.
func Line(s string, n int) string { return clip(message(s), n) }

// asked is a stranger's text as Line shows it, but with what looks like a key.
func asked(s string, n int) string { return clip(strings.Join(strings.Fields(safe(s)), " "), n) }
