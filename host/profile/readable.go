package profile

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The YAML library breaks lines at these characters, as YAML 1.1 did. It gets
// noncharacters, which no text holds, in their place.
var (
	hideBreaks = strings.NewReplacer("\u0085", "\ufdd0", "\u2028", "\ufdd1", "\u2029", "\ufdd2")
	showBreaks = strings.NewReplacer("\ufdd0", "\u0085", "\ufdd1", "\u2028", "\ufdd2", "\u2029")
)

// readable returns the layer's text as the YAML library needs it. It knows
// directives of YAML 1.1 only, drops the line end of a block scalar that the
// file's end cuts off, and does not put surrogate pairs together.
func (p *parser) readable() ([]byte, error) {
	text := []byte(hideBreaks.Replace(string(p.layer.Data)))
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	if json.Valid(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		return jsonEscape.ReplaceAllFunc(text, joinSurrogates), nil
	}
	return text, p.directives(text)
}

// jsonEscape is an escape of JSON, or two that make one character.
var jsonEscape = regexp.MustCompile(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|.)`)

func joinSurrogates(escape []byte) []byte {
	if len(escape) == 2 {
		return escape
	}
	// The expression has hexadecimal digits there.
	high, _ := strconv.ParseUint(string(escape[2:6]), 16, 16)
	low, _ := strconv.ParseUint(string(escape[8:]), 16, 16)
	return []byte(string(utf16.DecodeRune(rune(high), rune(low))))
}

var yamlVersion = regexp.MustCompile(`^1\.[0-9]+$`)

// directives reads the lines before a document that begin with %. It makes
// comments of those that the library does not know: YAML says to ignore them.
func (p *parser) directives(text []byte) error {
	version, found := false, false
	rest := bytes.TrimPrefix(text, []byte("\ufeff"))
	for n := 1; len(rest) > 0; n++ {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		words := bytes.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case bytes.Equal(words[0], []byte("...")) && line[0] == '.':
			return p.secondDocument(n)
		case line[0] != '%':
			if found && !bytes.HasPrefix(line, []byte("---")) {
				return p.errorAt(n, 1, "no --- ends the lines that begin with %", "a line --- before the list")
			}
			return nil
		case bytes.Equal(words[0], []byte("%TAG")):
			found = true
		default:
			if bytes.Equal(words[0], []byte("%YAML")) {
				one := len(words) == 2 || len(words) > 2 && words[2][0] == '#'
				if version || !one || !yamlVersion.Match(words[1]) {
					return p.errorAt(n, 1, "a %YAML line that cannot be read", "one line %YAML 1.2, or none")
				}
				version = true
			}
			found = true
			line[0] = '#'
		}
		rest = after
	}
	return nil
}
