package failure

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"spillway/sdk"
)

// Bounds of reading. An answer that echoes a conversation may have a hundred
// megabytes; what is looked for stands near the front.
const (
	maxBody  = 256 << 10
	maxDepth = 24  // envelopes within envelopes
	maxItems = 16  // elements of one list
	maxNames = 32  // codes of one answer
	maxName  = 128 // bytes of one code
)

// name is one of the vendor's own names for what happened.
type name struct {
	field string // "code", "type", "status", "reason", "text"
	value string
	owner string // vendor whose codes these are by their position, "" for the one called
}

// reading is what unwrapping a body found.
type reading struct {
	shape    shape
	message  string
	names    []name // innermost first
	status   int    // an HTTP status named inside, the innermost
	headers  map[string]string
	waits    []wait
	answer   answer
	envelope bool // an error object was met
	edge     bool // an intermediary wrote the body
}

func clip(b []byte) []byte { return b[:min(len(b), maxBody)] }

// read unwraps a body.
func read(body []byte) *reading {
	r := &reading{}
	text := strings.TrimSpace(strings.ToValidUTF8(string(clip(body)), "\uFFFD"))
	text = strings.TrimPrefix(text, "\uFEFF")
	switch {
	case text == "":
		r.shape = shapeEmpty
	case isHTML(text):
		r.shape = shapeHTML
		r.message = htmlTitle(text)
	case isFrames(text):
		r.shape = shapeStream
		r.frames(text)
	default:
		r.shape = shapeText
		if looksJSON(text) {
			r.shape = shapeJSON
		}
		r.message = r.text(text, 0)
		if r.shape == shapeText && !strings.ContainsFunc(text, isWordRune) {
			r.shape, r.message = shapeEmpty, ""
		}
	}
	r.message = sdk.ClipMessage(strings.TrimSpace(r.message))
	return r
}

func isWordRune(c rune) bool {
	return c >= utf8.RuneSelf || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// value reads a JSON value of an answer and returns the vendor's message in it.
func (r *reading) value(v gjson.Result, depth int) string {
	if depth > maxDepth {
		return ""
	}
	switch {
	case v.IsObject():
		return r.object(v, depth)
	case v.IsArray():
		var message string
		items := 0
		v.ForEach(func(_, item gjson.Result) bool {
			if m := r.value(item, depth+1); message == "" {
				message = m
			}
			items++
			return items < maxItems
		})
		return message
	case v.Type == gjson.String:
		return r.text(v.String(), depth+1)
	}
	return ""
}

// object reads one object: first the envelopes inside it, so that inner codes
// and messages come before outer ones, then its own fields.
func (r *reading) object(v gjson.Result, depth int) string {
	var f fields
	v.ForEach(func(k, item gjson.Result) bool {
		f.take(strings.ToLower(strings.NewReplacer("_", "", "-", "", "@", "").Replace(k.String())), item)
		return true
	})
	if f.validation() {
		r.addName("loc", "schema_violation")
		return f.message.String()
	}
	r.envelope = r.envelope || f.isError()
	r.edge = r.edge || f.edge

	var inner string
	for _, c := range f.inner {
		if m := r.value(c, depth+1); inner == "" {
			inner = m
		}
	}
	if c := f.choice; c.Exists() {
		r.answer.observe(v)
	}
	for _, n := range f.codesFirst() {
		r.addValue(n.field, n.value)
	}
	f.waits(r)
	if h := f.headers; h.IsObject() && r.headers == nil {
		r.headers = make(map[string]string)
		h.ForEach(func(k, item gjson.Result) bool {
			r.headers[strings.ToLower(k.String())] = item.String()
			return len(r.headers) < 4*maxItems
		})
	}
	if inner != "" {
		return inner
	}
	for _, m := range []gjson.Result{f.message, f.description, f.errorText} {
		if m.Type == gjson.String && m.String() != "" {
			return r.text(m.String(), depth+1)
		}
	}
	return ""
}

// header reads the one header that carries a vendor code: AWS names the
// exception there, with a link behind a colon.
func (r *reading) header(h http.Header) {
	code, _, _ := strings.Cut(h.Get("x-amzn-errortype"), ":")
	r.addName("code", strings.TrimSpace(code))
}

// addValue records a code as sent; a number in the range of failures is a
// status.
func (r *reading) addValue(field string, v gjson.Result) {
	s := strings.TrimSpace(v.String())
	if n, err := strconv.Atoi(s); err == nil && n >= 100 && n < 600 {
		if n >= 400 && r.status == 0 {
			r.status = n
		}
		return
	}
	r.addName(field, s)
}

func (r *reading) addName(field, value string) {
	if value == "" || value == "0" || len(value) > maxName || len(r.names) >= maxNames || strings.Count(value, " ") > 2 {
		return
	}
	n := name{field: field, value: value}
	if field == "base_resp" {
		n = name{field: "code", value: value, owner: "minimax"}
	}
	if field == quotaIDField && strings.Contains(value, "PerDay") {
		r.names = slices.Insert(r.names, 0, n) // the longest of several windows rules
		return
	}
	r.names = append(r.names, n)
}

func (r *reading) first(fields ...string) string {
	for _, n := range r.names {
		if slices.Contains(fields, n.field) {
			return n.value
		}
	}
	return ""
}

func (r *reading) vendorCode() string {
	if c := r.first("code", "reason", quotaIDField, "text"); c != "" {
		return c
	}
	if r.status != 0 {
		return strconv.Itoa(r.status)
	}
	return ""
}

func (r *reading) vendorType() string { return r.first("type", "status", "error") }

// bare reports whether the answer is a page, or JSON that holds words and
// nothing else: no error object, no code.
func (r *reading) bare() bool {
	return r.shape == shapeHTML || r.shape == shapeJSON && !r.envelope && len(r.names) == 0 && r.status == 0
}

// effectiveStatus is the status that counts: an envelope inside a success, or
// inside a relay's own 5xx, knows better than the outside.
func (r *reading) effectiveStatus(outer int) int {
	if r.status != 0 && (outer < 400 || outer >= 500 && outer < 520) {
		return r.status
	}
	return outer
}
