package profile

import (
	"encoding/json"
	"errors"
)

// MarshalJSON gives the rows as "config dump --json" prints them: every key in
// its order, expressions unevaluated.
func (c *Composed) MarshalJSON() ([]byte, error) {
	rows := make([]*Value, len(c.Rows))
	for i, r := range c.Rows {
		rows[i] = r.v
	}
	return (&Value{kind: kindList, items: rows}).MarshalJSON()
}

// Row is one entry, or group of entries, as the layers made it.
type Row struct{ v *Value }

func rowsOf(values []*Value) []Row {
	rows := make([]Row, len(values))
	for i, v := range values {
		rows[i] = Row{v}
	}
	return rows
}

// ID is the row's id for people, "" if it has none. The ids 1 and "1" are both
// "1" here.
func (r Row) ID() string {
	if id := r.v.get("id"); id.truthy() {
		return id.label()
	}
	return ""
}

// Name is the row's module, "" if it has none.
func (r Row) Name() string {
	if name := r.v.get("name"); name.truthy() {
		return name.label()
	}
	return ""
}

// Group reports whether the row's config is a list of rows to start: its group
// is truthy, or it is the original's own group module.
func (r Row) Group() bool {
	return r.v.get("group").truthy() || r.Name() == groupModule
}

// Children are the rows of a group.
func (r Row) Children() []Row {
	if config := r.v.get("config"); r.Group() && config != nil {
		return rowsOf(config.items)
	}
	return nil
}

// Disabled is the truthiness of the row's disabled. For an expression that
// cannot be evaluated it is an [*Error].
func (r Row) Disabled(env Lookup) (bool, error) {
	v := r.v.get("disabled")
	if v == nil {
		return false, nil
	}
	// An expression nested deeper changes nothing: its container is truthy.
	if v.kind == kindExpr || v.get(exprKey) != nil {
		e := evaluator{lookup: env}
		v = e.value(v)
		if len(e.errs) > 0 {
			return false, e.errs[0]
		}
	}
	return v.truthy(), nil
}

// Config is the row's config as it stands, nil if it has none.
func (r Row) Config() *Value { return r.v.get("config") }

// Resolve returns the row's config with its expressions evaluated, an empty
// mapping if it has none, and the variables that are neither set nor have a
// default: their keys are left out of the config. The error joins an [*Error]
// for each expression that cannot be evaluated.
func (r Row) Resolve(env Lookup) (config *Value, unset []string, err error) {
	if config = r.v.get("config"); config == nil {
		return &Value{kind: kindMap, pos: r.v.pos}, nil, nil
	}
	return config.Resolve(env)
}

// Resolve is Row.Resolve for a config by itself.
func (v *Value) Resolve(env Lookup) (config *Value, unset []string, err error) {
	e := evaluator{lookup: env}
	config = e.value(v)
	if len(e.errs) > 0 {
		return nil, nil, errors.Join(e.errs...)
	}
	if config == nil || config.kind == kindNull {
		config = &Value{kind: kindMap, pos: v.pos}
	}
	return config, e.unset, config.finite()
}

// finite refuses numbers that JSON, and so a plugin's config, cannot hold.
func (v *Value) finite() error {
	if v.kind == kindNumber && !isFinite(v.number) {
		return &Error{Pos: v.pos, Message: numberText(v.number) + " cannot be passed to a module", Allowed: "a finite number"}
	}
	for _, item := range v.items {
		if err := item.finite(); err != nil {
			return err
		}
	}
	for _, f := range v.fields {
		if err := f.value.finite(); err != nil {
			return err
		}
	}
	return nil
}

// Keys are the row's keys in their order.
func (r Row) Keys() []string {
	keys := make([]string, len(r.v.fields))
	for i, f := range r.v.fields {
		keys[i] = f.key
	}
	return keys
}

// Pos is where the row was first written.
func (r Row) Pos() Pos { return r.v.pos }

// Origin is where the present value of a key was written: the layer that won.
// It reports false if the row has no such key.
func (r Row) Origin(key string) (Pos, bool) {
	i, ok := r.v.at[key]
	if !ok {
		return Pos{}, false
	}
	return r.v.fields[i].pos, true
}

// MarshalJSON gives the row with every key in its order, expressions
// unevaluated.
func (r Row) MarshalJSON() ([]byte, error) { return r.v.MarshalJSON() }

var (
	_ json.Marshaler = (*Composed)(nil)
	_ json.Marshaler = (*Value)(nil)
	_ json.Marshaler = Row{}
)
