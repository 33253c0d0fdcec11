package profile

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// parser turns the YAML library's nodes, which know syntax and places, into
// values. The library resolves no scalar and no key here.
type parser struct {
	layer Layer
	seen  map[*yaml.Node]*Value // for aliases
}

// parseYAML returns the root value of a layer's only document, nil if there is
// nothing in it.
func parseYAML(l Layer) (*Value, error) {
	p := &parser{layer: l, seen: make(map[*yaml.Node]*Value)}
	if len(l.Data) > MaxFile {
		return nil, p.errorAt(0, 0, "the file is too large", fmt.Sprintf("%d KiB", MaxFile>>10))
	}
	if err := p.characters(); err != nil {
		return nil, err
	}
	doc, err := p.document()
	if doc == nil || err != nil {
		return nil, err
	}
	root, err := p.value(doc.Content[0])
	if err != nil {
		return nil, err
	}
	if _, err := make(measurer).measure(root); err != nil {
		return nil, err
	}
	return root, nil
}

func (p *parser) errorAt(line, column int, message, allowed string) error {
	return &Error{Pos: p.at(line, column), Message: message, Allowed: allowed}
}

func (p *parser) at(line, column int) Pos {
	return Pos{Layer: p.layer.Name, File: p.layer.File, Line: line, Column: column}
}

// value converts n. An alias gives the anchor's own value, even while that is
// still being filled: measurer finds those that contain themselves.
func (p *parser) value(n *yaml.Node) (*Value, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if v, ok := p.seen[n]; ok {
		return v, nil
	}
	v := &Value{pos: p.at(n.Line, n.Column)}
	p.seen[n] = v
	tag := explicitTag(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		return v, p.scalar(v, n, tag)
	case n.Kind == yaml.SequenceNode && (tag == "" || tag == "!!seq"):
		v.kind = kindList
		return v, p.list(v, n)
	case n.Kind == yaml.MappingNode && (tag == "" || tag == "!!map"):
		v.kind = kindMap
		return v, p.mapping(v, n)
	}
	return nil, p.badTag(n, tag)
}

// explicitTag is the tag that the file gives n, "" if none.
func explicitTag(n *yaml.Node) string {
	if n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" {
		return n.Tag
	}
	return ""
}

func (p *parser) list(v *Value, n *yaml.Node) error {
	v.items = make([]*Value, len(n.Content))
	for i, c := range n.Content {
		item, err := p.value(c)
		if err != nil {
			return err
		}
		v.items[i] = item
	}
	return nil
}

func (p *parser) mapping(v *Value, n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		at := n.Content[i]
		name, err := p.value(at)
		if err != nil {
			return err
		}
		f := field{pos: p.at(at.Line, at.Column)}
		switch name.kind {
		case kindText:
			f.key = name.text
		case kindNumber:
			f.key = numberText(name.number)
		case kindNull, kindBool:
			f.key = name.code()
		case kindList, kindMap, kindExpr:
			return p.errorAt(at.Line, at.Column, name.kind.String()+" stands where a key belongs", "text as a key; quote it if it begins with [ or {")
		}
		if i, ok := v.at[f.key]; ok {
			return p.errorAt(at.Line, at.Column, fmt.Sprintf("key %q stands twice, first on line %d", clip(f.key, maxShown), v.fields[i].pos.Line), "each key once")
		}
		if f.value, err = p.value(n.Content[i+1]); err != nil {
			return err
		}
		v.set(f)
	}
	return nil
}

// scalar fills v with the meaning of a scalar.
func (p *parser) scalar(v *Value, n *yaml.Node, tag string) error {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	s, ok := showBreaks.Replace(n.Value), true
	absent := s == "" && n.Style&quoted == 0
	switch tag {
	case "":
		if n.Style&quoted != 0 {
			v.kind, v.text = kindText, s
		} else {
			v.resolvePlain(s)
		}
	case "!", "!!str":
		if tag == "!!str" || !absent {
			v.kind, v.text = kindText, s
		}
	case "!!null":
		ok = absent || v.asNull(s)
	case "!!bool":
		ok = v.asBool(s)
	case "!!int":
		ok = v.asInt(s)
	case "!!float":
		ok = v.asFloat(s)
	case "!!map":
		v.kind, ok = kindMap, absent
	case "!!seq":
		v.kind, ok = kindList, absent
	case "!!js":
		v.kind, v.text = kindExpr, s
		ok = !absent
	case "!env":
		v.kind = kindExpr
		v.text, ok = envSource(s)
	default:
		return p.badTag(n, tag)
	}
	if !ok {
		return p.errorAt(n.Line, n.Column, "the value does not fit the tag "+tag, tagForms(tag))
	}
	return nil
}

// badTag refuses a tag that is unknown or does not go with the kind of n.
func (p *parser) badTag(n *yaml.Node, tag string) error {
	allowed := "!!js and !env, and YAML's own !!str, !!int, !!float, !!bool, !!null, on scalars"
	switch n.Kind {
	case yaml.MappingNode:
		allowed = "!!map, or no tag, on a mapping"
	case yaml.SequenceNode:
		allowed = "!!seq, or no tag, on a list"
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode, yaml.StreamNode:
	}
	return p.errorAt(n.Line, n.Column, fmt.Sprintf("tag %s is not known here", clip(tag, maxShown)), allowed)
}

// tagForms says what may follow a tag.
func tagForms(tag string) string {
	switch strings.TrimLeft(tag, "!") {
	case "null":
		return "null, ~ or nothing"
	case "bool":
		return "true or false"
	case "int":
		return "a whole number such as 5, -5, 0x1F, 0o17 or 0b11"
	case "map":
		return "a mapping or nothing"
	case "seq":
		return "a list or nothing"
	case "float":
		return "a number such as 1.5, 1e3, .inf or .nan"
	case "js":
		return exprForms
	}
	return "!env NAME or !env NAME ?? text"
}
