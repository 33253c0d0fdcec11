package tools

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const maxPattern = 1024

// glob matches paths with slashes. In a pattern * and ? stand for anything but a
// slash, ** for any folders, [ab] for one of the characters, {a,b} for one of the
// words. A pattern without a slash is matched with the last name of a path.
type glob struct {
	re   *regexp.Regexp
	base bool
}

func newGlob(pattern string) (*glob, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("pattern has %d bytes (allowed: %d)", len(pattern), maxPattern)
	}
	var b strings.Builder
	depth := 0
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		n := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			n = 3
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			n = 2
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '{':
			b.WriteString(`(?:`)
			depth++
		case c == '}' && depth > 0:
			b.WriteString(`)`)
			depth--
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		case c == '[' && strings.IndexByte(rest, ']') > 1:
			n = strings.IndexByte(rest, ']') + 1
			class := strings.ReplaceAll(rest[1:n-1], `\`, `\\`)
			if class[0] == '!' || class[0] == '^' {
				class = "^/" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, "[", `\[`) + "]")
		case c == '\\' && len(rest) > 1:
			n = 2
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		i += n
	}
	re, err := regexp.Compile(`(?s)\A(?:` + b.String() + `)\z`)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: not a pattern of names", pattern)
	}
	return &glob{re: re, base: !strings.Contains(pattern, "/")}, nil
}

func (g *glob) match(name string) bool {
	if g.base {
		name = path.Base(name)
	}
	return g.re.MatchString(name)
}
