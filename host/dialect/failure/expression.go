package failure

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled at its first use: there is
// none until a vendor fails, and every program that links this package starts
// sooner.
type expression func() *regexp.Regexp

func express(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Prepare compiles what the first failure needs. It takes 2 ms, for which that
// failure's caller need not wait.
func Prepare() {
	for _, e := range []expression{
		relativeText, relativePart, relativeHan, hanParts, momentText, epochText, wallText, resetWord,
		titleTag, spelledStatus, spelledNumber, spelledBracket, spelledPrefix,
	} {
		e()
	}
}
