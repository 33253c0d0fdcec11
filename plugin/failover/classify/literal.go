package classify

import (
	"regexp/syntax"
	"strings"
)

// maxLiterals bounds the list kept for one expression; a longer one would not
// be cheaper than the expression.
const maxLiterals = 24

// literals returns lower-case strings of which every match of expr contains at
// least one, nil if there are no such strings. A message holds few of them, so
// most expressions need not run on it. The built-in expressions keep to the
// syntax that Go's parser knows.
func literals(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return nil
	}
	return required(re)
}

func required(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCharClass:
		return classLiterals(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if l := required(sub); better(l, best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := required(sub)
			if l == nil || len(all)+len(l) > maxLiterals {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// classLiterals lists the members of a small class. Latin letters come in both
// cases there; one is enough.
func classLiterals(ranges []rune) []string {
	var all []string
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(all) == maxLiterals {
				return nil
			}
			all = append(all, strings.ToLower(string(r)))
		}
	}
	return all
}

// better prefers the list whose shortest string is longer: it is met by chance
// less often.
func better(a, b []string) bool { return a != nil && (b == nil || shortest(a) > shortest(b)) }

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list[1:] {
		n = min(n, len(s))
	}
	return n
}
