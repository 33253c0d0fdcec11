package profile

import (
	"math"
	"slices"
)

// equal reports whether two values mean the same. The order of keys means
// nothing, and an expression may be written in either of its forms.
func equal(a, b *Value) bool {
	a, b = a.expression(), b.expression()
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case kindNull:
		return true
	case kindBool:
		return a.truth == b.truth
	case kindNumber:
		return a.number == b.number || math.IsNaN(a.number) && math.IsNaN(b.number)
	case kindText, kindExpr:
		return a.text == b.text
	case kindList:
		return slices.EqualFunc(a.items, b.items, equal)
	case kindMap:
	}
	if len(a.fields) != len(b.fields) {
		return false
	}
	for _, f := range a.fields {
		if other := b.get(f.key); other == nil || !equal(f.value, other) {
			return false
		}
	}
	return true
}

// expression is v, or what it stands for if it is an expression that was
// written by hand as a mapping.
func (v *Value) expression() *Value {
	if x := v.get(exprKey); x != nil {
		return &Value{kind: kindExpr, pos: v.pos, text: x.label()}
	}
	return v
}

// sameConfig is equal for configs: none, null and an empty mapping are alike.
func sameConfig(a, b *Value) bool {
	none := func(v *Value) bool { return v == nil || v.kind == kindNull || v.kind == kindMap && len(v.fields) == 0 }
	if none(a) || none(b) {
		return none(a) == none(b)
	}
	return equal(a, b)
}
