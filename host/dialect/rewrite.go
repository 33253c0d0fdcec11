package dialect

import (
	"bytes"
	"slices"
)

// rewrite is the object or list raw with what edit makes of its values: the
// value itself keeps the member or element as it stands, nil leaves it out. The
// key of an element is nil. It is raw itself if all were kept; else what was
// kept is copied byte for byte.
func rewrite(raw []byte, edit func(key, val []byte) []byte) []byte {
	w := walk(raw)
	next := w.element
	if w.i > 0 && w.i <= len(raw) && raw[w.i-1] == '{' {
		next = w.member
	}
	var out []byte // nil until something is changed
	end := w.i     // raw[:end] was kept
	kept := false  // anything
	for next() {
		val := edit(w.key, w.val)
		if same(val, w.val) && out == nil {
			end, kept = w.i, true
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(raw)), raw[:end]...)
		}
		if val == nil {
			continue
		}
		if kept {
			out = append(out, ',')
		}
		kept = true
		out = append(append(out, raw[w.from:w.i-len(w.val)]...), val...)
	}
	if out == nil {
		return raw
	}
	return append(out, raw[w.i:]...)
}

// same reports whether a is b, and no copy of it.
func same(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// only is the object raw without the members that are not named; their names,
// behind prefix, are added to d.
func only(raw []byte, d *dropped, prefix string, names []string) []byte {
	return rewrite(raw, func(key, val []byte) []byte {
		if !slices.Contains(names, string(key)) {
			d.add(prefix + string(key))
			return nil
		}
		return val
	})
}

// member is the value of the object raw's last member of that name, nil if it
// has none.
func member(raw []byte, name string) []byte {
	var val []byte
	if len(raw) > 0 && raw[0] == '{' {
		for w := walk(raw); w.member(); {
			if string(w.key) == name {
				val = w.val
			}
		}
	}
	return val
}

// omit is the object raw without the members of that name.
func omit(raw []byte, name string) []byte {
	return rewrite(raw, func(key, val []byte) []byte {
		if string(key) == name {
			return nil
		}
		return val
	})
}

// with is the object raw with one more member at its end.
func with(raw []byte, name string, val []byte) []byte {
	end := bytes.LastIndexByte(raw, '}')
	if end < 0 {
		return raw // no object
	}
	w := walk(raw)
	some := w.member()
	out := append(make([]byte, 0, len(raw)+len(name)+len(val)+4), raw[:end]...)
	if some {
		out = append(out, ',')
	}
	out = append(appendString(out, name), ':')
	return append(append(out, val...), raw[end:]...)
}
