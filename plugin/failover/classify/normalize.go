package classify

import (
	"strings"
	"unicode"
)

// normalize prepares a message for the phrase rules: links are dropped, since
// their paths are full of telling words ("/settings/billing"), spaces are
// collapsed, and typographic and full-width forms become plain ones. With
// blank, what stands between quotation marks is dropped too: where the caller
// may be at fault, that is where a vendor quotes the caller's own words.
func normalize(message string, blank bool) []rune {
	in := []rune(message)
	out := make([]rune, 0, len(in))
	for i := 0; i < len(in); i++ {
		c := plain(in[i])
		if n := linkAt(in[i:]); n > 0 {
			i += n - 1
			c = ' '
		}
		if unicode.IsSpace(c) {
			if len(out) > 0 && out[len(out)-1] == ' ' {
				continue
			}
			c = ' '
		}
		if blank {
			if end := quoteEnd(in, i, c); end > 0 {
				out = append(out, c, c)
				i = end
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// plain maps the variants of a character to the one that the rules are
// written with.
func plain(c rune) rune {
	switch c {
	case '‘', '’', 'ʼ':
		return '\''
	case '“', '”':
		return '"'
	case '\u00a0', '\u3000':
		return ' '
	}
	if c >= '！' && c <= '～' { // full-width ASCII
		return c - '！' + '!'
	}
	return c
}

// linkAt returns the length of the link that s begins with, 0 if it does not.
func linkAt(s []rune) int {
	if len(s) < 8 || s[0] != 'h' || s[1] != 't' {
		return 0
	}
	head := string(s[:8])
	if !strings.HasPrefix(head, "http://") && head != "https://" {
		return 0
	}
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	return n
}

// maxQuote is the longest quotation that is blanked; a mark that is not closed
// by then is none.
const maxQuote = 1000

// quoteEnd returns the index of the mark that closes the quotation opened at i,
// 0 if none is opened there. An apostrophe within a word opens nothing.
func quoteEnd(in []rune, i int, open rune) int {
	switch open {
	case '\'':
		if i > 0 && isWord(in[i-1]) {
			return 0
		}
	case '"', '`':
	default:
		return 0
	}
	for j := i + 1; j < len(in) && j-i <= maxQuote; j++ {
		if plain(in[j]) != open || in[j-1] == '\\' {
			continue
		}
		if open == '\'' && j+1 < len(in) && isWord(in[j+1]) {
			continue
		}
		return j
	}
	return 0
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
