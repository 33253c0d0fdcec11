package profile

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// The YAML library tells where a node begins and not where it ends. What
// follows finds the end from the text, knowing what the node means.

const (
	blanks = " \t\r\n"
	// between are the characters that stand between the nodes of a flow,
	// besides comments.
	between = blanks + ",:?"
)

// start is where n begins, with its anchor and tag.
func (s *source) start(n *yaml.Node) int { return s.offset(n.Line, n.Column) }

// content is where n's own text begins, and where its anchor and tag end.
func (s *source) content(n *yaml.Node) (begin, props int) {
	props = s.start(n)
	begin = props
	count := 0
	if n.Anchor != "" {
		count++
	}
	if explicitTag(n) != "" {
		count++
	}
	for range count {
		begin = s.skip(begin, blanks)
		props = begin
		for props < len(s.text) && !strings.ContainsRune(blanks+",[]{}", rune(s.text[props])) {
			props++
		}
		begin = props
	}
	if count > 0 {
		begin = s.skip(begin, blanks)
	}
	return begin, props
}

// skip passes over characters of set and comments.
func (s *source) skip(at int, set string) int {
	for at < len(s.text) {
		switch c := s.text[at]; {
		case strings.IndexByte(set, c) >= 0:
			at++
		case c == '#' && (at == 0 || strings.IndexByte(blanks, s.text[at-1]) >= 0):
			at = s.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

// end is where n ends. indent is the indentation of the block that n is in, -1
// at the root.
func (s *source) end(n *yaml.Node, indent int) int {
	begin, props := s.content(n)
	switch n.Kind {
	case yaml.AliasNode:
		return begin + len("*") + len(n.Value)
	case yaml.ScalarNode:
		return s.scalarEnd(n, begin, props, indent)
	case yaml.MappingNode, yaml.SequenceNode:
	case yaml.DocumentNode, yaml.StreamNode:
		return len(s.text)
	}
	flow := begin < len(s.text) && (s.text[begin] == '[' || s.text[begin] == '{')
	last := begin
	if flow {
		last++
	}
	if len(n.Content) > 0 {
		last = s.end(n.Content[len(n.Content)-1], s.indent(n))
	}
	if !flow || n.Style&yaml.FlowStyle == 0 {
		return last
	}
	return min(s.skip(last, between)+1, len(s.text))
}

func (s *source) scalarEnd(n *yaml.Node, begin, props, indent int) int {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		for at := begin + 1; at < len(s.text); at++ {
			switch s.text[at] {
			case '\\':
				at++
			case '"':
				return at + 1
			}
		}
		return len(s.text)
	case n.Style&yaml.SingleQuotedStyle != 0:
		for at := begin + 1; at < len(s.text); at++ {
			if s.text[at] != '\'' {
				continue
			}
			if !strings.HasPrefix(s.text[at+1:], "'") {
				return at + 1
			}
			at++
		}
		return len(s.text)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return s.blockEnd(begin, indent)
	case n.Value == "":
		return props
	}
	// A plain text stands there as it is, but for its blanks.
	at := begin
	for _, c := range showBreaks.Replace(n.Value) {
		if strings.ContainsRune(blanks, c) {
			continue
		}
		for at < len(s.text) && strings.IndexByte(blanks, s.text[at]) >= 0 {
			at++
		}
		at += len(string(c))
	}
	return min(at, len(s.text))
}

// blockEnd is where a block scalar ends whose | or > stands at begin.
func (s *source) blockEnd(begin, indent int) int {
	end := s.lineEnd(begin)
	header, _, _ := strings.Cut(s.text[begin:end], "#")
	keep := strings.Contains(header, "+")
	deep := 0 // of its lines; 0: not known yet
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		deep = max(indent, 0) + int(header[i]-'0')
	}
	for at := s.lineAfter(begin); at < len(s.text); at = s.lineAfter(at) {
		line := s.text[at:s.lineEnd(at)]
		text := strings.TrimLeft(line, " ")
		here := len(line) - len(text)
		switch {
		case text == "":
			if keep {
				end = at + len(line)
			}
			continue
		case deep == 0 && here > indent:
			deep = here
		}
		if deep == 0 || here < deep {
			return end
		}
		end = at + len(line)
	}
	return end
}

// comments are the comments between from and to, where no node is.
func (s *source) comments(from, to int) []string {
	var all []string
	for at := from; at < to; at++ {
		if s.text[at] == '#' && (at == 0 || strings.IndexByte(blanks, s.text[at-1]) >= 0) {
			end := min(s.lineEnd(at), to)
			all = append(all, strings.TrimRight(s.text[at:end], blanks))
			at = end
		}
	}
	return all
}

// around are the comments of n, which is in a block indented by indent, from
// from to to, but for what stands inside of the nodes of without.
func (s *source) around(n *yaml.Node, indent, from, to int, without map[*yaml.Node]bool) []string {
	var all []string
	at := from
	take := func(begin, end int) {
		all = append(all, s.comments(at, begin)...)
		at = max(at, end)
	}
	var walk func(n *yaml.Node, indent int)
	walk = func(n *yaml.Node, indent int) {
		begin, props := s.content(n)
		switch {
		case without[n]:
			take(s.start(n), s.reach(n, indent))
		case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
			take(s.start(n), props)
			inside := s.indent(n)
			for _, c := range n.Content {
				walk(c, inside)
			}
		default:
			take(begin, s.end(n, indent))
		}
	}
	if n != nil {
		walk(n, indent)
	}
	take(to, to)
	return all
}

// reach is where n ends with the comment behind its last line, if that belongs
// to a part of it: if n is a block of lines.
func (s *source) reach(n *yaml.Node, indent int) int {
	end := s.end(n, indent)
	if blockOf(n) {
		return s.lineEnd(end)
	}
	return end
}

// blockOf reports whether n is a list or mapping with lines of its own.
func blockOf(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0
}

// indent is the indentation of the lines of a list or mapping, 0 if it has none
// of its own.
func (s *source) indent(n *yaml.Node) int {
	if !blockOf(n) {
		return 0
	}
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		return n.Content[0].Column - 1
	}
	begin, _ := s.content(n)
	return utf8.RuneCountInString(s.text[s.lineStart(begin):begin])
}
