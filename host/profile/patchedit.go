package profile

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// target is the entry whose config is edited.
type target struct {
	id, name *Value // of the row; name is nil if it has none
}

// overrides reports whether a patch is an override of the entry that applies.
func (t target) overrides(patch *Value) bool {
	id, name := patch.get("id"), patch.get("name")
	return !patch.get("insert").truthy() && id.truthy() && same(id, t.id) && (!name.truthy() || same(name, t.name))
}

// without are the patches with no override of the entry's config, and which of
// them are left with nothing to say.
func (t target) without(patches []*Value) (rows []*Value, empty []bool) {
	rows, empty = slices.Clone(patches), make([]bool, len(patches))
	for i, p := range patches {
		if !t.overrides(p) || p.get("config") == nil {
			continue
		}
		row := &Value{kind: kindMap, pos: p.pos}
		empty[i] = true
		for _, f := range p.fields {
			if f.key != "config" {
				row.set(f)
				empty[i] = empty[i] && (f.key == "id" || f.key == "name")
			}
		}
		rows[i] = row
	}
	return rows, empty
}

// rewrite returns the text of the layer's file, "" for no file, in which
// the entry has the config now, or none of its own if now is nil. What it does not
// change stays as it is, byte by byte.
func (t target) rewrite(l Layer, now *Value) (string, error) {
	if len(l.Data) == 0 { // no file: an empty one was refused when it was read
		l.Data = []byte("[]\n")
	}
	bom := ""
	text, ok := strings.CutPrefix(string(l.Data), "\ufeff")
	if ok {
		bom = "\ufeff"
	}
	if json.Valid([]byte(text)) {
		text = string(jsonEscape.ReplaceAllFunc([]byte(text), joinSurrogates))
	}
	l.Data = []byte(text)
	list, err := ParsePatch(l)
	if err != nil {
		return "", err
	}
	doc, err := (&parser{layer: l}).document()
	if err != nil {
		return "", err
	}
	e := &patchEditor{target: t, layer: l, rows: list.rows, root: doc.Content[0]}
	e.plan(now)
	for _, coarse := range []bool{false, true} {
		if text, ok := e.try(coarse); ok && e.right(text) {
			return bom + text, nil
		}
	}
	return "", &Error{Pos: list.pos, Message: "the file is written in a way that cannot be changed without changing more than this", Allowed: "a change by hand"}
}

// patchEditor edits one patch file.
type patchEditor struct {
	target
	layer Layer
	rows  []*Value
	root  *yaml.Node

	want   []*Value // what the rows become; nil: the row goes
	append *Value   // a row more, nil for none
}

// plan decides what becomes of each row.
func (e *patchEditor) plan(now *Value) {
	e.want = slices.Clone(e.rows)
	if now == nil {
		rows, empty := e.without(e.rows)
		for i := range rows {
			if empty[i] {
				rows[i] = nil
			}
		}
		e.want = rows
		return
	}
	config := field{key: "config", value: now}
	for i, row := range slices.Backward(e.rows) {
		if e.overrides(row) {
			e.want[i] = &Value{kind: kindMap}
			for _, f := range row.fields {
				e.want[i].set(f)
			}
			e.want[i].set(config)
			return
		}
	}
	e.append = &Value{kind: kindMap}
	e.append.set(field{key: "id", value: e.id})
	if e.name.truthy() {
		e.append.set(field{key: "name", value: e.name})
	}
	e.append.set(config)
}

// try makes the edits. It reports false where the text is of a form that it
// does not know.
func (e *patchEditor) try(coarse bool) (string, bool) {
	text := string(e.layer.Data)
	empty := len(e.root.Content) == 0
	w := &rewriter{source: newSource(text), renderer: renderer{json: json.Valid(e.layer.Data) && !empty}, coarse: coarse}
	if empty {
		if e.append != nil {
			w.first(e.root, e.append)
		}
		return w.edited()
	}
	gone := 0
	for i, row := range e.want {
		at := e.spot(w, i)
		switch {
		case row == nil:
			gone++
			w.removeRow(e.root, i, at, gone == len(e.want) && e.append == nil)
		case row != e.rows[i]:
			if at.node.Kind != yaml.MappingNode {
				return "", false
			}
			w.fields(at, row)
		}
	}
	if e.append != nil {
		w.appendRow(e.root, e.append)
	}
	text, ok := w.edited()
	return text, ok && !w.lost
}

