package profile

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// The scalars of YAML's JSON schema in js-yaml's reading: it adds the spellings
// of the core schema (Null, TRUE, 0x1F, +5), binary numbers and leading zeros,
// and has no underscores.
var (
	basedInt = regexp.MustCompile(`^[-+]?0(b[01]+|o[0-7]+|x[0-9a-fA-F]+)$`)
	decimal  = regexp.MustCompile(`^[-+]?[0-9]+$`)
	floating = regexp.MustCompile(`^([-+]?[0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
)

// resolvePlain fills v with what an untagged plain scalar means.
func (v *Value) resolvePlain(s string) {
	switch {
	case s == "" || v.asNull(s) || v.asBool(s) || v.asInt(s) || v.asFloat(s):
	default:
		v.kind, v.text = kindText, s
	}
}

func (v *Value) asNull(s string) bool {
	switch s {
	case "~", "null", "Null", "NULL":
		v.kind = kindNull
		return true
	}
	return false
}

func (v *Value) asBool(s string) bool {
	switch s {
	case "true", "True", "TRUE":
		v.kind, v.truth = kindBool, true
	case "false", "False", "FALSE":
		v.kind = kindBool
	default:
		return false
	}
	return true
}

// asInt reads an integer as the nearest double. One beyond the doubles is text.
func (v *Value) asInt(s string) bool {
	var n float64
	switch {
	case decimal.MatchString(s):
		// The error says only that n is an infinity.
		n, _ = strconv.ParseFloat(s, 64)
	case basedInt.MatchString(s):
		i, ok := new(big.Int).SetString(s, 0)
		if !ok {
			return false
		}
		n, _ = new(big.Float).SetInt(i).Float64()
	default:
		return false
	}
	return v.setNumber(n)
}

func (v *Value) asFloat(s string) bool {
	switch s {
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		v.kind, v.number = kindNumber, math.Inf(1)
		return true
	case "-.inf", "-.Inf", "-.INF":
		v.kind, v.number = kindNumber, math.Inf(-1)
		return true
	case ".nan", ".NaN", ".NAN":
		v.kind, v.number = kindNumber, math.NaN()
		return true
	}
	if !floating.MatchString(s) {
		return false
	}
	n, _ := strconv.ParseFloat(s, 64) // as in asInt
	return v.setNumber(n)
}

// setNumber makes v the number n if n is finite.
func (v *Value) setNumber(n float64) bool {
	if !isFinite(n) {
		return false
	}
	v.kind, v.number = kindNumber, n
	return true
}
