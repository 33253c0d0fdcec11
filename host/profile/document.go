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
	text, err := p.readable()
	if err != nil {
		return nil, err
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
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
	return nil, p.secondDocument(next.Line)
}

func (p *parser) secondDocument(line int) error {
	return p.errorAt(line, 0, "a second document begins", "one document a file, so no --- or ... below the first line of it")
}

// characters refuses bytes that are no YAML, which the library does not place.
func (p *parser) characters() error {
	line, column := 1, 1
	for rest := p.layer.Data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case r == utf8.RuneError && size == 1:
			return p.errorAt(line, column, "not UTF-8 text", "text in UTF-8")
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return p.errorAt(line, column, fmt.Sprintf("character %U", r), "printable characters; in double quotes it can be written as an escape")
		}
		column++
	}
	return nil
}
