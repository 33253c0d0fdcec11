package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// document reads the syntax of the whole file, so that nothing after the first
// document goes unnoticed.
func (p *parser) document() (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(readable(p.layer.Data)))
	if err != nil {
		return nil, p.syntax(err)
	}
	var doc, next yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, p.syntax(err)
	}
	switch err := loader.Load(&next); {
	case errors.Is(err, io.EOF):
		return &doc, nil
	case err != nil:
		return nil, p.syntax(err)
	}
	return nil, p.errorAt(next.Line, 0, "a second document begins", "one document a file, so no --- or ... below the first line of it")
}

// readable returns data as the YAML library needs it: it knows 1.1 as the only
// version, and drops the line end of a block scalar that the file's end cuts
// off.
func readable(data []byte) []byte {
	text := bytes.Clone(data)
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	if rest := bytes.TrimPrefix(text, []byte("\ufeff")); bytes.HasPrefix(rest, []byte("%YAML 1.2")) {
		rest[0] = '#'
	}
	return text
}

// characters refuses bytes that are no YAML, which the library does not place.
func (p *parser) characters() error {
	line, column := 1, 1
	for rest := p.layer.Data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case r == utf8.RuneError && size == 1:
			return p.errorAt(line, column, "not UTF-8 text", "")
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return p.errorAt(line, column, fmt.Sprintf("character %U", r), "printable characters; in double quotes it can be written as an escape")
		}
		column++
	}
	return nil
}

// syntax says in our words what the YAML library found.
func (p *parser) syntax(err error) error {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return p.errorAt(0, 0, "not YAML: "+err.Error(), "")
	}
	lines := bytes.Split(p.layer.Data, []byte("\n"))
	if n := le.Mark.Line; n > 0 && n <= len(lines) {
		rest := bytes.TrimLeft(lines[n-1], " ")
		if bytes.HasPrefix(bytes.TrimPrefix(rest, []byte("-")), []byte("\t")) {
			return p.errorAt(n, 1+len(lines[n-1])-len(rest), "a tab in the indentation", "spaces")
		}
	}
	message := "not YAML: " + le.Message
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
		if from := le.ContextMark.Line; from > 0 && from != le.Mark.Line {
			message += fmt.Sprintf(" that begins on line %d", from)
		}
	}
	return p.errorAt(le.Mark.Line, le.Mark.Column, message, "")
}
