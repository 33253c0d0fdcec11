package profile

import "fmt"

// Bounds of what is read. A profile that people write is a hundred times
// smaller than any of these.
const (
	// MaxFile bounds one file, in bytes. The YAML reader needs about two seconds
	// for the worst megabyte.
	MaxFile = 256 << 10

	// MaxSchema bounds a module's schema, in bytes.
	MaxSchema = 256 << 10

	// maxDepth bounds nesting. It is js-yaml's own limit.
	maxDepth = 100

	// maxWritten bounds the size, in bytes as extent counts them, of a list
	// with all aliases written out: a few lines of aliases to aliases can stand
	// for more than any machine holds.
	maxWritten = 16 << 20

	// maxIndexed bounds how many rows composition visits, since patches can
	// multiply rows as aliases do.
	maxIndexed = 1 << 18

	// maxShown bounds what an error quotes, maxCode what a warning does, in
	// bytes: the original's warnings quote names and ids whole.
	maxShown = 80
	maxCode  = 1 << 10

	// maxSuggesting bounds for how many warnings similar ids are looked up, and
	// maxSuggested among how many ids.
	maxSuggesting = 50
	maxSuggested  = 500
)

// extent is the size of a value with all aliases written out.
type extent struct {
	bytes  int
	height int
}

// measurer finds the extents of values that may share parts or, wrongly,
// contain themselves.
type measurer map[*Value]extent

// measure returns the extent of v, or an error if v is not bounded.
func (m measurer) measure(v *Value) (extent, error) {
	if e, ok := m[v]; ok {
		if e.height == 0 {
			return e, &Error{Pos: v.pos, Message: "a value contains itself", Allowed: "an alias outside of what its anchor marks"}
		}
		return e, nil
	}
	m[v] = extent{}
	e := extent{bytes: 16 + len(v.text), height: 1}
	for _, c := range v.items {
		if err := m.add(&e, v, c); err != nil {
			return e, err
		}
	}
	for _, f := range v.fields {
		e.bytes += len(f.key)
		if err := m.add(&e, v, f.value); err != nil {
			return e, err
		}
	}
	m[v] = e
	return e, nil
}

// add grows e, the extent of parent, by child.
func (m measurer) add(e *extent, parent, child *Value) error {
	c, err := m.measure(child)
	if err != nil {
		return err
	}
	e.bytes += c.bytes
	e.height = max(e.height, c.height+1)
	if e.bytes > maxWritten {
		return &Error{Pos: parent.pos, Message: "too large with its aliases written out", Allowed: fmt.Sprintf("%d MiB", maxWritten>>20)}
	}
	if e.height > maxDepth {
		return &Error{Pos: parent.pos, Message: "nested too deep", Allowed: fmt.Sprintf("%d levels", maxDepth)}
	}
	return nil
}
