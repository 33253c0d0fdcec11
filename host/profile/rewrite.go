package profile

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// rewriter makes the edits that turn one value of a file into another, and
// leaves alone what stays the same.
type rewriter struct {
	*source
	renderer
	// coarse writes a changed value anew as a whole.
	coarse bool
	// lost tells that the text is not as its nodes say.
	lost bool
}

// spot is where a value stands.
type spot struct {
	node   *yaml.Node
	old    *Value
	indent int  // of the mapping or list that it is in
	after  int  // where its colon or dash ends
	flow   bool // inside of [ or {
	item   bool // of a list
}

// change makes now of the value at a spot.
func (w *rewriter) change(at spot, now *Value) {
	switch {
	case equal(at.old, now):
	case w.coarse || at.node.Kind == yaml.AliasNode || at.old.kind != now.kind:
		w.whole(at, now)
	case at.node.Kind == yaml.MappingNode && len(now.fields) > 0:
		w.fields(at, now)
	case at.node.Kind == yaml.SequenceNode && len(now.items) > 0:
		w.items(at, now)
	default:
		w.whole(at, now)
	}
}

// whole puts now in the place of the value. Comments between the key and the
// value stay, and so does one behind it.
func (w *rewriter) whole(at spot, now *Value) {
	start, end := w.start(at.node), w.end(at.node, at.indent)
	block := blockOf(at.node)
	if at.flow || !block && (inline(now) || at.node.Style&yaml.FlowStyle != 0 && at.old.kind == now.kind) {
		text := w.flow(now)
		if start == at.after {
			text = " " + text
		}
		w.replace(start, end, text)
		return
	}
	head := strings.TrimRight(w.copy(at.after, start), blanks)
	switch rest := w.lineEnd(end); {
	case block:
		end = w.reach(at.node, at.indent)
	case !inline(now) && strings.TrimLeft(w.text[end:rest], " \t") != "":
		// What stands behind the old value stands behind the key now.
		head, end = head+w.text[end:rest], rest
	}
	var text string
	switch {
	case inline(now):
		text = " " + w.flow(now) + head
	case !at.item:
		text = head + w.behind(now, at.indent)
	case head == "":
		text = " " + w.block(now, at.indent+2)
	default:
		text = head + "\n" + pad(at.indent+2) + w.block(now, at.indent+2)
	}
	w.replace(at.after, end, text)
}

// copy is the text between two places with plain line breaks.
func (w *rewriter) copy(from, to int) string {
	return strings.ReplaceAll(w.text[from:to], "\r\n", "\n")
}

// colon is where the colon of a key ends.
func (w *rewriter) colon(key *yaml.Node, indent int) int {
	begin := w.start(key)
	at := w.skip(w.end(key, indent), blanks)
	if !strings.HasPrefix(w.text[at:], ":") || strings.HasSuffix(strings.TrimRight(w.text[:begin], blanks), "?") {
		w.lost = true // a key in the long form, or one without a value
		return at
	}
	return at + 1
}

// fields changes a mapping key by key.
func (w *rewriter) fields(at spot, now *Value) {
	n := at.node
	flow := !blockOf(n)
	if flow && !sameKeys(at.old, now) {
		w.flowFields(at, now)
		return
	}
	indent := w.indent(n)
	last := -1 // the last key that stays
	for i, f := range at.old.fields {
		key, value := n.Content[2*i], n.Content[2*i+1]
		next := now.get(f.key)
		if next == nil {
			continue
		}
		last = i
		if !equal(f.value, next) {
			w.change(spot{node: value, old: f.value, indent: indent, after: w.colon(key, indent), flow: flow}, next)
		}
	}
	if last < 0 {
		w.whole(at, now)
		return
	}
	for i, f := range at.old.fields {
		if now.get(f.key) == nil {
			w.removeField(n, i, indent)
		}
	}
	end := w.lineEnd(w.end(n.Content[2*last+1], indent))
	for _, f := range now.fields {
		if at.old.get(f.key) == nil {
			w.replace(end, end, "\n"+pad(indent)+w.word(f.key)+":"+w.behind(f.value, indent))
		}
	}
}

func sameKeys(a, b *Value) bool {
	return len(a.fields) == len(b.fields) && !slices.ContainsFunc(a.fields, func(f field) bool { return b.get(f.key) == nil })
}

