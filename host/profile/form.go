package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"spillway/sdk"
)

// Form is the volatile part of a module's schema: what can be edited while the
// module runs. A field is volatile if its schema says "x-volatile": true; so is
// all that is inside of it. Schemas are looked at along properties only, not
// through references.
type Form struct {
	schema json.RawMessage
	root   *Value
}

// Change is one change of a form.
type Change struct {
	// Path is that of the field, as in sdk.Fault. It may lead into a field, to an
	// item behind the last of a list to append one, or to a mapping that is not
	// volatile itself: then it is the fields inside that are changed. "" is the
	// whole form.
	Path string `json:"path"`
	// Value is the new one; without one the field gets what it inherits, an item
	// of a list goes.
	Value json.RawMessage `json:"value,omitempty"`
}

// NotVolatileError refuses a change of a field that the form does not have.
type NotVolatileError struct{ Path string }

// Error is in the original's words.
func (e *NotVolatileError) Error() string {
	return fmt.Sprintf("Config field %q is not volatile", clip(e.Path, maxShown))
}

// OpenForm reads a module's schema. The form is nil if nothing in it is volatile.
func OpenForm(schema json.RawMessage) (*Form, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	root, err := ParseJSON(schema)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if prune(root) == nil {
		return nil, nil
	}
	return &Form{schema: schema, root: root}, nil
}

// Schema is the module's schema with the volatile fields only, in their order.
func (f *Form) Schema() json.RawMessage { return prune(f.root).appendJSON(nil) }

// prune leaves the volatile fields of a schema, nil if it has none. What refers
// to other fields goes.
func prune(schema *Value) *Value {
	if schema.get("x-volatile").truthy() {
		return schema
	}
	properties := schema.get("properties")
	if properties == nil {
		return nil
	}
	left := &Value{kind: kindMap}
	for _, p := range properties.fields {
		if p.value = prune(p.value); p.value != nil {
			left.set(p)
		}
	}
	if len(left.fields) == 0 {
		return nil
	}
	pruned := &Value{kind: kindMap}
	for _, f := range schema.fields {
		switch f.key {
		case "properties":
			f.value = left
		case "$schema", "$id", "$defs", "title", "description", "type":
		default:
			continue
		}
		pruned.set(f)
	}
	return pruned
}

// Apply makes a new config of the present one. Fields that are not volatile stay
// as they are, whether the schema knows them or not. The error is a
// *NotVolatileError, or sdk.Faults where a change makes no sense.
func (f *Form) Apply(x *Editable, changes []Change) (*Value, error) {
	next := x.Config.apart()
	for _, c := range changes {
		steps := splitPath(c.Path)
		if x.Config.path(steps) != c.Path { // it was not understood to its end
			return nil, &NotVolatileError{Path: c.Path}
		}
		var v *Value
		if c.Value != nil {
			var err error
			if v, err = ParseJSON(c.Value); err == nil {
				v, err = restore(v, x.Config)
			}
			if err != nil {
				return nil, sdk.Faults{{Path: c.Path, Message: err.Error()}}
			}
		}
		if err := f.change(next, x.Inherited, f.root, nil, steps, v); err != nil {
			return nil, err
		}
	}
	if _, err := make(measurer).measure(next); err != nil {
		return nil, err
	}
	return next, nil
}

// change sets what rest leads to below config, done being the way so far, or
// unsets it if v is nil. schema is that of config.
func (f *Form) change(config, inherited, schema *Value, done, rest []string, v *Value) error {
	switch {
	case schema.get("x-volatile").truthy():
		return set(config, inherited, slices.Concat(done, rest), v)
	case len(rest) > 0:
		here := schema.get("properties").get(rest[0])
		done = slices.Concat(done, rest[:1])
		if here == nil || prune(here) == nil {
			return &NotVolatileError{Path: config.path(slices.Concat(done, rest[1:]))}
		}
		return f.change(config, inherited, here, done, rest[1:], v)
	case v == nil:
		for _, p := range schema.get("properties").fieldsOf() {
			if prune(p.value) == nil {
				continue
			}
			if err := f.change(config, inherited, p.value, slices.Concat(done, []string{p.key}), nil, nil); err != nil {
				return err
			}
		}
		return nil
	case v.kind == kindMap:
		for _, part := range v.fields {
			if err := f.change(config, inherited, schema, done, []string{part.key}, part.value); err != nil {
				return err
			}
		}
		return nil
	}
	return &NotVolatileError{Path: config.path(done)}
}

