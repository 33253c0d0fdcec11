package profile

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// exprKey is the key of the object that stands for an unevaluated expression.
const exprKey = "__jsExpr"

// MarshalJSON writes v with keys in their order and numbers as JavaScript
// prints them. Infinities and NaN, which JSON lacks, are text; an unevaluated
// expression is {"__jsExpr": source}.
func (v *Value) MarshalJSON() ([]byte, error) { return v.appendJSON(nil), nil }

func (v *Value) appendJSON(b []byte) []byte {
	switch v.kind {
	case kindNull:
		return append(b, "null"...)
	case kindBool:
		return strconv.AppendBool(b, v.truth)
	case kindNumber:
		if !isFinite(v.number) {
			return appendString(b, numberText(v.number))
		}
		return append(b, numberText(v.number)...)
	case kindText:
		return appendString(b, v.text)
	case kindExpr:
		b = appendString(append(b, '{'), exprKey)
		return append(appendString(append(b, ':'), v.text), '}')
	case kindList:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case kindMap:
		b = append(b, '{')
		for i, f := range v.fields {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, f.key), ':')
			b = f.value.appendJSON(b)
		}
		return append(b, '}')
	}
	return b
}

// appendString appends s as a JSON string, with <, > and & as they are.
func appendString(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// numberText is JavaScript's String(n). encoding/json writes finite numbers by
// the same rule, except for negative zero.
func numberText(n float64) string {
	switch {
	case math.IsNaN(n):
		return "NaN"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0:
		return "0"
	}
	b, err := json.Marshal(n)
	if err != nil {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return string(b)
}

func isFinite(n float64) bool { return !math.IsInf(n, 0) && !math.IsNaN(n) }
