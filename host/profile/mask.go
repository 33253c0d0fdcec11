package profile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spillway/sdk"
)

// secrets are the paths of a config's texts that must not be seen: those that
// the schema marks writeOnly, or that stand under a key with a secret's name.
// Expressions are not among them.
func (f *Form) secrets(config *Value) (map[string]bool, error) {
	marks, err := Marked(config, f.schema, "writeOnly", true)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for _, m := range marks {
		paths[m.Path] = true
	}
	config.walk(nil, func(v *Value, steps []string) bool {
		if v.kind == kindText && slices.ContainsFunc(steps, secretKey.MatchString) {
			paths[config.path(steps)] = true
		}
		return true
	})
	return paths, nil
}

// walk calls visit for v and for what is inside of it, with the way there, as
// long as visit asks for more.
func (v *Value) walk(steps []string, visit func(v *Value, steps []string) bool) {
	if !visit(v, steps) {
		return
	}
	for i, item := range v.items {
		item.walk(append(steps[:len(steps):len(steps)], strconv.Itoa(i)), visit)
	}
	for _, f := range v.fields {
		f.value.walk(append(steps[:len(steps):len(steps)], f.key), visit)
	}
}

// Shown is a config as JSON with the fields of the form only, for people. What
// must not be seen, expressions among it, is {"__kept": PATH}: given back in a
// change, it stands for what it hides.
func (f *Form) Shown(config *Value) (json.RawMessage, error) {
	secret, err := f.secrets(config)
	if err != nil {
		return nil, err
	}
	return f.part(config, prune(f.root), config, nil, secret).appendJSON(nil), nil
}

// part is what a pruned schema leaves of a config.
func (f *Form) part(v, schema, root *Value, steps []string, secret map[string]bool) *Value {
	switch {
	case v.kind == kindExpr, v.get(exprKey) != nil, secret[root.path(steps)]:
		kept := &Value{kind: kindMap}
		kept.set(field{key: keptKey, value: &Value{kind: kindText, text: root.path(steps)}})
		return kept
	case v.kind == kindList:
		list := &Value{kind: kindList}
		for i, item := range v.items {
			list.items = append(list.items, f.part(item, nil, root, append(steps[:len(steps):len(steps)], strconv.Itoa(i)), secret))
		}
		return list
	case v.kind != kindMap:
		return v
	}
	m := &Value{kind: kindMap}
	for _, x := range v.fields {
		var sub *Value
		if schema != nil && !schema.get("x-volatile").truthy() {
			if sub = schema.get("properties").get(x.key); sub == nil {
				continue
			}
		}
		m.set(field{key: x.key, value: f.part(x.value, sub, root, append(steps[:len(steps):len(steps)], x.key), secret)})
	}
	return m
}

// CheckSecrets finds what a new config does wrong with secrets: one that was written as
// text, for a file is no place for it, and one that was moved to where it would be
// seen. Those that the old config has may stay and move among such places.
//
// An expression is a secret too, for it may name any variable of the host, which holds
// the keys of all vendors: a module that gets one in a field that is no secret shows it
// and quotes it. So a new one stands for a secret only, and one that is there stays in
// its field, in whichever item of a list.
func (f *Form) CheckSecrets(x *Editable, next *Value) (sdk.Faults, error) {
	now, err := f.secrets(next)
	if err != nil {
		return nil, err
	}
	hidden, known := map[string]bool{}, map[string]bool{}
	for _, old := range []*Value{x.Config, x.Inherited} { // which a field may get back
		before, err := f.secrets(old)
		if err != nil {
			return nil, err
		}
		old.walk(nil, func(v *Value, steps []string) bool {
			source, expression := v.source()
			if expression {
				known[fieldOf(steps)+source] = true
			} else {
				hidden[v.text] = hidden[v.text] || before[old.path(steps)]
			}
			return !expression
		})
	}
	var faults sdk.Faults
	next.walk(nil, func(v *Value, steps []string) bool {
		path := next.path(steps)
		source, expression := v.source()
		was := x.Config.find(steps)
		switch {
		case expression:
			if !now[path] && !slices.ContainsFunc(steps, secretKey.MatchString) && !known[fieldOf(steps)+source] {
				faults = append(faults, sdk.Fault{Path: path, Message: "what an expression stands for would be seen here", Allowed: "a value; an expression is written into the file by hand"})
			}
		case v.kind != kindText, now[path] == hidden[v.text], was != nil && equal(was, v):
		case now[path]:
			faults = append(faults, sdk.Fault{Path: path, Value: redacted, Message: "a secret is not written into a file", Allowed: "the name of an environment variable"})
		default:
			faults = append(faults, sdk.Fault{Path: path, Value: redacted, Message: "a secret would be seen here"})
		}
		return !expression
	})
	return faults, nil
}

// source is an expression's, however it is written.
func (v *Value) source() (source string, ok bool) {
	if x := v.get(exprKey); x != nil {
		return x.label(), true
	}
	return v.text, v.kind == kindExpr
}

// fieldOf is a way without the numbers of items.
func fieldOf(steps []string) string {
	var b strings.Builder
	for _, s := range steps {
		if _, err := strconv.Atoi(s); err == nil {
			s = ""
		}
		fmt.Fprintf(&b, "%q.", s)
	}
	return b.String()
}

// Origins tells where the form's fields have their values from: by path, the
// places of those that config has.
func (f *Form) Origins(config *Value) map[string]Pos {
	all := map[string]Pos{}
	var look func(schema, v *Value, steps []string)
	look = func(schema, v *Value, steps []string) {
		if schema.get("x-volatile").truthy() {
			if len(steps) > 0 {
				all[config.path(steps)] = config.locate(steps)
			}
			return
		}
		for _, p := range schema.get("properties").fieldsOf() {
			if sub := v.get(p.key); sub != nil {
				look(p.value, sub, append(steps[:len(steps):len(steps)], p.key))
			}
		}
	}
	look(f.root, config, nil)
	return all
}
