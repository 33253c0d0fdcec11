package mcp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean takes out of a stranger's text what is not seen: control characters, and
// the format characters that turn text around or hide words. Lines stay if the
// caller wants them.
func clean(s string, lines bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case (r == '\n' || r == '\t') && lines:
			return r
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, s)
}

// short is s in at most limit bytes, with a mark where it is cut.
func short(s string, limit int) string {
	const mark = "…"
	if len(s) <= limit {
		return s
	}
	return prefix(s, limit-len(mark)) + mark
}

// prefix is the longest start of s of at most n bytes that cuts no character.
func prefix(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