// removeField takes a key out of a mapping of lines. The comments behind the
// key and the value stay, on lines of their own.
func (w *rewriter) removeField(n *yaml.Node, i, indent int) {
	key, value := n.Content[2*i], n.Content[2*i+1]
	begin, end := w.start(key), w.reach(value, indent)
	kept := w.comments(w.colon(key, indent), w.start(value))
	first := w.lineStart(begin)
	if w.begins(begin) {
		kept = append(kept, w.comments(end, w.lineEnd(end))...)
		w.replace(first, w.lineAfter(end), lines(indent, kept))
		return
	}
	// It shares its line with the dash, and the next key comes there.
	if 2*i+2 >= len(n.Content) {
		w.lost = true
		return
	}
	next := w.start(n.Content[2*i+2])
	kept = append(kept, w.comments(end, next)...)
	dash := len(w.text[first:begin]) - len(strings.TrimLeft(w.text[first:begin], " "))
	w.replace(first, first, lines(dash, kept))
	w.replace(begin, next, "")
}

// lines are comments as lines.
func lines(indent int, comments []string) string {
	var b strings.Builder
	for _, c := range comments {
		b.WriteString(pad(indent) + c + "\n")
	}
	return b.String()
}

// flowFields writes a mapping in { anew, out of the texts of what stays.
func (w *rewriter) flowFields(at spot, now *Value) {
	begin, _ := w.content(at.node)
	if !strings.HasPrefix(w.text[begin:], "{") {
		w.whole(at, now)
		return
	}
	var parts []string
	for i, f := range at.old.fields {
		key, value := at.node.Content[2*i], at.node.Content[2*i+1]
		switch next := now.get(f.key); {
		case next == nil:
		case equal(f.value, next):
			parts = append(parts, w.copy(w.start(key), w.end(value, at.indent)))
		default:
			parts = append(parts, w.copy(w.start(key), w.end(key, at.indent))+": "+w.flow(next))
		}
	}
	for _, f := range now.fields {
		if at.old.get(f.key) == nil {
			parts = append(parts, w.word(f.key)+": "+w.flow(f.value))
		}
	}
	w.replace(begin, w.end(at.node, at.indent), "{"+strings.Join(parts, ", ")+"}")
}

// items changes a list. An item that only moves takes its text and its comments
// with it.
func (w *rewriter) items(at spot, now *Value) {
	n, old := at.node, at.old.items
	begin, _ := w.content(n)
	block := blockOf(n)
	if !block && !strings.HasPrefix(w.text[begin:], "[") || block && !w.begins(begin) {
		w.whole(at, now)
		return
	}
	from := matches(old, now.items)
	indent := w.indent(n)
	if len(old) == len(now.items) && inPlace(old, now.items, from) {
		next := begin
		for i, item := range n.Content {
			after := next
			if block {
				after++ // the dash
			}
			w.change(spot{node: item, old: old[i], indent: indent, after: after, flow: !block, item: true}, now.items[i])
			next = w.skip(w.end(item, indent), blanks)
		}
		return
	}
	if !block {
		parts := make([]string, len(now.items))
		for i, item := range now.items {
			if parts[i] = w.flow(item); from[i] >= 0 {
				parts[i] = w.copy(w.start(n.Content[from[i]]), w.end(n.Content[from[i]], indent))
			}
		}
		w.replace(begin, w.end(n, at.indent), "["+strings.Join(parts, ", ")+"]")
		return
	}
	chunks := make([]string, len(n.Content))
	first := w.lineStart(begin)
	if after := w.lineAfter(at.after); after <= first {
		first = after
	}
	next := first
	for i, item := range n.Content {
		end := w.lineEnd(w.end(item, indent))
		chunks[i] = w.copy(next, end)
		next = w.lineAfter(end)
	}
	parts := make([]string, len(now.items))
	for i, item := range now.items {
		if from[i] >= 0 {
			parts[i] = chunks[from[i]]
		} else {
			parts[i] = pad(indent) + "- " + w.block(item, indent+2)
		}
	}
	w.replace(first, w.lineEnd(w.end(n, at.indent)), strings.Join(parts, "\n"))
}

// matches tells for each new item which old one it equals, each taken once; -1
// for none. The one at the same place is preferred.
func matches(old, now []*Value) []int {
	from := make([]int, len(now))
	taken := make([]bool, len(old))
	for i, item := range now {
		from[i] = -1
		if i < len(old) && equal(old[i], item) {
			from[i], taken[i] = i, true
		}
	}
	for i, item := range now {
		for j := 0; from[i] < 0 && j < len(old); j++ {
			if !taken[j] && equal(old[j], item) {
				from[i], taken[j] = j, true
			}
		}
	}
	return from
}

// inPlace reports whether no item has moved.
func inPlace(old, now []*Value, from []int) bool {
	for i := range now {
		if from[i] >= 0 && from[i] != i {
			return false
		}
	}
	return len(old) > 0
}