// fieldsOf are the fields of a mapping that may not be there.
func (v *Value) fieldsOf() []field {
	if v == nil {
		return nil
	}
	return v.fields
}

// set puts v at the place that steps lead to, making the mappings on the way. A
// nil v stands for what is inherited there, for an item of a list for nothing.
func set(config, inherited *Value, steps []string, v *Value) error {
	unset := v == nil
	if unset {
		v = inherited.find(steps)
	}
	last := len(steps) - 1
	at := config
	var way []*Value
	for i, step := range steps {
		way = append(way, at)
		switch at.kind {
		case kindList:
			if unset { // items have no place to be compared by
				v = nil
			}
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n > len(at.items) || n == len(at.items) && (i < last || v == nil) {
				return sdk.Faults{{Path: config.path(steps), Message: fmt.Sprintf("Config array index %q is out of range", clip(step, maxShown))}}
			}
			switch {
			case i < last:
				at = at.items[n]
			case v == nil:
				at.items = slices.Delete(at.items, n, n+1)
			case n == len(at.items):
				at.items = append(at.items, v)
			default:
				at.items[n] = v
			}
		case kindMap:
			switch next := at.get(step); {
			case i < last && next == nil:
				if v == nil {
					return nil
				}
				next = &Value{kind: kindMap}
				at.set(field{key: step, value: next})
				at = next
			case i < last:
				at = next
			case v == nil:
				at.drop(step)
			default:
				at.set(field{key: step, value: v})
			}
		case kindNull, kindBool, kindNumber, kindText, kindExpr:
			return sdk.Faults{{Path: config.path(steps), Message: "leads into " + at.kind.String()}}
		}
	}
	// A mapping that was made for a field goes with it.
	for i, m := range slices.Backward(way) {
		if v == nil && i > 0 && m.kind == kindMap && len(m.fields) == 0 && inherited.find(steps[:i]) == nil && way[i-1].kind == kindMap {
			way[i-1].drop(steps[i-1])
		}
	}
	return nil
}

// apart is a copy that shares nothing, not even among its own parts.
func (v *Value) apart() *Value {
	w := *v
	w.items, w.fields, w.at = make([]*Value, len(v.items)), nil, nil
	for i, item := range v.items {
		w.items[i] = item.apart()
	}
	for _, f := range v.fields {
		f.value = f.value.apart()
		w.set(f)
	}
	return &w
}

// drop takes a key out of a mapping.
func (v *Value) drop(key string) {
	fields := v.fields
	v.fields, v.at = nil, nil
	for _, f := range fields {
		if f.key != key {
			v.set(f)
		}
	}
}

// keptKey is the key of the mapping that stands for a value that is not shown:
// its path.
const keptKey = "__kept"

// restore puts the values of config where v says that they are kept.
func restore(v, config *Value) (*Value, error) {
	if kept := v.get(keptKey); kept != nil {
		old := config.find(splitPath(kept.text))
		if old == nil || kept.kind != kindText {
			return nil, errors.New("a value is to be kept that is not there")
		}
		return old, nil
	}
	var err error
	for i, item := range v.items {
		if v.items[i], err = restore(item, config); err != nil {
			return nil, err
		}
	}
	for i, f := range v.fields {
		if v.fields[i].value, err = restore(f.value, config); err != nil {
			return nil, err
		}
	}
	return v, nil
}
