package profile

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// syntax says in our words what the YAML library found. What was begun and
// never ended is placed where it begins.
func (p *parser) syntax(err error) error {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return p.errorAt(0, 0, "not YAML: "+err.Error(), "")
	}
	at, from := le.Mark, le.ContextMark
	here := p.rest(at.Line, at.Column)
	ends := len(bytes.TrimSpace(here)) == 0 && at.Line >= bytes.Count(p.layer.Data, []byte("\n"))
	begun := func(what string) string { return fmt.Sprintf("%s that begins on line %d", what, from.Line) }
	column := func(what string) string { return fmt.Sprintf("%s in column %d", what, from.Column) }

	switch {
	case bytes.HasPrefix(here, []byte("\t")), strings.Contains(le.Message, "found a tab"):
		return p.errorAt(at.Line, at.Column, "a tab in the indentation", "spaces")
	case strings.HasPrefix(le.Message, "exceeded max depth"):
		return p.errorAt(at.Line, at.Column, "nested too deep", fmt.Sprintf("%d levels", maxDepth))
	case strings.HasPrefix(le.Message, "unknown anchor"):
		return p.errorAt(at.Line, at.Column, "an alias without an anchor before it", "*NAME where &NAME stands further up; quotes around text that begins with *")
	}
	switch le.Message {
	case "found unexpected end of stream":
		return p.errorAt(from.Line, from.Column, "a text in quotes is never closed", "the same quote at its end")
	case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
		open, shut, space := "{", "}", `; a space after each ":"`
		if strings.HasSuffix(le.Message, "']'") {
			open, shut, space = "[", "]", ""
		}
		if ends {
			return p.errorAt(from.Line, from.Column, open+" is never closed", shut+" at its end")
		}
		return p.errorAt(at.Line, at.Column, "this is not the next item of the "+begun(open), `", " before it, or `+shut+space)
	case "did not find expected node content":
		if ends {
			return p.errorAt(at.Line, at.Column, "the file ends inside of { or [", "} or ] at its end")
		}
	case "mapping values are not allowed in this context":
		return p.errorAt(at.Line, at.Column, `a ":" where no key can be`, `quotes around text that holds ": "; the keys of a mapping one below the other`)
	case "block sequence entries are not allowed in this context":
		return p.errorAt(at.Line, at.Column, `a "- " where no item can be`, "the items of a list on lines of their own, one below the other")
	case "did not find expected '-' indicator":
		return p.errorAt(at.Line, at.Column, "this is not the next item of the "+begun("list"), column(`"- "`))
	case "did not find expected key":
		return p.errorAt(at.Line, at.Column, "this is not the next key of the "+begun("mapping"), column("a key"))
	case "did not find expected <document start>":
		return p.errorAt(at.Line, at.Column, "this is no part of what stands before", "one list, its items one below the other")
	case "could not find expected ':'":
		return p.errorAt(from.Line, from.Column, "a key without a value", "KEY: VALUE")
	case "found character that cannot start any token":
		c, _ := utf8.DecodeRune(here)
		return p.errorAt(at.Line, at.Column, fmt.Sprintf("text cannot begin with %q", c), "quotes around it")
	case "found unknown escape character", "found invalid Unicode character escape code", "did not find expected hexadecimal number":
		return p.errorAt(at.Line, at.Column, "an escape that is none", `\n, \t, \", \\, \x41, \u0041, \U0001F600; or single quotes, in which \ is an ordinary character`)
	case "did not find expected alphabetic or numeric character":
		return p.errorAt(at.Line, at.Column, "no name after & or *", "letters a to z, digits, - and _; quotes around text that begins so")
	}
	message := "not YAML: " + le.Message
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	return p.errorAt(at.Line, at.Column, message, "")
}

// rest is what the line has from a column on, both from 1; nothing if there is
// no such place.
func (p *parser) rest(line, column int) []byte {
	lines := bytes.Split(p.layer.Data, []byte("\n"))
	if line < 1 || line > len(lines) {
		return nil
	}
	text := lines[line-1]
	for ; column > 1 && len(text) > 0; column-- {
		_, size := utf8.DecodeRune(text)
		text = text[size:]
	}
	return text
}
