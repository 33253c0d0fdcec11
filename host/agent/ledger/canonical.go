package ledger

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// canonicalOrNil writes a JSON value in the one way that all its spellings share,
// or is nil if raw is none. It is RFC 8785 in spirit, for hashing alone: numbers
// keep all their digits, so that two large ids never become one.
//
// Of members of one name the last counts, as for the tools that read them.
func canonicalOrNil(raw []byte) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil
	}
	return appendCanonical(nil, v)
}

func appendCanonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		return append(b, number(v.String())...)
	case string:
		return strconv.AppendQuote(b, v)
	case []any:
		b = append(b, '[')
		for _, e := range v {
			b = append(appendCanonical(b, e), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, k := range slices.Sorted(maps.Keys(v)) {
			b = append(strconv.AppendQuote(b, k), ':')
			b = append(appendCanonical(b, v[k]), ',')
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

// maxExponent is the number of digits up to which an exponent is reckoned with.
// A number beyond it is told apart by its text.
const maxExponent = 15

// number is the one spelling of a JSON number: its digits without zeros at
// either end, and the power of ten that they are multiplied by.
func number(s string) string {
	digits, negative := strings.CutPrefix(s, "-")
	exponent := "0"
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		digits, exponent = digits[:i], digits[i+1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	exponent = strings.TrimLeft(strings.TrimLeft(exponent, "+-"), "0")
	if len(exponent) > maxExponent {
		return "text:" + s
	}
	e, _ := strconv.ParseInt(sign+"0"+exponent, 10, 64)
	short := strings.TrimRight(digits, "0")
	e += int64(len(digits) - len(short) - len(fraction))
	if negative {
		short = "-" + short
	}
	return short + "e" + strconv.FormatInt(e, 10)
}
