package profile

import (
	"encoding/json"
	"regexp"
	"strings"
)

// exprForms says which expressions can be evaluated.
const exprForms = `process.env.NAME, process.env.NAME ?? "text" or process.env.NAME || "text"; or !env NAME, !env NAME ?? text`

var (
	jsExpr  = regexp.MustCompile(`^\s*process\.env\.([A-Za-z_$][A-Za-z0-9_$]*)\s*(?:(\?\?|\|\|)\s*(\S|\S(?s:.*)\S)\s*)?$`)
	envExpr = regexp.MustCompile(`^\s*([A-Za-z_$][A-Za-z0-9_$]*)\s*(?:\?\?\s*((?s:.*?))\s*)?$`)
)

// Lookup finds an environment variable; os.LookupEnv is one.
type Lookup func(name string) (value string, ok bool)

// envSource turns what follows !env into the same as a !!js expression. Text in
// quotes is what the quotes hold.
func envSource(s string) (source string, ok bool) {
	m := envExpr.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	source = "process.env." + m[1]
	if !strings.Contains(s, "??") {
		return source, true
	}
	text := &Value{kind: kindText, text: m[2]}
	if lit, ok := literal(m[2]); ok && lit.kind == kindText {
		text = lit
	}
	return source + " ?? " + text.code(), true
}

// variable is an expression that can be evaluated.
type variable struct {
	name    string
	orEmpty bool   // || instead of ??: the default also stands for empty text
	def     *Value // nil if there is none
}

func parseVariable(source string) (variable, bool) {
	m := jsExpr.FindStringSubmatch(source)
	if m == nil {
		return variable{}, false
	}
	x := variable{name: m[1], orEmpty: m[2] == "||"}
	if m[2] == "" {
		return x, true
	}
	def, ok := literal(m[3])
	x.def = def
	return x, ok
}

// literal reads a JavaScript literal that needs no JavaScript: a JSON scalar, or
// text in single quotes without escapes.
func literal(s string) (*Value, bool) {
	if n := len(s); n >= 2 && s[0] == '\'' && s[n-1] == '\'' {
		inner := s[1 : n-1]
		return &Value{kind: kindText, text: inner}, !strings.ContainsAny(inner, "'\\\n")
	}
	var x any
	if json.Unmarshal([]byte(s), &x) != nil {
		return nil, false
	}
	switch x := x.(type) {
	case nil:
		return &Value{}, true
	case bool:
		return &Value{kind: kindBool, truth: x}, true
	case float64:
		return &Value{kind: kindNumber, number: x}, true
	case string:
		return &Value{kind: kindText, text: x}, true
	}
	return nil, false
}

// evaluator evaluates the expressions of one entry.
type evaluator struct {
	lookup Lookup
	unset  []string // variables without value and default, in order of appearance
	errs   []error  // an [*Error] for each expression that cannot be evaluated
}

// value returns v with its expressions evaluated, nil for JavaScript's
// undefined. v is not changed.
func (e *evaluator) value(v *Value) *Value {
	switch v.kind {
	case kindExpr:
		return e.variable(v, v.text)
	case kindMap:
		return e.mapping(v)
	case kindList:
		w := &Value{kind: kindList, pos: v.pos, items: make([]*Value, len(v.items))}
		for i, item := range v.items {
			x := e.value(item)
			if x == nil { // as JSON writes undefined in a list
				x = &Value{pos: item.pos}
			}
			w.items[i] = x
		}
		return w
	case kindNull, kindBool, kindNumber, kindText:
	}
	return v
}

// mapping evaluates a mapping; a key whose value is undefined is left out. A
// mapping with the key __jsExpr is an expression that was written by hand.
func (e *evaluator) mapping(v *Value) *Value {
	if x := v.get(exprKey); x != nil {
		return e.variable(v, x.label())
	}
	w := &Value{kind: kindMap, pos: v.pos}
	for _, f := range v.fields {
		if x := e.value(f.value); x != nil {
			w.set(field{key: f.key, pos: f.pos, value: x})
		}
	}
	return w
}

func (e *evaluator) variable(v *Value, source string) *Value {
	x, ok := parseVariable(source)
	if !ok { // not quoted in the message, for it may hold a key
		e.errs = append(e.errs, &Error{Pos: v.pos, Message: "this expression cannot be evaluated here", Allowed: exprForms})
		return nil
	}
	text, ok := e.lookup(x.name)
	if ok && (text != "" || !x.orEmpty || x.def == nil) {
		return &Value{kind: kindText, pos: v.pos, text: text, secret: true}
	}
	if x.def == nil {
		e.unset = append(e.unset, x.name)
		return nil
	}
	def := *x.def
	def.pos, def.secret = v.pos, true
	return &def
}