// spot is where row i stands.
func (e *patchEditor) spot(w *rewriter, i int) spot {
	return spot{node: e.root.Content[i], old: e.rows[i], indent: w.indent(e.root), flow: !blockOf(e.root), item: true}
}

// first writes the first row into an empty list, which is [] .
func (w *rewriter) first(root *yaml.Node, row *Value) {
	begin, end := w.start(root), w.end(root, -1)
	rest := w.lineEnd(end)
	text := lines(0, append(w.comments(begin, end), w.comments(end, rest)...)) + "- " + w.block(row, 2)
	if !w.begins(begin) {
		text = "\n" + text
	}
	if rest == len(w.text) {
		text += "\n"
	}
	w.replace(begin, rest, text)
}

// appendRow writes a row at the end of a list that has some.
func (w *rewriter) appendRow(root *yaml.Node, row *Value) {
	indent := w.indent(root)
	end := w.end(root.Content[len(root.Content)-1], indent)
	if !blockOf(root) {
		w.replace(end, end, ", "+w.flow(row))
		return
	}
	end = w.lineEnd(end)
	text := "\n" + pad(indent) + "- " + w.block(row, indent+2)
	if end == len(w.text) {
		text += "\n"
	}
	w.replace(end, end, text)
}

// removeRow takes a row out of the list. Its comments stay, but for those in
// its config.
func (w *rewriter) removeRow(root *yaml.Node, i int, at spot, last bool) {
	row := root.Content[i]
	begin, end := w.start(row), w.end(row, at.indent)
	if !blockOf(root) {
		switch {
		case i+1 < len(root.Content):
			end = w.start(root.Content[i+1])
		case i > 0:
			begin = w.end(root.Content[i-1], at.indent)
		}
		w.replace(begin, end, "")
		return
	}
	dash := w.lineStart(begin)
	if strings.TrimLeft(w.text[dash:begin], " \t-") != "" {
		w.lost = true
		return
	}
	end = w.lineEnd(w.reach(row, at.indent))
	text := lines(at.indent, w.around(row, at.indent, dash, end, configOf(row)))
	if last {
		text += "[]\n"
	}
	w.replace(dash, w.lineAfter(end), text)
}

// configOf is the node of a row's config.
func configOf(row *yaml.Node) map[*yaml.Node]bool {
	for i := 0; row.Kind == yaml.MappingNode && i+1 < len(row.Content); i += 2 {
		if row.Content[i].Value == "config" {
			return map[*yaml.Node]bool{row.Content[i+1]: true}
		}
	}
	return nil
}

// right reports whether a text holds the rows that are wanted and every comment
// that does not stand in a config that was changed.
func (e *patchEditor) right(text string) bool {
	l := e.layer
	l.Data = []byte(text)
	list, err := ParsePatch(l)
	if err != nil {
		return false
	}
	var want []*Value
	changed := map[*yaml.Node]bool{}
	for i, row := range e.want {
		if row != nil {
			want = append(want, row)
		}
		if row != e.rows[i] {
			for n := range configOf(e.root.Content[i]) {
				changed[n] = true
			}
		}
	}
	if e.append != nil {
		want = append(want, e.append)
	}
	if !slices.EqualFunc(want, list.rows, equal) {
		return false
	}
	doc, err := (&parser{layer: l}).document()
	if err != nil {
		return false
	}
	left := map[string]int{}
	for _, c := range newSource(text).around(doc.Content[0], -1, 0, len(text), nil) {
		left[c]++
	}
	for _, c := range newSource(string(e.layer.Data)).around(e.root, -1, 0, len(e.layer.Data), changed) {
		if left[c]--; left[c] < 0 {
			return false
		}
	}
	return true
}
