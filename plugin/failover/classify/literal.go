package classify

import (
	"regexp/syntax"
	"strings"
)

// maxLiterals bounds one set of literals; a larger one would not be cheaper
// than the expression.
const maxLiterals = 24

// literals returns sets of lower-case strings: every match of expr contains at
// least one string of each set. A message has few of them, so most expressions
// need not run on it. The built-in expressions keep to the syntax that Go's
// parser knows.
func literals(expr string) [][]string {
	re, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil
	}
	return required(re)
}

func required(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		return [][]string{{strings.ToLower(string(re.Rune))}}
	case syntax.OpCharClass:
		if set := classLiterals(re.Rune); set != nil {
			return [][]string{set}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var all [][]string
		for _, sub := range re.Sub {
			all = append(all, required(sub)...)
		}
		return all
	case syntax.OpAlternate:
		var set []string
		for _, sub := range re.Sub {
			best := longest(required(sub))
			if best == nil || len(set)+len(best) > maxLiterals {
				return nil
			}
			set = append(set, best...)
		}
		return [][]string{set}
	}
	return nil
}

// classLiterals lists the members of a small class.
func classLiterals(ranges []rune) []string {
	var set []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(set) == maxLiterals {
				return nil
			}
			set = append(set, strings.ToLower(string(r)))
		}
	}
	return set
}

// longest returns the set whose shortest string is longest: it is met by chance
// the least.
func longest(sets [][]string) []string {
	var best []string
	for _, s := range sets {
		if best == nil || shortest(s) > shortest(best) {
			best = s
		}
	}
	return best
}

func shortest(set []string) int {
	n := len(set[0])
	for _, s := range set[1:] {
		n = min(n, len(s))
	}
	return n
}
