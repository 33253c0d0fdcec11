package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// split cuts s at the separators that stand outside quotes, drops empty parts
// and trims the others. Quotes stay where they are.
func split(s string, separator func(rune) bool) ([]string, error) {
	var parts []string
	var quote rune
	start := 0
	cut := func(end int) {
		if part := strings.TrimSpace(s[start:end]); part != "" {
			parts = append(parts, part)
		}
	}
	for i, c := range s {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case separator(c):
			cut(i)
			start = i + len(string(c))
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("%q: a quote is not closed", s)
	}
	cut(len(s))
	return parts, nil
}

func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// cutLast cuts s at its last sep, unless that is inside quotes.
func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 || strings.ContainsAny(s[i:], `"'`) {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

func parsePosition(s string) (int, error) {
	if s == "end" {
		return atEnd, nil
	}
	if n, err := strconv.Atoi(s); err == nil && 0 <= n && n <= maxTokens {
		return n, nil
	}
	return 0, fmt.Errorf(`%q: want 0 to %d tokens or "end"`, s, maxTokens)
}

func parseCount(s string, least int) (int, error) {
	if n, err := strconv.Atoi(s); err == nil && least <= n && n <= maxTokens {
		return n, nil
	}
	return 0, fmt.Errorf("%q: want a number from %d to %d", s, least, maxTokens)
}

func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q: want a duration like 500ms", s)
}

func parseSize(s string) (int64, error) {
	digits, unit := s, int64(1)
	for suffix, n := range map[string]int64{"KB": 1 << 10, "MB": 1 << 20} {
		if d, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = d, n
		}
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && 0 < n && n <= maxSize/unit {
		return n * unit, nil
	}
	return 0, fmt.Errorf("%q: want a size like 64KB or 100MB, at most 1024MB", s)
}

// isToken reports whether s may be a header's name.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
}
