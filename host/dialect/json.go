package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const (
	// maxDepth bounds the nesting of what is read: the validator recurses, and
	// tool schemas of real clients stay below 30.
	maxDepth = 1000
	// maxCount bounds a number read as a count of tokens, so that sums hold.
	maxCount = 1_000_000_000
)

// valid reports whether b is one JSON value, nested no deeper than maxDepth.
func valid(b []byte) bool {
	if bytes.Count(b, []byte("{"))+bytes.Count(b, []byte("[")) > maxDepth && depth(b) > maxDepth {
		return false
	}
	return gjson.ValidBytes(b)
}

// depth is the deepest nesting of b, which need not be valid.
func depth(b []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// walker steps through the members of an object or the elements of an array
// without allocating. It needs valid JSON; on anything else it ends early.
type walker struct {
	key []byte // of the present member, unescaped, without its quotes
	val []byte // the present value, as it stands: a slice of the input

	b    []byte
	i    int // behind the present value
	from int // where the present member or element begins
}

// walk returns a walker of the object or array b. Of any other value it visits
// nothing.
func walk(b []byte) walker {
	w := walker{b: b}
	w.space()
	if w.i < len(b) && (b[w.i] == '{' || b[w.i] == '[') {
		w.i++
	} else {
		w.i = len(b)
	}
	return w
}

// member moves to the next member of an object.
func (w *walker) member() bool {
	w.space()
	if w.i >= len(w.b) || w.b[w.i] != '"' {
		return false
	}
	from := w.i
	w.readKey()
	ok := w.element()
	w.from = from
	return ok
}

// readKey moves behind the string at i, which becomes the key.
func (w *walker) readKey() {
	end := stringEnd(w.b, w.i)
	w.key = w.b[w.i+1 : max(end-1, w.i+1)]
	if bytes.IndexByte(w.key, '\\') >= 0 {
		w.key = []byte(unquote(w.b[w.i:end]))
	}
	w.i = end
}

// element moves to the next element of an array.
func (w *walker) element() bool {
	w.space()
	if w.i >= len(w.b) || w.b[w.i] == ']' || w.b[w.i] == '}' {
		return false
	}
	end := valueEnd(w.b, w.i)
	w.from, w.val = w.i, w.b[w.i:end]
	w.i = end
	return true
}

// The following four are for frames, of which there are many: they go into nested
// values in one pass, where member and element pass over a value to its end before
// it can be looked into. A walker for them begins as walker{b: b}. What name or more
// has come to is to be taken with enter or value, and what was entered is left when
// name or more says that nothing follows.

// enter moves into the object or array at hand, if that begins with open.
func (w *walker) enter(open byte) bool {
	w.space()
	if w.i >= len(w.b) || w.b[w.i] != open {
		return false
	}
	w.i++
	return true
}

// more moves to the next element of the array that was entered last, or out of it.
func (w *walker) more() bool {
	w.space()
	if w.i >= len(w.b) {
		return false
	}
	if w.b[w.i] == ']' || w.b[w.i] == '}' {
		w.i++
		return false
	}
	return true
}

// name moves to the next member of the object that was entered last, or out of it.
func (w *walker) name() bool {
	if !w.more() {
		return false
	}
	w.readKey()
	return true
}

// value moves over the value at hand and returns it.
func (w *walker) value() []byte {
	w.element()
	return w.val
}

// space skips what may stand between values.
func (w *walker) space() {
	for ; w.i < len(w.b); w.i++ {
		switch w.b[w.i] {
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			return
		}
	}
}

// valueEnd is the index behind the value that begins at i. It is above i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		open := 0
		for ; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				open++
			case '}', ']':
				if open--; open == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return i
		}
	}
	return len(b)
}

// stringEnd is the index behind the string whose opening quote is at i.
func stringEnd(b []byte, i int) int {
	for {
		q := bytes.IndexByte(b[i+1:], '"')
		if q < 0 {
			return len(b)
		}
		i += 1 + q
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// unquote is the text of a JSON string; "" for every other value. Bytes that
// are not UTF-8 are replaced, because the vocabulary holds text only.
func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return text(gjson.ParseBytes(raw))
}

// text is the same for a value that was parsed already.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.ToValidUTF8(v.Str, string(utf8.RuneError))
}

// plain is the text of a JSON string where it stands, if nothing in it is
// escaped.
func plain(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 {
		return []byte(unquote(raw))
	}
	return raw[1 : len(raw)-1]
}

// filled reports whether raw is a string that is not empty.
func filled(raw []byte) bool { return len(raw) > 2 && raw[0] == '"' }

// given reports whether raw stands for a value at all.
func given(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

// count reads a number of tokens. What is no number, or below zero, is 0.
func count(raw []byte) int {
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			f, err := strconv.ParseFloat(string(raw), 64)
			if err != nil || !(f > 0) {
				return 0
			}
			return int(min(f, maxCount))
		}
		n = min(n*10+int(c-'0'), maxCount)
	}
	return n
}

// isNumber tells a number from the other values of valid JSON.
func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// objectOf returns s as JSON if it is an object, nil if not.
func objectOf(s string) json.RawMessage {
	b := []byte(strings.TrimSpace(s))
	if len(b) == 0 || b[0] != '{' || !valid(b) {
		return nil
	}
	return b
}

// marshal encodes v without escaping what only HTML needs escaped.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// appendJSON appends v, which holds nothing that cannot be encoded.
func appendJSON(dst []byte, v any) []byte {
	b, err := marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), string(utf8.RuneError)...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
