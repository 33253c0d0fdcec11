package dialect

import "bytes"

// redirect replaces the top-level model of body. A doubled key is replaced each
// time, because readers differ in which of them counts.
func redirect(body []byte, model string) ([]byte, error) {
	want := appendString(nil, model)
	var out []byte
	done, found := 0, false // body[:done] is in out
	for w := walk(body); w.member(); {
		if string(w.key) != "model" {
			continue
		}
		found = true
		if bytes.Equal(w.val, want) {
			continue
		}
		out = append(out, body[done:w.i-len(w.val)]...)
		out = append(out, want...)
		done = w.i
	}
	switch {
	case !found:
		return nil, invalid("model", "missing")
	case out == nil:
		return body, nil
	}
	return append(out, body[done:]...), nil
}
