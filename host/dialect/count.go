package dialect

import "strconv"

// TokenCount is the answer of the Messages API's count_tokens, whose request is
// a Messages request without its limit.
func TokenCount(tokens int) []byte {
	return append(strconv.AppendInt([]byte(`{"input_tokens":`), int64(tokens), 10), '}')
}
