package classify

import (
	"fmt"

	"spillway/sdk"
)

// compilePatterns compiles the user's expressions, each fault with the path and
// the text of the one it is about.
func compilePatterns(sources []string) ([]*pattern, []sdk.Fault) {
	var patterns []*pattern
	var faults []sdk.Fault
	fault := func(i int, s, message, allowed string) {
		faults = append(faults, sdk.Fault{
			Path: fmt.Sprintf("patterns[%d]", i), Value: s, Message: message, Allowed: allowed,
		})
	}
	for i, s := range sources {
		switch {
		case i >= maxPatterns:
			fault(i, clip(s), "too many patterns", fmt.Sprintf("at most %d", maxPatterns))
			return patterns, faults
		case s == "":
			fault(i, s, "an empty pattern matches everything", "")
			continue
		case len(s) > maxPattern:
			fault(i, clip(s), "pattern too long", fmt.Sprintf("at most %d bytes", maxPattern))
			continue
		}
		e := newExpression(s)
		if _, err := e.compiled(); err != nil {
			fault(i, s, err.Error(), "a JavaScript regular expression")
			continue
		}
		patterns = append(patterns, &pattern{text: s, match: e})
	}
	return patterns, faults
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
