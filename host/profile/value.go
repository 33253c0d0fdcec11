package profile

import (
	"math"
	"strings"
)

// kind is what a Value is. The zero kind is null.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindText
	kindList
	kindMap
	kindExpr
)

// String names k as messages do.
func (k kind) String() string {
	switch k {
	case kindNull:
		return "null"
	case kindBool:
		return "a boolean"
	case kindNumber:
		return "a number"
	case kindText:
		return "text"
	case kindList:
		return "a list"
	case kindMap:
		return "a mapping"
	case kindExpr:
		return "an expression"
	}
	return "unknown"
}

// Value is one value of a profile file with its place. Values are shared where
// the file used an alias; outside this package they never change.
type Value struct {
	kind   kind
	pos    Pos
	truth  bool     // kindBool
	number float64  // kindNumber
	text   string   // kindText, and the source of kindExpr
	items  []*Value // kindList
	fields []field  // kindMap, in the file's order
	at     map[string]int

	secret bool // came out of the environment
}

type field struct {
	key   string
	pos   Pos // of the key
	value *Value
}

// Pos is where the value stands.
func (v *Value) Pos() Pos { return v.pos }

// get returns the value of a key, nil if v is no mapping or has no such key.
func (v *Value) get(key string) *Value {
	if i, ok := v.at[key]; ok {
		return v.fields[i].value
	}
	return nil
}

// set adds f, or replaces the value of a key in its old place, as an object of
// the original does.
func (v *Value) set(f field) {
	if i, ok := v.at[f.key]; ok {
		v.fields[i] = f
		return
	}
	if v.at == nil {
		v.at = make(map[string]int)
	}
	v.at[f.key] = len(v.fields)
	v.fields = append(v.fields, f)
}

// truthy is JavaScript's Boolean(v); an absent value is false and an
// unevaluated expression is an object, so true.
func (v *Value) truthy() bool {
	if v == nil {
		return false
	}
	switch v.kind {
	case kindNull:
		return false
	case kindBool:
		return v.truth
	case kindNumber:
		return v.number != 0 && !math.IsNaN(v.number)
	case kindText:
		return v.text != ""
	case kindList, kindMap, kindExpr:
		return true
	}
	return false
}

// identity is what JavaScript's === compares. NaN is never looked up, for it is
// not truthy.
type identity struct {
	kind   kind
	truth  bool
	number float64
	text   string
	object *Value
}

func (v *Value) identity() identity {
	switch v.kind {
	case kindList, kindMap, kindExpr:
		return identity{kind: v.kind, object: v}
	case kindNull, kindBool, kindNumber, kindText:
	}
	return identity{kind: v.kind, truth: v.truth, number: v.number, text: v.text}
}

// same is JavaScript's a === b; absent is unlike everything but itself.
func same(a, b *Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.identity() == b.identity()
}

// label is how people see an id or a name: text as it is, anything else as
// JSON.
func (v *Value) label() string {
	switch {
	case v == nil:
		return ""
	case v.kind == kindText:
		return v.text
	}
	return string(v.appendJSON(nil))
}

// code is v as the original's warnings print it: JSON, "undefined" if it is
// absent, and null for a number that JSON lacks.
func (v *Value) code() string {
	switch {
	case v == nil:
		return "undefined"
	case v.kind == kindNumber && !isFinite(v.number):
		return "null"
	}
	return string(v.appendJSON(nil))
}

// clip cuts s at limit bytes, for a message.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// cloner copies values that share parts so that the copies share them alike.
type cloner map[*Value]*Value

func (c cloner) clone(v *Value) *Value {
	if done, ok := c[v]; ok {
		return done
	}
	w := new(Value)
	*w = *v
	c[v] = w
	w.items = make([]*Value, len(v.items))
	for i, item := range v.items {
		w.items[i] = c.clone(item)
	}
	w.fields, w.at = nil, nil
	for _, f := range v.fields {
		f.value = c.clone(f.value)
		w.set(f)
	}
	return w
}
