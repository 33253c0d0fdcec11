package dialect

import "strconv"

// TokenCount is the answer of the Messages API's count_tokens, whose request is
// a Messages request without its limit.
func TokenCount(tokens int) []byte {
	return append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(tokens), 10), '}')
}

// ParseTokenCount reads such an answer. ok is false if it is none.
func ParseTokenCount(body []byte) (tokens int, ok bool) {
	if !valid(body) {
		return 0, false
	}
	for w := walk(body); w.member(); {
		if string(w.key) == "input_tokens" {
			tokens, ok = count(w.val), isNumber(w.val)
		}
	}
	return tokens, ok
}
