package profile

import (
	"encoding/json"
	"errors"
)

// ParseJSON reads a value as JSON has it, with keys in their order. A mapping
// with the key __jsExpr is an expression.
func ParseJSON(data []byte) (*Value, error) {
	if !json.Valid(data) {
		return nil, errors.New("not JSON")
	}
	v, err := parseYAML(Layer{File: "value", Data: data})
	if err != nil {
		return nil, err
	}
	return v.expressions(), nil
}

// expressions is v with its expressions as such.
func (v *Value) expressions() *Value {
	if x := v.expression(); x != v {
		return x
	}
	for i, item := range v.items {
		v.items[i] = item.expressions()
	}
	for i, f := range v.fields {
		v.fields[i].value = f.value.expressions()
	}
	return v
}
