package profile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"spillway/sdk"
)

// Fault is one thing wrong with an entry's config, with the place to mend it.
type Fault struct {
	sdk.Fault
	Pos  Pos
	Near []string // known keys that resemble an unknown one, best first
}

// String gives "file:line:column: path: message, got value (allowed: …; nearest
// known: …)".
func (f Fault) String() string {
	s := f.Fault.String()
	if at := f.Pos.String(); at != "" {
		s = at + ": " + s
	}
	if len(f.Near) > 0 {
		s += "; nearest known: " + strings.Join(f.Near, ", ")
	}
	return s
}

// Place finds where the settings stand that a module found fault with. A
// setting that is not there is placed at the nearest that is. A value that came
// out of the environment is not told.
func Place(config *Value, faults sdk.Faults) []Fault {
	placed := make([]Fault, len(faults))
	for i, f := range faults {
		if v := config.find(splitPath(f.Path)); v != nil && v.secret {
			if f.Value != "" {
				f.Value = redacted
			}
			if v.text != "" { // modules like to quote what they do not like
				f.Message = strings.ReplaceAll(f.Message, v.text, redacted)
			}
		}
		placed[i] = Fault{Fault: f, Pos: config.locate(splitPath(f.Path))}
	}
	sortFaults(placed)
	return placed
}

func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Path, b.Path))
	})
}

// locate returns the place of the key or item that steps lead to, as far as
// they lead.
func (v *Value) locate(steps []string) Pos {
	at := v.pos
	for _, step := range steps {
		i := v.child(step)
		if i < 0 {
			break
		}
		if v.kind == kindMap {
			at, v = v.fields[i].pos, v.fields[i].value
		} else {
			v = v.items[i]
			at = v.pos
		}
	}
	return at
}

// child returns the index of a key or item, -1 if there is none.
func (v *Value) child(step string) int {
	switch v.kind {
	case kindMap:
		if i, ok := v.at[step]; ok {
			return i
		}
	case kindList:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.items) {
			return i
		}
	case kindNull, kindBool, kindNumber, kindText, kindExpr:
	}
	return -1
}

// find returns the value that steps lead to, nil if they lead nowhere.
func (v *Value) find(steps []string) *Value {
	for _, step := range steps {
		i := v.child(step)
		switch {
		case i < 0:
			return nil
		case v.kind == kindMap:
			v = v.fields[i].value
		default:
			v = v.items[i]
		}
	}
	return v
}

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_$][\w$-]*$`)
	pathStep = regexp.MustCompile(`^(?:\.?([^.\[\]]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])`)
)

// path writes the way to a value as sdk.Fault does: priority[1].provider. A key
// that would be misread is quoted: headers["x.y"].
func (v *Value) path(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		switch {
		case v != nil && v.kind == kindList:
			b.WriteString("[" + step + "]")
		case !plainKey.MatchString(step):
			fmt.Fprintf(&b, "[%q]", step)
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
		if v != nil {
			v = v.find([]string{step})
		}
	}
	return b.String()
}

// splitPath undoes path, as far as it can be understood.
func splitPath(path string) []string {
	var steps []string
	for {
		m := pathStep.FindStringSubmatch(path)
		if m == nil {
			return steps
		}
		path = path[len(m[0]):]
		step := m[1] + m[2]
		if m[3] != "" {
			var err error
			if step, err = strconv.Unquote(m[3]); err != nil {
				return steps
			}
		}
		steps = append(steps, step)
	}
}
