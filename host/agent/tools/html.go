package tools

import (
	"io"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTag bounds a tag, comment or text of a page, which the reader holds at once; a
// page ends at a longer one.
const maxTag = 1 << 20

// htmlText is what one can read of a page: its texts, with marks for headings, list
// items and links. It reads the page from front to back and trusts none of its
// nesting. After most bytes it stops: a short link can stand for a long address, so a
// page may have more text than it has bytes.
func htmlText(r io.Reader, base *url.URL, most int) (string, error) {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxTag)
	p := &reader{base: base}
	for {
		if p.b.Len() > most {
			return p.text() + "[the text of the page goes on]\n", nil
		}
		kind := z.Next()
		if kind == html.ErrorToken {
			if err := z.Err(); err != io.EOF && err != html.ErrBufferExceeded {
				return "", err
			}
			return p.text(), nil
		}
		t := z.Token()
		switch kind {
		case html.TextToken:
			if p.hidden == 0 {
				p.say(t.Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			p.open(t, kind == html.SelfClosingTagToken)
		case html.EndTagToken:
			p.close(t.DataAtom)
		}
	}
}

// reader writes the text of a page.
type reader struct {
	base   *url.URL
	b      strings.Builder
	breaks int    // line ends that stand before the next text
	space  bool   // a space stands before it
	prefix string // and this, behind those
	pre    int    // depth of <pre>
	hidden atom.Atom
	link   string
}

// headings have marks like Markdown's, which models know.
var headings = map[atom.Atom]string{
	atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### ",
}

func (p *reader) open(t html.Token, closed bool) {
	if p.hidden != 0 {
		return
	}
	switch a := t.DataAtom; a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object:
		if !closed {
			p.hidden = a
		}
	case atom.Br:
		p.end(1)
	case atom.Li:
		p.end(1)
		p.prefix = "- "
	case atom.Td, atom.Th:
		p.space = true
	case atom.Pre:
		p.end(2)
		p.pre++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.end(2)
		p.prefix = headings[a]
	case atom.A:
		if p.link = p.address(t); p.link != "" {
			p.say(" [")
		}
	case atom.Img:
		for _, attr := range t.Attr {
			if attr.Key == "alt" && strings.TrimSpace(attr.Val) != "" {
				p.say(attr.Val)
			}
		}
	default:
		p.end(lineEnds(a))
	}
}

func (p *reader) close(a atom.Atom) {
	switch {
	case p.hidden != 0:
		if a == p.hidden {
			p.hidden = 0
		}
		return
	case a == atom.A && p.link != "":
		p.space = false
		p.b.WriteString("](" + p.link + ")")
		p.link = ""
	case a == atom.Pre:
		p.pre = max(p.pre-1, 0)
		p.end(2)
	case headings[a] != "":
		p.end(2)
	}
	p.end(lineEnds(a))
}

// lineEnds are how far a tag sets what follows apart.
func lineEnds(a atom.Atom) int {
	switch a {
	case atom.P, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Title, atom.Figure, atom.Form, atom.Hr:
		return 2
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Li, atom.Option, atom.Figcaption, atom.Caption, atom.Summary, atom.Body, atom.Head:
		return 1
	}
	return 0
}

func (p *reader) end(n int) { p.breaks = max(p.breaks, n) }

// address is where a link leads, if that is another page.
func (p *reader) address(t html.Token) string {
	for _, attr := range t.Attr {
		if attr.Key != "href" || strings.HasPrefix(attr.Val, "#") || len(attr.Val) > maxURL {
			continue
		}
		u, err := p.base.Parse(strings.TrimSpace(attr.Val))
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			if to := u.String(); len(to) <= maxURL {
				return to
			}
		}
	}
	return ""
}

// say writes text, its white space as one space unless it is preformatted.
func (p *reader) say(s string) {
	if p.pre > 0 {
		p.begin()
		p.b.WriteString(s)
		return
	}
	words := strings.FieldsFunc(s, unicode.IsSpace)
	if len(words) == 0 {
		p.space = p.space || s != ""
		return
	}
	if unicode.IsSpace(rune(s[0])) {
		p.space = true
	}
	p.begin()
	p.b.WriteString(strings.Join(words, " "))
	p.space = unicode.IsSpace(rune(s[len(s)-1]))
}

// begin writes what stands before the next text.
func (p *reader) begin() {
	switch {
	case p.b.Len() == 0:
	case p.breaks > 0:
		p.b.WriteString(strings.Repeat("\n", p.breaks))
	case p.space:
		p.b.WriteByte(' ')
	}
	p.b.WriteString(p.prefix)
	p.breaks, p.space, p.prefix = 0, false, ""
}

func (p *reader) text() string {
	text := strings.ToValidUTF8(strings.TrimSpace(p.b.String()), "\uFFFD")
	if text == "" {
		return "[the page has no text]\n"
	}
	return text + "\n"
}
