package profile

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"
)

// renderer writes values as YAML that [parseYAML] reads back.
type renderer struct {
	json bool // the file is JSON and stays it
}

// inline reports whether v takes no lines of its own.
func inline(v *Value) bool {
	switch v.kind {
	case kindList:
		return len(v.items) == 0
	case kindMap:
		return len(v.fields) == 0
	case kindNull, kindBool, kindNumber, kindText, kindExpr:
	}
	return true
}

// behind is v as it follows a key's colon, the key being indented by indent: " 5", or
// lines of their own.
func (r renderer) behind(v *Value, indent int) string {
	if inline(v) {
		return " " + r.flow(v)
	}
	return "\n" + pad(indent+2) + r.block(v, indent+2)
}

// block is v on lines of its own, the first of which is already indented.
func (r renderer) block(v *Value, indent int) string {
	if inline(v) {
		return r.flow(v)
	}
	var parts []string
	if v.kind == kindList {
		for _, item := range v.items {
			parts = append(parts, "- "+r.block(item, indent+2))
		}
	} else {
		for _, f := range v.fields {
			parts = append(parts, r.word(f.key)+":"+r.behind(f.value, indent))
		}
	}
	return strings.Join(parts, "\n"+pad(indent))
}

// flow is v in one line.
func (r renderer) flow(v *Value) string {
	if r.json {
		return string(v.appendJSON(nil))
	}
	var parts []string
	switch v.kind {
	case kindList:
		for _, item := range v.items {
			parts = append(parts, r.flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindMap:
		for _, f := range v.fields {
			parts = append(parts, r.word(f.key)+": "+r.flow(f.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case kindText:
		return r.word(v.text)
	case kindExpr:
		return expression(v.text)
	case kindNumber:
		switch {
		case math.IsNaN(v.number):
			return ".nan"
		case math.IsInf(v.number, 1):
			return ".inf"
		case math.IsInf(v.number, -1):
			return "-.inf"
		}
	case kindNull, kindBool:
	}
	return string(v.appendJSON(nil))
}

// expression writes what only names a variable in the short form.
func expression(text string) string {
	if x, ok := parseVariable(text); ok && x.def == nil && !strings.Contains(x.name, "$") {
		return "!env " + x.name
	}
	if plainExpr.MatchString(text) {
		return "!!js " + text
	}
	return "!!js " + quoted(text)
}

var (
	plainExpr = regexp.MustCompile(`^[A-Za-z_$][\w$.()]*( \?\? [\w.]+| \|\| [\w.]+)?$`)
	plainText = regexp.MustCompile(`^[\pL_/.][\pL\pN_/.+@-]*( [\pL\pN_/.+@-]+)*$`)
)

// word writes a text or key without quotes where no reader can take it for
// anything else.
func (r renderer) word(s string) string {
	var v Value
	v.resolvePlain(s)
	if !r.json && v.kind == kindText && plainText.MatchString(s) && !strings.HasPrefix(s, "...") && !yaml11.MatchString(s) {
		return s
	}
	return quoted(s)
}

// yaml11 are texts that readers of the older YAML take for something else.
var yaml11 = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|\.inf|\.nan)$`)

// quoted is s in double quotes, which are those of JSON. What may not stand in
// a file is written as an escape.
func quoted(s string) string {
	var b strings.Builder
	for _, c := range string(appendString(nil, s)) {
		if c >= 0x7f && (unicode.IsControl(c) || c == 0xfeff || c >= 0xfdd0 && c <= 0xfdef || c == 0xfffe || c == 0xffff) {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func pad(n int) string { return strings.Repeat(" ", n) }
