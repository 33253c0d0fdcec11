package profile

import (
	"fmt"
	"slices"
)

// Composed is the list of rows that the layers make.
type Composed struct {
	Rows     []Row
	Warnings []Warning // patches that were skipped, in order
}

// Compose applies patches to base as one flattened list. It changes none of
// its arguments. The error is an [*Error].
//
// Rows are found by id, at the top level and inside groups alike; the last row
// of an id is the one. A patch with a truthy insert adds rows at the end of the
// top level, or of the group it names. Any other patch replaces the keys it
// names of the row it names; name is only a guard. Rows that a patch inserts
// can be found by the patches after it; rows that come in as the new config of
// a group cannot.
func Compose(base *List, patches ...*List) (*Composed, error) {
	c := composer{ids: make(map[identity]*Value), codes: make(map[*Value]string)}
	copies := make(cloner)
	for _, row := range base.rows {
		c.rows = append(c.rows, copies.clone(row))
	}
	if err := c.index(c.rows, base.pos, 0); err != nil {
		return nil, err
	}
	for _, list := range patches {
		for _, patch := range list.rows {
			if err := c.apply(copies.clone(patch)); err != nil {
				return nil, err
			}
		}
	}
	whole := &Value{kind: kindList, pos: base.pos, items: c.rows}
	if _, err := make(measurer).measure(whole); err != nil {
		return nil, err
	}
	return &Composed{Rows: rowsOf(c.rows), Warnings: c.warnings}, nil
}

// rowForm says what a row is.
const rowForm = "a mapping with keys such as id, name, config"

type composer struct {
	rows     []*Value
	ids      map[identity]*Value
	known    []string // the first maxSuggested ids as code
	codes    map[*Value]string
	visited  int
	warnings []Warning
}

// index makes rows and the children of groups among them findable.
func (c *composer) index(rows []*Value, at Pos, depth int) error {
	if depth > maxDepth {
		return &Error{Pos: at, Message: "a group contains itself, or groups are nested too deep", Allowed: fmt.Sprintf("%d levels", maxDepth)}
	}
	for _, row := range rows {
		if c.visited++; c.visited > maxIndexed {
			return &Error{Pos: at, Message: "the patches make too many rows", Allowed: fmt.Sprintf("%d, each counted as often as it is inserted", maxIndexed)}
		}
		if row.kind == kindNull {
			return &Error{Pos: row.pos, Message: "a row is null", Allowed: rowForm}
		}
		if id := row.get("id"); id.truthy() {
			if _, ok := c.ids[id.identity()]; !ok && len(c.known) < maxSuggested {
				c.known = append(c.known, c.code(id))
			}
			c.ids[id.identity()] = row
		}
		if config := row.get("config"); row.get("group").truthy() && config != nil && config.kind == kindList {
			if err := c.index(config.items, row.pos, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *composer) apply(patch *Value) error {
	if insert := patch.get("insert"); insert.truthy() {
		return c.insert(patch, insert)
	}
	id := patch.get("id")
	if !id.truthy() {
		c.warn(patch.pos, "patch: id is required for non-insert patches", nil)
		return nil
	}
	row := c.ids[id.identity()]
	if row == nil {
		c.warn(patch.pos, fmt.Sprintf("patch: entry %s not found", c.code(id)), id)
		return nil
	}
	if name := patch.get("name"); name.truthy() && !same(name, row.get("name")) {
		c.warn(patch.pos, fmt.Sprintf("patch: name mismatch for %s (expected %s, got %s), skipping", c.code(id), c.code(row.get("name")), c.code(name)), nil)
		return nil
	}
	for _, f := range patch.fields {
		if f.key != "id" && f.key != "insert" && f.key != "name" {
			row.set(f)
		}
	}
	return nil
}

func (c *composer) insert(patch, insert *Value) error {
	id := patch.get("id")
	var group *Value
	if id.truthy() {
		group = c.ids[id.identity()]
		if group == nil {
			c.warn(patch.pos, fmt.Sprintf("patch insert: entry %s not found", c.code(id)), id)
			return nil
		}
		if !group.get("group").truthy() {
			c.warn(patch.pos, fmt.Sprintf("patch insert: entry %s is not a group", c.code(id)), nil)
			return nil
		}
	}
	if insert.kind != kindList {
		return &Error{Pos: insert.pos, Message: "insert is " + insert.kind.String(), Allowed: "a list of rows; null or no insert for an override"}
	}
	rows := slices.Clone(insert.items)
	if group == nil {
		c.rows = append(c.rows, rows...)
	} else {
		config := group.get("config")
		if config == nil || config.kind != kindList {
			config = &Value{kind: kindList, pos: insert.pos}
			group.set(field{key: "config", pos: insert.pos, value: config})
		}
		config.items = append(config.items, rows...)
	}
	return c.index(rows, patch.pos, 0)
}

// warn notes that the patch at pos is skipped. wanted is the id that was not
// found, nil if the warning is about something else.
func (c *composer) warn(pos Pos, text string, wanted *Value) {
	w := Warning{Text: text, Pos: pos}
	if wanted != nil && len(c.warnings) < maxSuggesting {
		w.Near = Nearest(c.code(wanted), c.known)
	}
	c.warnings = append(c.warnings, w)
}

// code is v.code, cut at maxCode: each of many warnings may name the same large
// value.
func (c *composer) code(v *Value) string {
	s, ok := c.codes[v]
	if !ok {
		s = clip(v.code(), maxCode)
		c.codes[v] = s
	}
	return s
}
