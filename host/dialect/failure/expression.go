package failure

import (
	"regexp"
	"sync"
)

// expression is a regular expression that is compiled at its first use: there is
// none until a vendor fails, and every program that links this package starts
// sooner.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
