package failure

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// text reads a text that may be JSON, may hold an error object, or is just
// words, and returns the message in it.
func (r *reading) text(s string, depth int) string {
	s = strings.TrimSpace(s)
	if s == "" || depth > maxDepth {
		return s
	}
	switch {
	case depth == 0 && looksJSON(s), s[0] == '{' && looksJSON(s), s[0] == '[' && gjson.Valid(s):
		msg := r.value(gjson.Parse(s), depth+1)
		if msg != "" || depth == 0 || r.envelope {
			return msg
		}
		return s
	case s[0] == '"' && gjson.Valid(s):
		return r.text(gjson.Parse(s).String(), depth+1)
	}
	if msg, ok := r.embedded(s, depth); ok {
		return msg
	}
	r.spelled(s)
	return s
}

// looksJSON tells an object or a list, whole or cut off, from a text that
// begins with a bracket.
func looksJSON(s string) bool {
	rest := strings.TrimSpace(s[1:])
	switch s[0] {
	case '{':
		return rest == "" || rest[0] == '"' || rest[0] == '}'
	case '[':
		return rest == "" || strings.IndexByte(`{["]`, rest[0]) >= 0
	}
	return false
}

// embedded finds an error object behind a relay's prefix: "upstream said 429:
// {…}". Only an object that looks like an error envelope counts, so that the
// caller's own JSON, quoted back, is not taken for one.
func (r *reading) embedded(s string, depth int) (string, bool) {
	i := strings.IndexByte(s, '{')
	if i < 1 || i > 300 {
		return "", false
	}
	obj, ok := firstJSON(s[i:])
	if !ok {
		if obj, ok = firstJSON(fromPython(s[i:])); !ok {
			return "", false
		}
	}
	v := gjson.Parse(obj)
	if !isEnvelope(v) {
		return "", false
	}
	msg := r.value(v, depth+1)
	r.spelled(s[:i])
	if msg == "" {
		msg = strings.TrimSpace(s[:i])
	}
	return msg, true
}

// firstJSON cuts the value off that s begins with; a stack trace or the same
// object once more may follow.
func firstJSON(s string) (string, bool) {
	var raw json.RawMessage
	if err := json.NewDecoder(strings.NewReader(s)).Decode(&raw); err != nil {
		return "", false
	}
	return string(raw), true
}

// isEnvelope reports whether an object has the form of an error answer.
func isEnvelope(v gjson.Result) bool {
	for _, k := range []string{"error", "errors"} {
		if e := v.Get(k); e.Exists() && e.Type != gjson.Null {
			return true
		}
	}
	if !v.Get("message").Exists() && !v.Get("msg").Exists() {
		return false
	}
	for _, k := range []string{"code", "type", "status", "http_status", "status_code", "error_code"} {
		if v.Get(k).Exists() {
			return true
		}
	}
	return false
}

// fromPython turns the text form of a Python dictionary into JSON as far as
// error objects need it: quotes and the three constants.
func fromPython(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\'', '"':
			end := i + 1
			for end < len(s) && s[end] != c {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(s) {
				return b.String()
			}
			inner := strings.ReplaceAll(s[i+1:end], `\'`, `'`)
			if c == '\'' {
				inner = strings.ReplaceAll(inner, `"`, `\"`)
			}
			b.WriteString(`"` + inner + `"`)
			i = end + 1
		default:
			if word, json := pythonConstant(s[i:]); word != "" {
				b.WriteString(json)
				i += len(word)
				continue
			}
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

func pythonConstant(s string) (word, json string) {
	for _, c := range [][2]string{{"None", "null"}, {"True", "true"}, {"False", "false"}} {
		if strings.HasPrefix(s, c[0]) {
			return c[0], c[1]
		}
	}
	return "", ""
}
